"""Trusted samples and bounds on weights: exact in every method, and refused if they contradict each other."""

from __future__ import annotations

import pickle
import time
from typing import NoReturn

import numpy as np
import pytest
from scipy import sparse

from brute_force import KINDS, compared, random_case, refusal_fault, with_constraints
from hardmargin import Result, Status, constrained, solve, verify
from hardmargin.constrained import ContradictoryTrustError
from hardmargin.data import generate
from hardmargin.limits import Limits
from hardmargin.methods import names
from hardmargin.search.feasibility import UndecidedError

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
    with pytest.raises(ValueError, match="before a hyperplane was found that satisfies"):
        solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9)
    with pytest.raises(ValueError, match="raise time_limit"):
        solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9, start=([1.0], -2.0))
    result = solve(X, Y, 10, trusted=mask(2, 4), time_limit=1e-9, start=([-1.0], 5.0))
    assert (result.coef, result.violations) == ([-1.0], [0, 1, 5])


def test_a_feasible_start_is_the_answer_if_time_runs_out_while_looking_for_one(monkeypatch) -> None:
    def too_slow(_: object, limits: Limits) -> NoReturn:
        time.sleep(limits.remaining())
        raise UndecidedError

    monkeypatch.setattr(constrained, "feasible_hyperplane", too_slow)
    result = solve(X, Y, 10, trusted=mask(2, 4), time_limit=0.1, start=([-1.0], 5.0))
    assert (result.status, result.coef, result.lower_bound) == (Status.TIME_LIMIT, [-1.0], 0.0)
    with pytest.raises(ValueError, match="raise time_limit"):
        solve(X, Y, 10, trusted=mask(2, 4), time_limit=0.1)


def test_sparse_samples_may_be_trusted() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < 0.2)
    labels = (dense[:, 0] + dense[:, 1] + 0.3 * rng.normal(size=40) > 0).astype(int)
    trusted = mask(0, 1, 2, 3, n=40)
    wide = sparse.csr_array((40, 300_000))
    samples = sparse.hstack([sparse.csr_array(dense), wide[:, :299_970]], format="csr")
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


OPEN = np.inf
BOUNDS = {
    "signs": ({"monotonic_cst": [0, 1, -1]}, [-OPEN, 0, -OPEN], [OPEN, OPEN, 0]),
    "a sign against the data": ({"monotonic_cst": [-1, 0, 0]}, [-OPEN, -OPEN, -OPEN], [0, OPEN, OPEN]),
    "ranges": ({"coef_bounds": (-0.5, [0.5, None, OPEN])}, [-0.5, -0.5, -0.5], [0.5, OPEN, OPEN]),
    "a fixed weight": ({"coef_bounds": ([None, 0.25, None],) * 2}, [-OPEN, 0.25, -OPEN], [OPEN, 0.25, OPEN]),
    "w = 0 excluded": ({"coef_bounds": (0.5, 2.0)}, [0.5, 0.5, 0.5], [2, 2, 2]),
}


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    samples = rng.normal(size=(20, 3))
    return samples, (samples[:, 0] + 0.5 * rng.normal(size=20) > 0).astype(int)


@pytest.mark.parametrize("kind", BOUNDS)
def test_every_method_respects_bounds(noisy, kind: str) -> None:
    bounds, lower, upper = BOUNDS[kind]
    # The solvers of integer programs take seconds.
    tried = names() if kind == "w = 0 excluded" else [*NATIVE, "heuristic"]
    results = [solve(*noisy, 1.0, method=method, **bounds) for method in tried]
    best = results[0]
    assert best.optimal
    for result in results:
        for low, weight, high in zip(lower, result.coef, upper, strict=True):
            assert low == -OPEN or low - 1e-9 * abs(low) <= weight
            assert high == OPEN or weight <= high + 1e-9 * abs(high)
        assert verify(result, *noisy)
        assert result.objective == pytest.approx(best.objective, rel=1e-5)
        assert result.lower_bound <= best.objective * (1 + 1e-9)
    assert best.objective >= solve(*noisy, 1.0).objective * (1 - 1e-9)


