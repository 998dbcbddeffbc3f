"""Kernels: samples whose inner products are the entries of a Gram matrix, and what is proven about them.

The problem with the kernel k has one sample phi(x_i) per row, known only by the inner products K_ij = k(x_i, x_j).
A pivoted Cholesky factorisation gives rows f_i with F F^T = K up to rounding, and the linear problem over these
rows is solved in place of the other. Both have the same optimum if the Gram matrices are equal. They are not quite,
so the bound is corrected. Let e be the largest difference of their entries.

**Claim.** Let K and K' be positive semidefinite with |K - K'| <= e in every entry, and let the optimum of the
problem with K be at most U, with 2 U e < 1. Then the optimum of the problem with K' is at most the former plus

    h(U) = U ((1 + 2 U e) / (1 - 2 U e)^2 - 1),   about 6 U^2 e.

Proof. Let w be optimal with K, let it keep the samples S at the cost c of the others, and let N = 1/2 ||w||^2, so
N <= U. w is the shortest vector that keeps S, so there are multipliers a_i >= 0 with w = sum a_i y_i phi(x_i),
sum a_i y_i = 0, and margin 1 wherever a_i > 0; hence sum a_i = ||w||^2 = 2 N. The same combination of the samples
of K' has margins that differ by at most e sum a_i = 2 N e, and a squared norm that differs by at most
e (sum a_i)^2 = 4 N^2 e. Divided by 1 - 2 N e, it keeps S, at the cost c + (N + 2 N^2 e) / (1 - 2 N e)^2, which is
N + c + h(N). h increases. (If S has samples of one class only, w = 0 and there is nothing to show.) The same
samples are kept, so the claim also holds if some must be kept, or if only so many may be given up.

The claim is used twice, with the roles exchanged: first to bound the optimum of the kernel problem from above, from
the objective U' of the factored one, by U = U' + h(U'); then, with this U, to lower the bound that was proven for
the factored problem by h(U). The result is a bound for every positive semidefinite matrix within e of F F^T: for
F F^T itself, and for the matrix that was factorised, unless rounding has made one of its eigenvalues negative. How
exactly its entries were computed from the samples is not examined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray, dense_bytes
from hardmargin.binary_problems import BinaryProblem
from hardmargin.blas import one_blas_thread
from hardmargin.memory import require_memory
from hardmargin.penalty import SCALE, SCALE_FACTOR
from hardmargin.units import GIGABYTE
from hardmargin.validation import LARGEST_VALUE, is_real, is_whole, validated_penalty

#: The kernels with a name. "precomputed" means that the samples are a Gram matrix already.
KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")

# The Gram matrix, and what is factorised: a copy and the factor, each twice as large for pairs of classes.
_COPIES = 5
# Pivots that are cut off, and the largest residual, both as shares of the largest entry: first for double
# precision, where -1 stands for rounding, then for single precision. A matrix with a larger residual is refused.
_PRECISIONS = ((-1.0, 1e-9), (1e-6, 1e-5))
# A difference between K and its transpose above this share of the largest entry is no rounding.
_LARGEST_ASYMMETRY = 1e-8
# Seconds to factorise a Gram matrix of full rank, by the cube of its size, on one core of 2020.
_SECONDS = 1e-10
# A time limit may be exceeded by this much.
_TOLERANCE = 1.0
_INSTEAD = (
    "approximate the kernel: make_pipeline(Nystroem(n_components=100), HardMarginSVC()) with "
    "sklearn.kernel_approximation.Nystroem"
)
# Values of a Gram matrix that are computed at once.
_BLOCK = 4_000_000

_SCALE, _AUTO = "scale", "auto"
_WITH_GAMMA = ("rbf", "poly", "sigmoid")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its settings, as numbers.

    Attributes
    ----------
    name : str or callable
        One of :data:`KERNELS`, or a function of two arrays that returns the matrix of all pairs.
    gamma, coef0 : float
    degree : int
        As in ``sklearn.svm.SVC``.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float
    degree: int
    coef0: float

    def between(self, X: Any, Y: Any) -> FloatArray:
        """The kernel of every row of X with every row of Y."""
        if callable(self.name):
            values = np.asarray(self.name(X, Y), dtype=np.float64)
            if values.shape != (X.shape[0], Y.shape[0]):
                raise ValueError(
                    f"kernel returned an array of shape {values.shape} for {X.shape[0]} and {Y.shape[0]} samples; "
                    f"expected ({X.shape[0]}, {Y.shape[0]})."
                )
            return values
        from sklearn.metrics.pairwise import pairwise_kernels

        settings = {
            "rbf": {"gamma": self.gamma},
            "poly": {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0},
            "sigmoid": {"gamma": self.gamma, "coef0": self.coef0},
        }
        return np.asarray(pairwise_kernels(X, Y, metric=self.name, **settings[self.name]), dtype=np.float64)

    def combination(self, X: Any, Y: Any, multiples: FloatArray) -> FloatArray:
        """Inner products of the rows of X with combinations of the rows of Y.

        Parameters
        ----------
        X, Y : ndarray or sparse matrix of shape (n, m) and (k, m)
        multiples : ndarray of shape (p, k)

        Returns
        -------
        ndarray of shape (n, p)
        """
        n, k = int(X.shape[0]), int(Y.shape[0])
        values = np.zeros((n, len(multiples)))
        step = max(1, _BLOCK // max(1, k))
        for begin in range(0, n if k > 0 else 0, step):
            rows = slice(begin, begin + step)
            values[rows] = self.between(X[rows], Y) @ multiples.T
        return values


def parsed_kernel(
    name: Any, gamma: Any, degree: Any, coef0: Any, X: Any, weights: FloatArray | None = None
) -> Kernel:
    """The kernel that the caller's parameters describe, for training samples X.

    Parameters
    ----------
    name, gamma, degree, coef0
        As in ``sklearn.svm.SVC``.
    X : ndarray or sparse matrix of shape (n, m)
    weights : ndarray of shape (n,), optional
        How many samples each row counts for in ``gamma="scale"``.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message says what was expected.
    """
    if not callable(name) and name not in KERNELS:
        raise ValueError(f"kernel is {name!r}; expected one of {', '.join(KERNELS)}, or a function of two arrays.")
    if not is_whole(degree) or degree < 1:
        raise ValueError(f"degree is {degree!r}; expected a whole number >= 1.")
    if not is_real(coef0) or not math.isfinite(coef0):
        raise ValueError(f"coef0 is {coef0!r}; expected a finite number.")
    scale = _parsed_gamma(gamma, X, weights) if name in _WITH_GAMMA else 1.0
    return Kernel(name, scale, int(degree), float(coef0))


def _parsed_gamma(gamma: Any, X: Any, weights: FloatArray | None) -> float:
    if isinstance(gamma, str) and gamma == _AUTO:
        return 1.0 / int(X.shape[1])
    if isinstance(gamma, str) and gamma == _SCALE:
        variance = _variance(X, np.ones(X.shape[0]) if weights is None or not weights.any() else weights)
        return 1.0 / (int(X.shape[1]) * variance) if variance > 0 else 1.0
    if not is_real(gamma) or not 0 < gamma < math.inf:
        raise ValueError(f"gamma is {gamma!r}; expected a positive number, 'scale' or 'auto'.")
    return float(gamma)


def _variance(X: Any, weights: FloatArray) -> float:
    """The variance of all values of X."""
    shares = weights / (weights.sum() * int(X.shape[1]))
    mean = float(shares @ np.asarray(X.sum(axis=1)).ravel())
    if isinstance(X, np.ndarray):
        return float(shares @ np.square(X - mean).sum(axis=1))
    return max(0.0, float(shares @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) - mean * mean)


@dataclass(frozen=True)
class GramFactor:
    """A Gram matrix and rows whose inner products are its entries, up to a known error.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The Gram matrix K.
    rows : ndarray of shape (n, rank)
        The rows F; rank is at least 1.
    error : float
        No entry of K differs from F F^T by more.
    pivots : ndarray of int of shape (rank,)
        The rows ``rows[pivots]`` are a triangular matrix.

    Examples
    --------
    >>> factor = gram_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> bool(np.allclose(factor.rows @ factor.rows.T, factor.matrix)), factor.error < 1e-14
    (True, True)
    """

    matrix: FloatArray
    rows: FloatArray
    error: float
    pivots: Any

    def coordinates(self, values: FloatArray) -> FloatArray:
        """The v with ``rows[pivots] @ v = values``."""
        return self._solved(values, transposed=False)

    def combination(self, v: FloatArray) -> FloatArray:
        """Multiples of the samples, zero except on the pivots, whose sum is v."""
        multiples = np.zeros(len(self.rows))
        multiples[self.pivots] = self._solved(v, transposed=True)[: len(self.pivots)]
        return multiples

    def _solved(self, values: FloatArray, *, transposed: bool) -> FloatArray:
        from scipy.linalg import solve_triangular

        if len(self.pivots) == 0:
            return np.zeros(1)
        triangle = self.rows[self.pivots]
        solved = solve_triangular(triangle, values, lower=True, trans=int(transposed), check_finite=False)
        return np.asarray(solved)

    def proven(self, upper: float, lower: float) -> float:
        """The bound for the kernel problem, from the bounds of the factored one; see the top of this module.

        Examples
        --------
        >>> GramFactor(np.eye(2), np.eye(2), 1e-9, np.arange(2)).proven(10.0, 10.0) > 10 - 1e-6
        True
        """
        # Margins are at least 1 only up to a tolerance, so the objective may be too small by a share of 2e-9.
        upper *= 1 + 1e-8
        largest = upper + _difference(upper, self.error)
        return max(0.0, lower - _difference(largest, self.error))


def _difference(upper: float, error: float) -> float:
    """h(upper), rounded up; infinite if the claim says nothing."""
    moved = 2 * upper * error
    if not moved < 1:
        return math.inf
    # (1 + t) / (1 - t)^2 - 1 without the cancellation.
    return upper * moved * (3 - moved) / (1 - moved) ** 2 * (1 + 1e-12)


@dataclass(frozen=True)
class FactoredGram:
    """The Gram matrix of training samples, with a factor for every binary problem.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
    factors : list of GramFactor
        Those of the rows and columns of each problem.
    """

    matrix: FloatArray
    factors: list[GramFactor]

    @property
    def error(self) -> float:
        """The largest error of the factors."""
        return max(factor.error for factor in self.factors)

    def of(self, index: int) -> FloatArray:
        """The rows that take the place of the samples of a problem."""
        return self.factors[index].rows

    def penalty(self, C: Any, weights: FloatArray | None) -> float:
        """C as a number; "scale" as for samples with these inner products.

        The sum of the variances of features is the mean of ||x||^2 minus the square of the mean of x.
        """
        if not (isinstance(C, str) and C == SCALE):
            return validated_penalty(C)
        shares = np.ones(len(self.matrix)) if weights is None else weights
        shares = shares / shares.sum()
        variance = float(shares @ self.matrix.diagonal() - shares @ self.matrix @ shares)
        return SCALE_FACTOR / variance if variance > 0 else 1.0


def factored_gram(
    kernel: Kernel, X: Any, problems: Sequence[BinaryProblem], time_limit: float = math.inf
) -> FactoredGram:
    """Compute and factorise the Gram matrix of training samples.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or sparse matrix of shape (n, m)
    problems : sequence of BinaryProblem
    time_limit : float
        Seconds of the fit. What takes longer to factorise is refused, because that cannot be interrupted.

    Raises
    ------
    ValueError
        If the matrix is not symmetric, finite and positive semidefinite, or takes too long to factorise.
    MemoryError
        If this machine has no memory for it.
    """
    n = int(X.shape[0])
    shared = all(problem.whole for problem in problems)
    seconds = _SECONDS * (n**3 if shared else sum(len(problem.rows) ** 3 for problem in problems))
    if seconds > time_limit + _TOLERANCE:
        raise ValueError(
            f"to factorise the Gram matrix of {n} samples takes about {seconds:.2g} s, and time_limit is "
            f"{time_limit:g}; use a longer one, or {_INSTEAD}."
        )
    matrix = gram_matrix(kernel, X)
    if shared:
        return FactoredGram(matrix, [gram_factor(matrix)] * len(problems))
    return FactoredGram(matrix, [gram_factor(matrix[np.ix_(part.rows, part.rows)]) for part in problems])


def gram_matrix(kernel: Kernel, X: Any) -> FloatArray:
    """The Gram matrix of training samples, symmetric.

    Raises
    ------
    ValueError
        If it is not square, symmetric and finite.
    MemoryError
        If this machine has no memory for it.
    """
    n = int(X.shape[0])
    size = dense_bytes(n, n)
    require_memory(
        _COPIES * size,
        f"a kernel needs the Gram matrix of {n} samples, which has {size / GIGABYTE:.3g} GB; factorising it",
        f"use fewer samples, or {_INSTEAD}",
    )
    if kernel.name == "precomputed":
        if X.shape[1] != n:
            raise ValueError(
                f'X has shape {tuple(X.shape)}; with kernel="precomputed" expected a square matrix, '
                "the kernel of every pair of training samples."
            )
        matrix = np.asarray(X)
    else:
        matrix = kernel.between(X, X)
    largest = float(np.abs(matrix).max())
    if not largest <= LARGEST_VALUE:
        raise ValueError(f"the Gram matrix has a value of magnitude {largest:g}; expected finite values.")
    if np.abs(matrix - matrix.T).max() > _LARGEST_ASYMMETRY * largest:
        raise ValueError("the Gram matrix is not symmetric; expected k(x, z) = k(z, x) for all samples.")
    return np.asarray((matrix + matrix.T) / 2)


def gram_factor(matrix: FloatArray) -> GramFactor:
    """Factorise a Gram matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric.

    Raises
    ------
    ValueError
        If it is not positive semidefinite.
    """
    largest = float(np.abs(matrix).max())
    with one_blas_thread:
        for cut, allowed in _PRECISIONS:
            factor = _pivoted(matrix, cut * largest)
            if factor.error <= allowed * largest:
                return factor
        smallest = float(np.linalg.eigvalsh(matrix)[0])
    raise ValueError(
        f"the Gram matrix is not positive semidefinite: its smallest eigenvalue is {smallest:.3g}, its largest "
        f'entry {largest:.3g}. Without that, ||w|| has no meaning; use kernel="rbf" or "poly" with coef0 >= 0, '
        'or make the matrix positive semidefinite and pass it with kernel="precomputed".'
    )


def _pivoted(matrix: FloatArray, cut: float) -> GramFactor:
    """The factor of a matrix up to pivots of this size; -1 cuts off what is rounding."""
    from scipy.linalg.lapack import dpstrf

    factor, order, rank, _ = dpstrf(matrix, lower=1, tol=cut)
    order = order - 1
    rows = np.zeros((len(matrix), max(1, rank)))
    rows[order, :rank] = np.tril(factor)[:, :rank]
    return GramFactor(matrix, rows, _largest_residual(matrix, rows), order[:rank])


def _largest_residual(matrix: FloatArray, rows: FloatArray) -> float:
    """No entry of K - F F^T is larger; the rounding of this computation is included. K is symmetric."""
    n, rank = rows.shape
    step = max(1, _BLOCK // n)
    residual = 0.0
    for begin in range(0, n, step):
        block, end = slice(begin, begin + step), min(n, begin + step)
        # The matrix is symmetric: entries above the diagonal need not be compared.
        difference = np.abs(matrix[block, :end] - rows[block] @ rows[:end].T)
        residual = max(residual, float(difference.max()))
    longest = float(np.square(rows).sum(axis=1).max())
    # |f_i| . |f_j| is at most the largest ||f_i||^2; twice the unit roundoff per operation leaves room.
    return float(residual + (rank + 3) * np.finfo(np.float64).eps * longest)
