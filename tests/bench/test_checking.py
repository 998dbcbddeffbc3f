"""Every answer is checked against the data, every bound against known values."""

from __future__ import annotations

import pytest

from bench_records import record
from hardmargin import solve
from hardmargin.bench.instances.catalogue import Instance
from hardmargin.bench.records.best_known import Known
from hardmargin.bench.records.traces import thinned
from hardmargin.bench.running.checking import Knowledge, record_of, withdrawn
from hardmargin.bench.running.execution import RunOutcome
from hardmargin.bench.running.plan import Job, RunLimits
from hardmargin.data import generate

JOB = Job(Instance("gen40d2A0", 40, 2), 10.0, "auto", "default", {}, 0, RunLimits())
DATA = generate("A", 40, 2)
KEY = ("n60d2ATj0", 10.0)


@pytest.fixture(scope="module")
def answer():
    return solve(DATA.X, DATA.y, 10.0).to_dict()


def checked(result):
    return record_of(JOB, RunOutcome(None, result, None, 1.0, None, "2024-01-01T00:00:00.000+00:00"), DATA)


def test_a_true_answer_is_taken(answer):
    found, complaint = checked(answer)
    assert complaint is None
    assert found.checked
    assert (found.status, found.objective, found.coef) == ("optimal", answer["objective"], answer["coef"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": 1.0}, "objective: claimed 1.0"),
        ({"intercept": 99.0}, "objective"),
        ({"lower_bound": 1e9}, "lower bound"),
        ({"lower_bound": 0.0, "gap": 1.0}, "status"),
        ({"C": 1.0}, "the answer is for C = 1.0"),
        ({"coef": [1.0]}, "cannot be checked"),
        ({"n": 39}, "cannot be checked"),
    ],
)
def test_a_false_answer_is_not(change, message, answer):
    found, complaint = checked({**answer, **change})
    assert message in complaint
    assert not found.checked


def test_an_answer_without_a_result_is_nothing_to_check():
    outcome = RunOutcome("killed", None, "too late", 1.0, None, "2024-01-01T00:00:00.000+00:00")
    found, complaint = record_of(JOB, outcome, DATA)
    assert complaint is None
    assert (found.status, found.error, found.checked, found.gap) == ("killed", "too late", False, None)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (Known(99.9, False), "bound 100.0 above the objective 99.9"),
        (Known(100.1, True), "objective 100.0 below the optimum 100.1"),
        (Known(100.1, False), None),
        (Known(100.0 - 5e-5, True), None),
        (Known(100.0 + 5e-5, True), None),
        (Known(100.0 - 2e-4, False, rounding=1.5e-4), None),
    ],
)
def test_known_values_are_not_contradicted_but_for_rounding(known, message):
    complaint = Knowledge([{KEY: known}]).against_files(record())
    assert complaint is None if message is None else message in complaint


def test_the_record_with_the_bound_is_wrong_not_that_with_the_objective():
    knowledge = Knowledge()
    proven = record()
    knowledge.add(proven)
    better = record(seed=1, objective=99.0, lower_bound=50.0)
    (found,) = knowledge.against_records(better)
    assert found.record == proven
    assert "bound 100.0 above the objective 99.0" in found.reason
    knowledge.add(withdrawn(proven, found.reason))
    assert knowledge.against_records(better) == []


def test_equal_answers_do_not_contradict_each_other():
    knowledge = Knowledge()
    knowledge.add(record())
    assert knowledge.against_records(record(seed=1, objective=100.0 - 1e-8, lower_bound=99.0)) == []


def test_a_long_trace_is_thinned_but_keeps_its_ends():
    trace = [[k / 64, 1000.0 - k, float(k)] for k in range(900)]
    short = thinned(trace)
    assert len(short) <= 200
    assert (short[0], short[-1]) == (trace[0], trace[-1])
    assert thinned(trace[:50]) == trace[:50]