def test_constant_features_keep_a_weight_that_must_not_be_zero() -> None:
    samples = np.column_stack([X[:4, 0], np.full(4, 7.0), np.zeros(4)])
    bounds = {"coef_bounds": ([None, 2.0, None], [None, 3.0, -1.0])}
    for method in NATIVE:
        result = solve(samples, Y[:4], 10.0, method=method, **bounds)
        assert result.coef == pytest.approx([1.0, 2.0, -1.0])
        assert result.objective == pytest.approx(0.5 + 2.0 + 0.5)
        assert verify(result, samples, Y[:4])


def test_signs_may_be_given_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": X[:, 0], "dose": X[::-1, 0]})
    named = solve(frame, Y, 10, monotonic_cst={"dose": -1})
    assert named.monotonic_cst == [0, -1]
    assert named.objective == solve(frame.to_numpy(), Y, 10, monotonic_cst=[0, -1]).objective
    with pytest.raises(ValueError, match="names 'weight'; expected features of X: "):
        solve(frame, Y, monotonic_cst={"weight": 1})
    with pytest.raises(ValueError, match="X has no feature names"):
        solve(X, Y, monotonic_cst={"dose": 1})


def test_ranges_by_the_names_of_features() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": np.arange(len(Y), dtype=float), "dose": X[:, 0]})
    named = solve(frame, Y, 10, coef_bounds={"dose": (None, 0.25), "age": (-1, 2)})
    assert named.coef_bounds == [[-1.0, None], [2.0, 0.25]]
    assert named.coef == solve(frame.to_numpy(), Y, 10, coef_bounds=([-1, None], [2, 0.25])).coef
    with pytest.raises(ValueError, match="coef_bounds names 'weight'; expected features of X: age, dose"):
        solve(frame, Y, coef_bounds={"weight": (0, 1)})
    with pytest.raises(TypeError, match=r"coef_bounds of 'dose' are 3; expected a pair \(low, high\)"):
        solve(frame, Y, coef_bounds={"dose": 3})
    with pytest.raises(ValueError, match="coef_bounds of feature 'dose' are 1 and 0"):
        solve(frame, Y, coef_bounds={"dose": (1, 0)})
    with pytest.raises(ValueError, match="coef_bounds is a dict, but X has no feature names"):
        solve(X, Y, coef_bounds={"dose": (0, 1)})


@pytest.mark.parametrize(
    ("bounds", "error", "text"),
    [
        ({"monotonic_cst": [1, 1]}, ValueError, r"has shape \(2,\); expected \(1,\)"),
        ({"monotonic_cst": [2]}, ValueError, "other values than 1"),
        ({"monotonic_cst": ["up"]}, ValueError, "other values than 1"),
        ({"coef_bounds": 3.0}, TypeError, "expected a pair"),
        ({"coef_bounds": ("a", "b")}, TypeError, "expected a pair"),
        ({"coef_bounds": (1.0,)}, ValueError, "expected a pair"),
        ({"coef_bounds": (0.0, 1.0, 2.0)}, ValueError, "expected a pair"),
        ({"coef_bounds": (1e200, None)}, ValueError, "the bounds on the weights leave only"),
        ({"coef_bounds": (1.0, 0.0)}, ValueError, "of feature 0 are 1 and 0"),
        ({"coef_bounds": (np.nan, 0.0)}, ValueError, "NaN"),
        ({"coef_bounds": ([0.0, 1.0], None)}, ValueError, r"shape \(2,\); expected \(1,\)"),
        ({"coef_bounds": (1.0, None), "monotonic_cst": [-1]}, ValueError, "satisfies both"),
    ],
)
def test_unusable_bounds_are_refused(bounds, error, text) -> None:
    with pytest.raises(error, match=text):
        solve(X, Y, **bounds)


def test_the_summary_names_the_constraints() -> None:
    result = solve(X, Y, 10, trusted=mask(0, 4), monotonic_cst=[-1])
    assert "  constraints  2 trusted samples, 1 bounded weight\n" in result.summary()
    assert "constraints" not in solve(X, Y, 10).summary()


def test_open_bounds_change_nothing() -> None:
    result = solve(X, Y, 10, monotonic_cst=[0], coef_bounds=(None, np.inf))
    assert (result.monotonic_cst, result.coef_bounds) == (None, None)


