"""Catalogue and plan: which runs a campaign consists of."""

from __future__ import annotations

from collections import Counter

import pytest

from bench_records import record
from hardmargin.bench.instances.catalogue import (
    PENALTIES,
    data_files,
    generated_instances,
    published_instances,
    selected,
)
from hardmargin.bench.instances.source import GeneratedData, PublishedFiles
from hardmargin.bench.running.configurations import PAPER, variants
from hardmargin.bench.running.plan import RunLimits, interleaved, jobs_for, unproven
from hardmargin.cli import main


def test_the_catalogue_is_that_of_the_literature():
    instances = published_instances()
    assert Counter(instance.set for instance in instances) == {"A": 60, "B": 60, "UCI": 55}
    assert len({instance.group for instance in instances}) == 35
    assert len(data_files()) == 175 + 55


def test_the_catalogue_describes_the_files(data_directory):
    source = PublishedFiles(data_directory)
    source.check(published_instances())
    for instance in published_instances()[::10]:
        dataset = source.load(instance.name)
        assert (dataset.n, dataset.m) == (instance.n, instance.m)


def test_generated_instances_have_the_sizes_that_they_say():
    for instance in generated_instances()[::7]:
        dataset = GeneratedData().load(instance.name)
        assert (dataset.n, dataset.m) == (instance.n, instance.m)


def test_a_changed_file_is_refused(tmp_path):
    (tmp_path / "brooks").mkdir()
    (tmp_path / "brooks" / "n60d2ATj0").write_text("2\n1\n1 0.5\n-1 0.7\n")
    with pytest.raises(ValueError, match="is not the published file"):
        PublishedFiles(tmp_path).load("n60d2ATj0")


@pytest.mark.parametrize("words", [["--sets", "C"], ["--instances", "iris"], ["--sets", "A", "--instances", "5f"]])
def test_what_selects_nothing_is_refused(words, capsys):
    assert main(["bench", "list", *words]) == 2
    assert "hardmargin: error: " in capsys.readouterr().err


def test_the_list_says_what_is_missing(tmp_path, capsys):
    assert main(["bench", "list", "--data", str(tmp_path), "--sets", "adult"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 5
    assert lines[1].split() == ["adult5f1i1.train", "UCI", "adult", "400", "77", "missing"]


def test_the_list_says_what_is_damaged(tmp_path, capsys):
    (tmp_path / "brooks").mkdir()
    (tmp_path / "brooks" / "adult5f2i1.train").write_text("2\n1\n1 0.5\n-1 0.7\n")
    assert main(["bench", "list", "--data", str(tmp_path), "--sets", "adult"]) == 0
    states = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert states == ["missing", "damaged", "missing", "missing", "missing"]


def test_the_list_says_that_no_folder_is_named(capsys, monkeypatch):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)
    assert main(["bench", "list", "--sets", "adult"]) == 0
    printed = capsys.readouterr()
    assert "missing" not in printed.out
    assert printed.err.startswith("hardmargin: no data folder is named")
    assert main(["bench", "list", "--generated", "--instances", "gen60d2A0"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words",
    [["run", "--out", "c.jsonl"], ["list"], ["fetch"], ["robustness", "--out", "r.jsonl", "--settings", "uci"]],
)
def test_the_folder_of_the_files_is_not_the_data_folder(words, tmp_path, capsys, monkeypatch):
    files = tmp_path / "data" / "brooks"
    files.mkdir(parents=True)
    (files / "n60d2ATj0").write_text("2\n1\n1 0.5\n-1 0.7\n")
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words, "--data", str(files)]) == 2
    assert f"did you mean --data {tmp_path / 'data'}?" in capsys.readouterr().err
    assert [path.name for path in files.iterdir()] == ["n60d2ATj0"]
    monkeypatch.chdir(files)
    assert main(["bench", *words, "--data", "."]) == 2
    assert f"did you mean --data {tmp_path / 'data'}?" in capsys.readouterr().err


def test_every_pair_comes_once():
    pairs = interleaved(published_instances(), PENALTIES)
    assert len(set(pairs)) == len(pairs) == 875


@pytest.mark.parametrize("count", [60, 100, 175, 500])
def test_the_beginning_of_a_campaign_is_like_the_whole(count):
    beginning = interleaved(published_instances(), PENALTIES)[:count]
    sets = Counter(pair.instance.set for pair in beginning)
    penalties = Counter(pair.C for pair in beginning)
    groups = Counter(pair.instance.group for pair in beginning)
    assert max(sets.values()) - min(sets.values()) <= count // 10
    assert max(penalties.values()) - min(penalties.values()) <= 3
    assert len(groups) == 35
    assert max(groups.values()) - min(groups.values()) <= 1


def test_uneven_groups_are_spread_over_the_campaign():
    instances = selected(published_instances(), ["n60d2ATj", "adult5f1"])
    pairs = interleaved(instances, [1.0, 10.0])
    places = [k for k, pair in enumerate(pairs) if pair.instance.group == "adult"]
    assert len(set(pairs)) == 12
    assert places[0] < 6 <= places[1]


def test_the_papers_configurations():
    settings = variants(["benders"], PAPER, {"backend": "scip"})
    assert len(settings) == 8
    assert ("benders", "cb_20_0", {"T_S": 0.2, "T_B": 0.0, "backend": "scip"}) in settings


