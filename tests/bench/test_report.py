"""The report: one self-contained page."""

from __future__ import annotations

import shlex
import sys
from dataclasses import fields, replace
from html.parser import HTMLParser

import pytest

from bench_runs import record, small_campaign
from hardmargin.bench import robustness
from hardmargin.bench.instances.catalogue import PENALTIES, published_instances
from hardmargin.bench.report.commands import run_commands
from hardmargin.bench.report.figures.robustness import robustness_figure
from hardmargin.bench.report.page import report
from hardmargin.bench.report.settings import environment_table, settings_table
from hardmargin.bench.running.plan import interleaved
from hardmargin.cli import main
from hardmargin.cli.commands import _parser
from hardmargin.cli.key_values import one_flag_each

_EMPTY = {"meta", "br", "input", "img", "link", "hr"}


class Page(HTMLParser):
    """Collects identifiers, links and the rows of the table of runs; fails for tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.outside: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in _EMPTY:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value)
            if key in ("src", "href", "xlink:href") and not value.startswith("#"):
                self.outside.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def html() -> str:
    return report({"some/where/small one.jsonl": small_campaign()}, title="A <small> campaign")


@pytest.fixture(scope="module")
def page(html) -> Page:
    parsed = Page()
    parsed.feed(html)
    assert not parsed.open
    return parsed


def test_page_is_whole_and_alone(html, page):
    assert page.outside == []
    assert "http://" not in html
    assert "https://" not in html
    assert len(page.ids) == len(set(page.ids))
    assert {"tables", "figures", "runs", "settings", "instances", "search", "count"} <= set(page.ids)
    assert '<meta name="viewport"' in html
    assert "prefers-color-scheme: dark" in html


def test_page_tells_what_was_run(html):
    assert "A &lt;small&gt; campaign" in html
    assert "<b>6/6</b>" in html
    assert "Runs without an answer: 1." in html
    assert html.count("<tr><td>heart5f1i1.train</td>") == 4
    assert "Example 3000" in html
    assert "hardmargin bench report &#x27;some/where/small one.jsonl&#x27;" in html


def evaluation(model: str, share: float) -> robustness.RobustnessRecord:
    facts = dict.fromkeys(field.name for field in fields(robustness.RobustnessRecord))
    facts |= {"setting": "A-n40-d2", "share": share, "repetition": 0, "model": model, "n": 40, "m": 2, "n_bad": 4}
    facts |= {
        "n_test": 100,
        "protocol": {},
        "C": 1.0,
        "accuracy": 0.875,
        "fits": 4,
        "warnings": 0,
        "fits_proven": 4,
    }
    return robustness.RobustnessRecord(**facts | {"fits_gap": 0.0, "proven": True, "gap": 0.0})


def test_a_robustness_study_has_its_section():
    study = [evaluation(model, share) for model in ("hard-margin", "hinge") for share in (0.0, 0.1)]
    html = report({"c.jsonl": [record(set="UCI", trace=[])]}, study=study)
    assert '<section id="robustness">' in html
    assert "A-n40-d2" in html
    assert "87.50" in html


def test_panels_of_a_robustness_study_share_their_range():
    low, high = evaluation("hinge", 0.1), replace(evaluation("hinge", 0.1), setting="B-n40-d2", accuracy=0.5)
    first, second = robustness_figure([low, high]).axes
    assert first.get_ylim() == second.get_ylim()


def test_no_records_are_refused():
    with pytest.raises(ValueError, match="no runs to report"):
        report({"c.jsonl": []})


def test_settings_and_environment():
    records = [*small_campaign(), record(C=10.0, versions={"hardmargin": "0.2.0"})]
    rows = settings_table(records).rows
    assert [row[0] for row in rows] == ["auto", "benders (5%, 5%)"]
    assert rows[1][3] == "T_S=0.05, T_B=0.05"
    facts = {row[1]: row[2] for row in environment_table(records).rows}
    assert facts["hardmargin"] == "0.1.0, 0.2.0"
    assert facts["memory"] == "8.0 GB"


def parsed(line: str):
    words = shlex.split(line, comments=True)
    return _parser().parse_args(one_flag_each(words[1:], flags=("--option", "--class-weight")))


def test_commands_make_the_same_runs_again():
    facts = {"method": "benders", "configuration": "cb_5_5", "threads": 2, "memory_limit": 4 * 10**9}
    (line,) = run_commands([record(**facts, options={"T_S": 0.05, "T_B": 0.05, "effort": 2})], "c.jsonl")
    arguments = parsed(line)
    assert (arguments.methods, arguments.configurations) == (["benders"], ["cb_5_5"])
    assert arguments.option == [("effort", 2)]
    assert (arguments.time_limit, arguments.gap, arguments.threads, arguments.memory) == (60.0, 1e-6, 2, 4.0)
    assert (arguments.instances, arguments.C, arguments.seeds) == (["n60d2ATj0"], [1.0], [0])


def test_commands_know_samples_and_the_whole_benchmark():
    pairs = interleaved(published_instances(), PENALTIES)
    records = [record(instance=pair.instance.name, C=pair.C) for pair in pairs]
    (line,) = run_commands(records, "c.jsonl")
    assert "--instances" not in line
    assert "--sample" not in line
    (line,) = run_commands(records[:60], "c.jsonl")
    assert parsed(line).sample == 60
    (line,) = run_commands([record(instance="gen60d2A0")], "c.jsonl")
    assert (parsed(line).generated, parsed(line).instances) == (True, ["gen60d2A0"])
    (line,) = run_commands(records[1:60], "c.jsonl")
    assert line.endswith("# on 59 pairs of instance and C")
    assert parsed(line).sample is None


def test_systems_of_one_campaign_have_one_command():
    pairs = [{"instance": name, "C": C} for name in ("n60d2ATj0", "n60d2BTj0") for C in (1.0, 100.0)]
    cb = {"configuration": "cb_5_5", "options": {"T_S": 0.05, "T_B": 0.05}}
    systems = [{"method": "auto"}, {"method": "benders", **cb}, {"method": "benders"}]
    (line,) = run_commands([record(**pair, **system) for pair in pairs for system in systems], "a/c.jsonl")
    arguments = parsed(line)
    assert arguments.out == "a/c.jsonl"
    assert (arguments.methods, arguments.configurations) == (["auto", "benders"], ["default", "cb_5_5"])
    assert (arguments.instances, arguments.C) == (["n60d2ATj0", "n60d2BTj0"], [1.0, 100.0])
    # Together they would also request benders in its default configuration.
    assert len(run_commands([record(**pair, **system) for pair in pairs for system in systems[:2]], "c")) == 2


def test_what_was_not_run_of_a_campaign_is_told():
    records = [record(), record(instance="n60d2BTj0", C=100.0)]
    (line,) = run_commands([*records], "c.jsonl")
    assert line.endswith("--instances n60d2ATj0 n60d2BTj0 --C 1 100  # 2 of its 4 pairs were run")
    assert len(run_commands([*records, record(instance="gen60d2A0")], "c.jsonl")) == 2


def test_whole_sets_are_named_as_such():
    chosen = [one for one in published_instances() if one.set == "A" or one.group == "heart"]
    records = [record(instance=one.name, C=C) for one in chosen for C in PENALTIES]
    (line,) = run_commands(records, "c.jsonl")
    assert (parsed(line).sets, parsed(line).instances, parsed(line).C) == (["A", "heart"], [], None)


def test_a_missing_file_is_told_before_the_slow_imports(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "hardmargin.bench.records.record", None)
    monkeypatch.setitem(sys.modules, "hardmargin.bench.report.page", None)
    for command in ("report", "tables", "figures"):
        out = [] if command == "tables" else ["--out", str(tmp_path / "out")]
        assert main(["bench", command, str(tmp_path / "nofile.jsonl"), *out]) == 2
        assert "nofile.jsonl: No such file" in capsys.readouterr().err


def test_command_writes_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)
    path, out = tmp_path / "campaign.jsonl", tmp_path / "report.html"
    path.write_text(record(set="UCI", trace=[]).to_json() + "\n")
    assert main(["bench", "report", str(path), "--out", str(out), "--title", "Mine"]) == 0
    assert "<title>Mine</title>" in out.read_text()
    (tmp_path / "empty.jsonl").write_text("")
    words = ["bench", "report", str(path), "--out", str(out), "--robustness", str(tmp_path / "empty.jsonl")]
    assert main(words) == 2
    assert "has no evaluations" in capsys.readouterr().err
    assert main(["bench", "report", str(path), "--out", str(path)]) == 2
    assert "choose another name" in capsys.readouterr().err


def test_the_commands_of_runs_whose_solver_is_not_here_are_told_all_the_same(monkeypatch):
    monkeypatch.setattr("hardmargin.mip.find_spec", lambda name: None)
    runs = [
        record(method=method, configuration="cplex", options={"backend": "cplex"})
        for method in ("indicator", "benders")
    ]
    assert all("cplex" in command for command in run_commands(runs, "c.jsonl"))