def test_trust_that_contradicts_the_bounds_is_refused() -> None:
    assert solve(X, Y, 10, trusted=mask(2, 4)).coef[0] < 0
    with pytest.raises(ValueError, match=r"within the bounds on the weights .* the rows 2, 4 contradict"):
        solve(X, Y, 10, trusted=mask(2, 4), monotonic_cst=[1])


def test_a_checkpoint_with_other_bounds_is_refused(noisy, tmp_path) -> None:
    path = tmp_path / "state"
    settings = {"method": "packing", "node_limit": 1}
    solve(*noisy, 10.0, monotonic_cst=[1, 0, 0], checkpoint=path, **settings)
    assert solve(*noisy, 10.0, monotonic_cst=[1, 0, 0], resume=path, method="packing").optimal
    with pytest.raises(ValueError, match="other"):
        solve(*noisy, 10.0, monotonic_cst=[-1, 0, 0], resume=path, **settings)


def test_many_samples_are_searched_within_bounds() -> None:
    data = generate("B", 2500, 3, 3)
    settings = {"method": "heuristic", "options": {"effort": 0.01}}
    free = solve(data.X, data.y, 1.0, **settings)
    signs = [-int(np.sign(free.coef[0])), 0, 0]
    result = solve(data.X, data.y, 1.0, monotonic_cst=signs, **settings)
    assert result.coef[0] * signs[0] >= 0
    assert result.objective < 0.9 * min((data.y > 0).sum(), (data.y <= 0).sum())


def test_sparse_samples_may_have_bounds() -> None:
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.3)
    labels = (dense[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
    wide = sparse.csr_array((40, 300_000))
    samples = sparse.hstack([sparse.csr_array(dense), wide[:, :299_994]], format="csr")
    signs = np.zeros(300_000, dtype=int)
    signs[[0, 1, 5]] = -1, 1, 1
    expected = solve(dense, labels, 0.5, monotonic_cst=signs[:6], trusted=mask(0, 1, n=40), time_limit=None)
    settings = {"method": "blocks", "node_limit": 50, "options": {"heuristic_effort": 0.01}}
    result = solve(samples, labels, 0.5, monotonic_cst=signs, trusted=mask(0, 1, n=40), **settings)
    assert result.lower_bound <= expected.objective * (1 + 1e-9)
    assert result.objective >= expected.lower_bound * (1 - 1e-9)
    assert result.coef[0] <= 0 <= min(result.coef[1], result.coef[5])


def test_models_that_trust_rows_they_do_not_have_are_refused() -> None:
    values = solve(X, Y, 10, trusted=mask(4)).to_dict()
    assert Result.from_dict(values).trusted == [4]
    with pytest.raises(ValueError, match="'trusted' names row 6 but 'n' is 6"):
        Result.from_dict({**values, "trusted": [6]})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"monotonic_cst": [0, 2, 0]}, "'monotonic_cst': 2 is not 1, -1 or 0"),
        ({"monotonic_cst": [0]}, "'monotonic_cst' has 1 values but 'm' is 3"),
        ({"coef_bounds": [[0, 0, 0]]}, "'coef_bounds' is not two lists of 3 bounds"),
    ],
)
def test_models_with_other_bounds_than_weights_are_refused(noisy, changes, text) -> None:
    values = solve(*noisy, 1.0, coef_bounds=(-1, None), monotonic_cst=[1, 0, 0]).to_dict()
    assert Result.from_dict(values).coef_bounds == [[0.0, -1.0, -1.0], [None] * 3]
    with pytest.raises(ValueError, match=text):
        Result.from_dict({**values, **changes})


def test_a_contradiction_survives_pickling_and_has_other_row_numbers_among_more_data() -> None:
    with pytest.raises(ContradictoryTrustError) as caught:
        solve([[0.0], [0.0], [1.0]], [0, 1, 1], trusted=[True, True, False])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.rows, str(again)) == ([0, 1], str(caught.value))
    assert "the rows 5, 7 contradict each other" in str(again.among(np.array([5, 7, 8])))