@pytest.mark.parametrize(
    ("methods", "configurations", "options", "message"),
    [
        (["magic"], ["default"], {}, "method is 'magic'"),
        (["auto"], ["cb_5"], {}, "configuration is 'cb_5'"),
        (["auto"], ["cb_5_5"], {}, "method 'auto' takes none"),
        (["auto"], ["default", "cb_5_5"], {}, "configuration 'cb_5_5' suits none"),
        (["auto"], ["default"], {"colour": 1}, "no method here has an option 'colour'; expected heuristic_effort"),
        (["auto", "benders"], ["default"], {"colour": 1}, "slice for auto; backend, .* for benders"),
        (["benders"], ["cb_60_60"], {}, "T_S"),
    ],
)
def test_settings_that_do_not_fit_are_refused(methods, configurations, options, message):
    with pytest.raises(ValueError, match=message):
        variants(methods, configurations, options)


def test_the_runs_of_a_pair_come_together():
    pairs = interleaved(generated_instances(), [1.0])[:2]
    jobs = jobs_for(
        pairs,
        methods=["auto", "packing"],
        configurations=["default"],
        options={},
        seeds=[0, 1, 0],
        limits=RunLimits(),
    )
    assert [job.instance for job in jobs] == [pairs[0].instance] * 4 + [pairs[1].instance] * 4
    assert len({job.key for job in jobs}) == 8


@pytest.mark.parametrize(
    "words",
    [
        ["--C", "0"],
        ["--time-limit", "nan"],
        ["--gap", "2"],
        ["--threads", "0"],
        ["--memory", "0"],
        ["--seeds", "-1"],
        ["--every", "0"],
        ["--sample", "3", "--every", "2"],
        ["--jobs", "0"],
        ["--jobs", "9999"],
        ["--data", "."],
    ],
)
def test_a_campaign_that_cannot_be_is_refused_before_it_starts(words, tmp_path, capsys):
    out = tmp_path / "c.jsonl"
    assert main(["bench", "run", "--generated", "--out", str(out), *words]) == 2
    assert "hardmargin: error: " in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--instances", "foo"], "no instance has 'foo'"),
        (["--sets", "C"], "no set 'C'"),
        (["--methods", "magic"], "'magic'"),
    ],
)
def test_what_is_asked_for_is_looked_at_before_the_data(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)
    assert main(["bench", "run", "--out", str(tmp_path / "c.jsonl"), *words]) == 2
    assert message in capsys.readouterr().err


def test_missing_data_are_explained(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)
    assert main(["bench", "run", "--out", str(tmp_path / "c.jsonl")]) == 2
    error = capsys.readouterr().err
    for hint in ("--data", "HARDMARGIN_DATA", "bench fetch", "vidalt/Hard-Margin-SVM", "--generated"):
        assert hint in error


def test_pairs_are_unproven_unless_a_run_proves_them_to_the_gap():
    pairs = interleaved(selected(published_instances(), ["n60d2ATj0"], []), [1, 10, 100, 1000])
    found = [
        record(C=1),
        record(C=10, status="time_limit", gap=0.5),
        record(C=10, status="optimal", method="packing"),
        record(C=100, gap_asked=0.1, gap=0.1),
        record(C=1000, instance="n60d2ATj1"),
        record(C=1000, status="failed", gap=None),
        # The smallest gap of the literature's methods is 1e-5, whatever is requested.
        record(C=1000, status="optimal", method="benders", gap=9e-6),
    ]
    assert {pair.C for pair in unproven(pairs, found, 1e-6)} == {100, 1000}
    assert {pair.C for pair in unproven(pairs, found, 1e-5)} == {100}
    assert {pair.C for pair in unproven(pairs, found, 0.1)} == set()


def plan_of(capsys, *words):
    """The names and penalties that a campaign would run."""
    assert main(["bench", "run", "--dry-run", "--generated", *words]) == 0
    return [line.split()[:2] for line in capsys.readouterr().out.splitlines()[:-1]]


def test_a_campaign_of_what_another_has_left_open(tmp_path, capsys):
    out, before = str(tmp_path / "new.jsonl"), tmp_path / "before.jsonl"
    asked = ["--out", out, "--instances", "gen60d2", "--C", "1", "10"]
    everything = plan_of(capsys, *asked)
    proven = [record(instance=name, C=float(C.removeprefix("C="))) for name, C in everything[:3]]
    before.write_text("".join(item.to_json() + "\n" for item in proven))
    chosen = [*asked, "--unproven-in", str(before)]
    assert plan_of(capsys, *chosen) == everything[3:]
    assert plan_of(capsys, *chosen, "--sample", "2") == everything[3:5]


def test_nothing_left_open_and_an_own_file_are_told(tmp_path, capsys):
    before = tmp_path / "before.jsonl"
    before.write_text(record(instance="gen60d2A0", C=1.0).to_json() + "\n")
    asked = ["bench", "run", "--generated", "--instances", "gen60d2A0", "--C", "1", "--unproven-in", str(before)]
    assert main([*asked, "--out", str(tmp_path / "new.jsonl")]) == 2
    assert "all selected pairs are proven" in capsys.readouterr().err
    assert main([*asked, "--out", str(before)]) == 2
    assert str(before) in capsys.readouterr().err
