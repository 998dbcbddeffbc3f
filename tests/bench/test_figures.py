"""Figures: their content and their files."""

from __future__ import annotations

import sys

import pytest

from bench_runs import record, small_campaign
from hardmargin.bench.analysis.runs import runs_of
from hardmargin.bench.report.figures.campaign import all_figures
from hardmargin.bench.report.figures.gaps import gaps_by_configuration, gaps_by_n
from hardmargin.bench.report.figures.style import inline_svg, looks
from hardmargin.bench.report.figures.times import integrals, profiles, times_by_size
from hardmargin.cli import main

NAMES = [
    "figure3",
    "figure4",
    "proofs_over_time",
    "performance_profile",
    "gaps_over_time",
    "primal_dual_integrals",
    "time_by_size",
]


@pytest.fixture(scope="module")
def runs():
    return runs_of(small_campaign())


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)


def test_every_figure_is_drawn_and_none_is_left_to_pyplot(runs):
    from matplotlib import pyplot

    assert [illustration.name for illustration in all_figures(runs)] == NAMES
    assert pyplot.get_fignums() == []


def test_one_system_alone_leaves_out_what_compares():
    names = [illustration.name for illustration in all_figures(runs_of([record(set="UCI", trace=[])]))]
    assert names == ["proofs_over_time", "time_by_size"]


def test_boxes_are_grouped_by_n_and_set(runs):
    figure = gaps_by_n(runs)
    assert [ax.get_title() for ax in figure.axes] == ["Type A", "Type B"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["60", "100"]
    # One box for each of the two systems, at n = 60 only.
    assert len(figure.axes[0].patches) == 2


def test_published_boxes_stand_beside_on_the_same_pairs(runs):
    theirs = [runs[0]._replace(system="Brooks 2011"), runs[0]._replace(system="Brooks 2011", C=7.0, gap=80.0)]
    boxes = gaps_by_n(runs, theirs).axes[0].patches
    assert boxes[0].get_label() == "Brooks 2011"
    assert len(boxes) == 3


def test_configurations_have_their_proofs_above(runs):
    ax = gaps_by_configuration(runs).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["(5%, 5%)"]
    assert [text.get_text() for text in ax.texts] == ["0/2"]
    assert gaps_by_configuration(runs_of([record()])) is None


def test_published_configurations_are_those_of_the_pairs_that_were_run(runs):
    (ours,) = [one for one in runs if one.shares and one.pair == ("n60d2ATj0", 1.0)]
    theirs = [ours._replace(system="cb_5_5", configuration="cb_5_5", status="optimal", C=C) for C in (1.0, 10.0)]
    ax = gaps_by_configuration([ours], theirs).axes[0]
    assert [text.get_text() for text in ax.texts] == ["1/1", "0/1"]


def test_proven_runs_are_drawn_at_zero_and_single_ones_in_colour():
    runs = runs_of([record(gap=1e-9), record(method="packing", gap=1e-9)])
    ax = gaps_by_n(runs).axes[0]
    assert ax.get_ylim() == (0, 1)
    marks = [line for line in ax.lines if line.get_marker() in ("o", "s")]
    assert [line.get_ydata().tolist() for line in marks] == [[0.0], [0.0]]
    assert [line.get_color() for line in marks] == [look.colour for look in list(looks(["a", "b"]).values())[:2]]


def test_generated_instances_have_figures_of_their_own(runs):
    generated = runs_of([record(instance="gen60d2A0")])
    found = {one.name: one for one in all_figures([*runs, *generated])}
    assert {"figure3", "generated_gaps_by_n", "generated_time_by_size"} <= set(found)
    assert "1 run on generated instances" in found["figure3"].caption
    assert len(found["figure3"].figure.axes[0].patches) == 2
    assert "ublished" not in found["generated_gaps_by_n"].caption


def test_times_within_a_decade_have_figures_at_their_axis():
    figure = times_by_size(runs_of([record(runtime=0.2), record(C=10.0, runtime=0.8)]))
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels() if label.get_visible()]
    assert {"0.1", "1"} <= set(labels)


def test_integrals_start_at_the_left(runs):
    ax = integrals(runs).axes[0]
    assert ax.get_xlim() == (0, 100)
    assert all(line.get_xdata()[0] == 0 for line in ax.lines)


def test_profile_names_its_problems(runs):
    assert "problems proven within it (% of 6)" in profiles(runs).axes[0].get_ylabel()


def test_sizes_of_the_regular_sets_are_named_first(runs):
    labels = [label.get_text() for label in times_by_size(runs).axes[0].get_xticklabels()]
    assert labels == ["60", "100", "152"]


def test_systems_have_looks_of_their_own():
    found = looks(["Brooks 2011", "auto", "benders"])
    assert len({look.colour for look in found.values()}) == len(found)


def test_svg_for_a_page_has_names_of_its_own_and_the_colour_of_the_page(runs):
    svg = inline_svg(gaps_by_n(runs), "one")
    assert svg.startswith("<svg")
    assert svg.endswith("</svg>")
    assert 'id="one-' in svg
    assert "currentColor" in svg
    assert "http" not in svg
    assert svg == inline_svg(gaps_by_n(runs), "one")


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_command_writes_files(tmp_path, capsys, format):
    path = tmp_path / "campaign.jsonl"
    path.write_text(record(set="UCI", trace=[]).to_json() + "\n")
    out = tmp_path / "figures"
    assert main(["bench", "figures", str(path), "--out", str(out), "--format", format]) == 0
    written = capsys.readouterr().out.split()
    assert str(out / f"time_by_size.{format}") in written
    assert sorted(map(str, out.iterdir())) == sorted(written)


def test_without_matplotlib_the_extra_is_named(tmp_path, capsys, monkeypatch):
    path = tmp_path / "campaign.jsonl"
    path.write_text(record().to_json() + "\n")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["bench", "figures", str(path), "--out", str(tmp_path)]) == 2
    assert "install the extra 'bench'" in capsys.readouterr().err
