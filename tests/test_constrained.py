"""Trusted samples: exact, in every method, and refused where they contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from brute_force import KINDS, compared, random_case, refusal_fault, with_constraints
from hardmargin import Result, solve, verify
from hardmargin.data import generate
from hardmargin.methods import names

SEED = 20
NATIVE = ("auto", "packing", "directions", "blocks")
X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0], [2.5]])
Y = np.array([0, 0, 1, 1, 0, 0])


def mask(*rows: int, n: int = len(Y)) -> np.ndarray:
    return np.isin(np.arange(n), rows)


@pytest.mark.parametrize("method", NATIVE)
@pytest.mark.parametrize("index", range(len(KINDS)), ids=KINDS)
def test_the_optimum_is_that_of_brute_force(method: str, index: int) -> None:
    case = with_constraints(random_case(SEED, index), SEED, index)
    fault = refusal_fault(case, method)
    if fault is None:
        comparison = compared(case, method)
        assert comparison.broken == []
        assert comparison.reached
    else:
        assert fault == ""


def test_every_method_keeps_what_is_trusted() -> None:
    without = solve(X, Y, 10)
    assert without.violations == [4]
    for method in names():
        result = solve(X, Y, 10, trusted=mask(4), method=method)
        assert result.violations == [2, 3], method
        assert result.objective == pytest.approx(20.0), method
        assert result.trusted == [4]
        assert verify(result, X, Y)


def test_a_trusted_sample_of_weight_zero_is_kept() -> None:
    weights = [1, 1, 1, 1, 0, 1]
    assert solve(X, Y, 10, sample_weight=weights).violations == [4]
    result = solve(X, Y, 10, sample_weight=weights, trusted=mask(4))
    assert result.violations == [2, 3]
    assert verify(result, X, Y)


def test_contradictions_are_named() -> None:
    with pytest.raises(ValueError, match="the rows 1, 2, 4 contradict each other"):
        solve(X, Y, 10, trusted=mask(0, 1, 2, 4))
    # Opposite labels on the same point.
    with pytest.raises(ValueError, match="the rows 1, 2 contradict each other"):
        solve([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], trusted=mask(1, 2, n=4))


def test_samples_that_are_all_trusted_give_the_max_margin_hyperplane() -> None:
    samples, labels = X[[0, 1, 2, 3]], Y[[0, 1, 2, 3]]
    for method in NATIVE:
        result = solve(samples, labels, 1e-3, trusted=np.ones(4, dtype=bool), method=method)
        assert result.coef == pytest.approx([1.0])
        assert (result.violations, result.optimal) == ([], True)


def test_a_mask_without_samples_changes_nothing() -> None:
    assert solve(X, Y, 10, trusted=mask()).trusted is None


@pytest.mark.parametrize("trusted", [[4], np.zeros(len(Y)), "yes"])
def test_what_is_no_mask_is_refused(trusted: object) -> None:
    with pytest.raises(TypeError, match="expected a mask"):
        solve(X, Y, trusted=trusted)


def test_a_mask_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"trusted has shape \(3,\); expected \(6,\)"):
        solve(X, Y, trusted=[True, False, True])


def test_without_time_the_answer_is_a_feasible_start_or_none() -> None:
    with pytest.raises(ValueError, match="before a hyperplane was found that keeps the trusted samples"):
        solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9)
    with pytest.raises(ValueError, match="raise time_limit"):
        solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9, start=([1.0], -2.0))
    result = solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9, start=([-1.0], 5.0))
    assert (result.coef, result.violations) == ([-1.0], [0, 1, 5])


def test_sparse_samples_may_be_trusted() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < 0.2)
    labels = (dense[:, 0] + dense[:, 1] + 0.3 * rng.normal(size=40) > 0).astype(int)
    trusted = mask(0, 1, 2, 3, n=40)
    wide = sparse.csr_array((40, 2_000_000))
    samples = sparse.hstack([sparse.csr_array(dense), wide[:, :1_999_970]], format="csr")
    result = solve(samples, labels, 0.1, trusted=trusted, method="heuristic", options={"effort": 0.01})
    assert not set(result.violations) & {0, 1, 2, 3}
    expected = solve(dense, labels, 0.1, trusted=trusted, time_limit=None)
    assert result.lower_bound <= expected.objective * (1 + 1e-9)
    assert result.objective >= expected.lower_bound * (1 - 1e-9)


def test_many_samples_are_searched_within_trust() -> None:
    data = generate("B", 3000, 4, 3)
    first = solve(data.X, data.y, 1.0, method="heuristic", options={"effort": 0.01})
    trusted = np.isin(np.arange(3000), first.violations[:3])
    result = solve(data.X, data.y, 1.0, method="heuristic", options={"effort": 0.01}, trusted=trusted)
    assert not set(result.violations) & set(first.violations[:3])


def test_a_checkpoint_with_other_trust_is_refused(tmp_path) -> None:
    path = tmp_path / "state"
    data = generate("B", 60, 3, 2)
    settings = {"method": "packing", "node_limit": 1}
    solve(data.X, data.y, 10.0, trusted=mask(0, n=60), checkpoint=path, **settings)
    again = solve(data.X, data.y, 10.0, trusted=mask(0, n=60), resume=path, method="packing")
    assert again.optimal
    with pytest.raises(ValueError, match="other"):
        solve(data.X, data.y, 10.0, trusted=mask(1, n=60), resume=path, **settings)


def test_models_that_trust_rows_they_do_not_have_are_refused() -> None:
    values = solve(X, Y, 10, trusted=mask(4)).to_dict()
    assert Result.from_dict(values).trusted == [4]
    with pytest.raises(ValueError, match="'trusted' names row 6 but 'n' is 6"):
        Result.from_dict({**values, "trusted": [6]})
