"""The results page is what its script makes of the committed records, and the README agrees with it."""

from __future__ import annotations

import json
import re
from types import ModuleType

import pytest

from hardmargin.bench.analysis.aggregate import summary
from hardmargin.bench.analysis.runs import configuration_name
from hardmargin.bench.running.configurations import PAPER
from scripts import FOLDER, loaded


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return loaded("benchmarks/results_page.py")


def test_the_committed_page_is_what_the_records_give(script) -> None:
    told = "run python benchmarks/results_page.py after a change to the records or to benchmarks/results/page.md"
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), told


def test_every_campaign_is_on_the_page(script) -> None:
    text = script.PAGE.read_text(encoding="utf-8")
    campaigns = {path.name for path in script.RECORDS.glob("*.jsonl") if "robustness" not in path.name}
    assert set(script.campaigns()) == campaigns
    for file, campaign in script.campaigns().items():
        assert f"(../benchmarks/results/{file})" in text
        assert campaign.command in text
    assert "{{" not in text


def test_the_readme_has_the_same_figures(script) -> None:
    found = summary(script.runs("auto-60s.jsonl"))
    readme = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
    shown = re.search(r"proves \*\*(\d+)\*\* optimal.*? mean gap over all problems is ([\d.]+) %", readme)
    assert shown is not None
    assert shown.groups() == (str(found.proven), f"{found.gap:.1f}")


@pytest.mark.parametrize("file", ["side-by-side-60s.jsonl", "agreement-15s.jsonl"])
def test_no_bound_of_the_literatures_methods_is_above_an_optimum(script, file) -> None:
    rows = [line.strip("| ").split(" | ") for line in script.agreement(file).splitlines()[2:]]
    assert {row[0] for row in rows} >= {"`benders`", "`indicator`"}
    assert {row[-1] for row in rows} == {"0"}
    assert max(float(row[-2]) for row in rows) <= 1e-5


def test_configurations_are_compared_on_the_same_pairs(script) -> None:
    lines = script.configurations("configurations-60s.jsonl").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines[2:11]]
    assert rows[0][0] == "Brooks 2011"
    assert [row[0] for row in rows[1:]] == [configuration_name(name) for name in PAPER]
    # Proven and all runs, on SCIP and on CPLEX.
    pairs = {row[place].split("/")[1] for row in rows for place in (1, 6)}
    assert len(pairs) == 1
    assert lines[-1].startswith(f"{pairs.pop()} of the 24 pairs")


def test_a_page_that_is_out_of_date_is_noticed(script, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(script, "PAGE", tmp_path / "results.md")
    assert script.main(["--check"]) == 1
    assert "results.md is not what the records give" in capsys.readouterr().err
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("builds", "told"),
    [
        ([], "**Measured with an earlier build** (14a75b0792ae)."),
        (["14a75b0792ae"], "Measured with the build of this release."),
    ],
)
def test_records_of_other_builds_are_marked(script, tmp_path, monkeypatch, builds, told) -> None:
    found = script.records("auto-60s-pima.jsonl")
    monkeypatch.setattr(script, "RECORDS", tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"version": "0.1.0", "builds": builds}))
    assert script.age(found) == told


def test_a_few_records_of_another_build_are_counted(script, tmp_path, monkeypatch) -> None:
    campaign = script.records(script.BENCHMARK)
    found = [*script.records("auto-60s-pima.jsonl"), *campaign]
    builds = sorted({script.build_of(record) for record in campaign})
    monkeypatch.setattr(script, "RECORDS", tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"version": "0.1.0", "builds": builds}))
    assert script.age(found) == "**25 of the runs were measured with an earlier build** (14a75b0792ae)."
