"""Runs over time: gaps, integrals, profiles, and the means and tests computed from them."""

from __future__ import annotations

import pytest

from bench_runs import failed_record, open_record, record, run
from hardmargin.bench.analysis.aggregate import shifted_geometric_mean, summary
from hardmargin.bench.analysis.profiles import (
    gap_at,
    mean_gaps,
    performance_profile,
    primal_dual_integral,
    proven_over_time,
)
from hardmargin.bench.analysis.runs import common, runs_of, systems_of
from hardmargin.bench.analysis.statistics import compare_gaps, holm


def test_gaps_over_time_follow_the_trace():
    solved = run()
    assert [gap_at(solved, time) for time in (0.1, 0.5, 1.0, 1.9, 2.0, 600.0)] == [100, 75, 50, 50, 0, 0]


def test_a_run_without_a_proof_tells_nothing_beyond_its_limit():
    (stopped,) = runs_of([open_record()])
    assert [gap_at(stopped, time) for time in (10.0, 60.0, 61.0)] == [25, 25, None]
    assert mean_gaps([run(), stopped], [60.0, 600.0]) == [12.5, None]


def test_bounds_that_are_not_known_are_a_gap_of_100():
    assert gap_at(run(trace=[[0.1, None, 0.0], [0.2, 10.0, None]]), 0.3) == 100


def test_primal_dual_integral():
    # 0.5 s at 100 %, 0.5 s at 75 %, 1 s at 50 %, then nothing.
    assert primal_dual_integral(run()) == pytest.approx(0.5 + 0.375 + 0.5)
    (failed,) = runs_of([failed_record()])
    assert primal_dual_integral(failed) == 60.0


def test_runs_without_a_proof_count_with_their_limit_and_those_without_an_answer_with_all_of_the_gap():
    found = summary(runs_of([record(), open_record(C=10.0), failed_record(C=100.0)]))
    assert (found.proven, found.runs) == (1, 3)
    assert found.gap == pytest.approx((0 + 25 + 100) / 3)
    assert found.seconds == pytest.approx((2 + 60 + 60) / 3)
    assert found.shifted == pytest.approx((3 * 61 * 61) ** (1 / 3) - 1)
    assert shifted_geometric_mean([5.0, 5.0]) == pytest.approx(5.0)


def test_performance_profile_counts_ratios_to_the_fastest():
    runs = runs_of(
        [
            record(runtime=1.0),
            record(runtime=4.0, method="packing"),
            open_record(C=10.0),
            record(C=10.0, runtime=3.0, method="packing"),
            record(C=100.0),  # run by only one of them
        ]
    )
    profile = performance_profile(runs)
    assert [values.tolist() for values in profile["auto"]] == [[1.0], [0.5]]
    assert [values.tolist() for values in profile["packing"]] == [[1.0, 4.0], [0.5, 1.0]]
    assert {one.C for one in common(runs)} == {1.0, 10.0}
    times, fractions = proven_over_time([one for one in runs if one.system == "auto"])
    assert (times.tolist(), fractions.tolist()) == ([1.0, 2.0], [1 / 3, 2 / 3])


def test_the_last_of_several_records_of_a_run_counts():
    assert [one.seconds for one in runs_of([record(runtime=5.0), record(runtime=4.0)])] == [4.0]


def test_systems_are_told_apart_by_what_differs():
    records = [record(), record(time_limit=600.0), record(method="benders", configuration="cb_20_0+cplex")]
    assert systems_of(runs_of(records)) == ["auto, 60 s", "auto, 600 s", "benders (20%, 0%) cplex"]


def test_wilcoxon_leaves_equal_gaps_out():
    penalties = [10.0**k for k in range(8)]
    better = runs_of([record(C=C) for C in penalties])
    worse = runs_of([open_record(0.1 + 0.01 * k, C=C) for k, C in enumerate(penalties[:-1])] + [record(C=1e7)])
    found = compare_gaps(better, worse)
    assert (found.pairs, found.smaller, found.larger) == (8, 7, 0)
    # All seven signs are equal: two of 2^7 outcomes.
    assert found.p == pytest.approx(2 / 2**7)
    assert found.verdict == "smaller gaps"
    assert compare_gaps(worse, better).verdict == "larger gaps"
    same = compare_gaps(better, better)
    assert (same.p, same.verdict) == (None, "equal gaps")
    few = compare_gaps(better[:5], worse[:5])
    assert (few.p, few.verdict) == (pytest.approx(2 / 2**5), "not significant")
    assert compare_gaps(better, runs_of([record(instance="n60d2ATj1")])) is None


def test_holm_is_no_smaller_than_one_test_and_keeps_the_order():
    values = [0.001, 0.2, None, 0.04, 0.03]
    corrected = holm(values)
    assert corrected == [pytest.approx(0.004), pytest.approx(0.2), None, pytest.approx(0.09), pytest.approx(0.09)]
    assert holm([0.7, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
