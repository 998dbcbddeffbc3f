"""Linear algebra on one thread; afterwards the previous number of threads is restored."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hardmargin import projection
from hardmargin.blas import OneBlasThread, one_blas_thread


def blas_threads() -> set[int]:
    """Threads of NumPy's library; SciPy may have its own."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    own = [library for library in libraries if "numpy" in library["filepath"]]
    return {library["num_threads"] for library in own or libraries}


@pytest.fixture(autouse=True)
def three_threads():
    """A number that no machine has by chance, and more than one even on a machine with one core."""
    with threadpool_limits(limits=3, user_api="blas"):
        if blas_threads() != {3}:
            pytest.skip("this BLAS cannot be told how many threads to use")
        yield
        assert blas_threads() == {3}


def test_there_is_one_thread_inside() -> None:
    with one_blas_thread:
        assert blas_threads() == {1}
        with one_blas_thread:
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {3}


def test_an_error_inside_changes_nothing() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread:
        raise ZeroDivisionError
    assert blas_threads() == {3}


def test_contexts_may_overlap_in_any_order() -> None:
    """As do the contexts of two threads of the caller."""
    shared = OneBlasThread()
    shared.__enter__()
    shared.__enter__()
    shared.__exit__(None, None, None)
    assert blas_threads() == {1}
    shared.__enter__()
    shared.__exit__(None, None, None)
    shared.__exit__(None, None, None)
    assert blas_threads() == {3}


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
def test_a_projection_takes_one_thread(shape, monkeypatch) -> None:
    """With more, it takes hundreds of times as long if other processes need the cores."""
    seen = []
    for name in ("_directions", "_corrected", "_largest_row", "_largest_stretch"):
        work = getattr(projection, name)

        def noted(*arguments, name=name, work=work):
            seen.append((name, blas_threads()))
            return work(*arguments)

        monkeypatch.setattr(projection, name, noted)
    X = np.random.default_rng(0).standard_normal(shape)
    X[:, 1] = X[:, 0]
    assert projection.projection(X, np.zeros(shape[1]), 10.0) is not None
    assert [name for name, _ in seen] == ["_directions", "_corrected", "_largest_row", "_largest_stretch"]
    assert all(threads == {1} for _, threads in seen)
