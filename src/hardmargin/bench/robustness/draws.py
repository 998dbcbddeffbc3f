"""Training data with a known share of bad samples, and clean test data.

Only training data are corrupted. The samples of a repetition stay the same as the share grows, and samples that are
bad at one share are bad at every larger one, so that a curve over the shares compares like with like.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hardmargin import data
from hardmargin.data import Dataset

#: The kinds of generated settings: outliers of Type A, outliers of Type B, wrong labels.
KINDS = ("A", "B", "flips")

#: The kind of a setting that is read from files.
UCI = "uci"

#: The best accuracy on clean generated data: unit Gaussians whose centres are 2 apart overlap this much.
BEST_POSSIBLE = 0.5 * (1 + math.erf(1 / math.sqrt(2)))


class Draw(NamedTuple):
    """The training and test data of one repetition; ``bad`` are the corrupted rows of the training data."""

    train: Dataset
    test: Dataset
    bad: NDArray[np.intp]


class Setting(Protocol):
    """Where the data of a study come from, and how they are corrupted."""

    @property
    def name(self) -> str:
        """The name in records, tables and figures."""

    @property
    def best_possible(self) -> float | None:
        """The accuracy that no classifier exceeds on average, if it is known."""

    def repetitions(self, asked: int) -> int:
        """The number of repetitions, at most the requested number."""

    def n_train(self) -> int:
        """Number of training samples; if repetitions differ, that of the first."""

    def draw(self, share: float, repetition: int, seed: int, n_test: int) -> Draw:
        """The data of one repetition with this share of bad samples."""


@dataclass(frozen=True)
class Generated:
    """Two unit Gaussians, in which a share of the samples is replaced by outliers or gets the wrong label.

    Parameters
    ----------
    kind : "A", "B" or "flips"
        Outliers of Type A or Type B, as :func:`hardmargin.data.generate` draws them, or wrong labels.
    n, d : int
        Number of training samples, including bad ones, and of features.

    Examples
    --------
    >>> setting = Generated("B", n=50, d=2)
    >>> draw = setting.draw(share=0.1, repetition=0, seed=0, n_test=1000)
    >>> setting.name, draw.train.n, draw.test.n, draw.bad.tolist()
    ('B-n50-d2', 50, 1000, [45, 46, 47, 48, 49])
    >>> bool(np.all(draw.train.X[draw.bad] > 5))
    True
    """

    kind: str
    n: int
    d: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the setting is {self.kind!r}; expected one of {', '.join(KINDS)}.")
        if self.n < 2 or self.d < 1:
            raise ValueError(f"n is {self.n} and d is {self.d}; expected n >= 2 and d >= 1.")

    @property
    def name(self) -> str:
        return f"{self.kind}-n{self.n}-d{self.d}"

    @property
    def best_possible(self) -> float | None:
        return BEST_POSSIBLE

    def repetitions(self, asked: int) -> int:
        return asked

    def n_train(self) -> int:
        return self.n

    def draw(self, share: float, repetition: int, seed: int, n_test: int) -> Draw:
        train_seed, test_seed, flip_seed = seeds(seed, repetition, 3)
        test = _ordinary(data.generate("A", _drawn_for(n_test), self.d, test_seed), n_test)
        # Of ten times the samples, nine tenths are ordinary and n are outliers, which is enough for every share.
        pool = data.generate("A" if self.kind == "flips" else self.kind, 10 * self.n, self.d, train_seed)
        clean = _ordinary(pool, self.n)
        if self.kind == "flips":
            return flipped(clean, test, share, flip_seed)
        bad = np.arange(self.n - count_of(share, self.n), self.n)
        chosen = 9 * self.n + _outliers(self.kind, len(bad), self.n)
        X, y = clean.X.copy(), clean.y.copy()
        X[bad], y[bad] = pool.X[chosen], pool.y[chosen]
        return Draw(Dataset(X, y), test, bad)


@dataclass(frozen=True)
class Folds:
    """The folds of a UCI data set with their ``.test`` files; a share of the training labels is flipped.

    Parameters
    ----------
    source : str
        The data set, e.g. "heart".
    pairs : tuple of (Path, Path)
        Training and test file of every fold; each repetition is a fold.
    """

    source: str
    pairs: tuple[tuple[Path, Path], ...]

    @property
    def name(self) -> str:
        return f"{UCI}-{self.source}"

    @property
    def best_possible(self) -> float | None:
        return None

    def repetitions(self, asked: int) -> int:
        return min(asked, len(self.pairs))

    def n_train(self) -> int:
        return data.load(self.pairs[0][0], format="brooks").n

    def draw(self, share: float, repetition: int, seed: int, n_test: int) -> Draw:
        train, test = (data.load(file, format="brooks") for file in self.pairs[repetition])
        return flipped(train, test, share, seeds(seed, repetition, 3)[2])


def flipped(clean: Dataset, test: Dataset, share: float, seed: int) -> Draw:
    """Give a share of the training samples the other label, whatever their class."""
    # Sorting the raw stream gives the same order with every version of NumPy.
    order = np.argsort(np.random.PCG64(seed).random_raw(clean.n), kind="stable")
    bad = np.sort(order[: count_of(share, clean.n)])
    y = clean.y.copy()
    y[bad] = -y[bad]
    return Draw(Dataset(clean.X, y), test, bad)


def seeds(seed: int, repetition: int, count: int) -> list[int]:
    """Independent seeds for the random parts of one repetition."""
    return [int(value) for value in np.random.SeedSequence((seed, repetition)).generate_state(count, np.uint64)]


def count_of(share: float, n: int) -> int:
    """How many of n training samples a share is."""
    return round(share * n)


def _drawn_for(ordinary: int) -> int:
    """How many samples to draw to get this many ordinary ones: at least nine tenths are ordinary."""
    return max(2, math.ceil(ordinary / 0.9) + 1)


def _ordinary(drawn: Dataset, count: int) -> Dataset:
    return Dataset(drawn.X[:count], drawn.y[:count])


def _outliers(kind: str, count: int, available: int) -> NDArray[np.intp]:
    """The first ``count`` outliers; for Type A, whose first half is +1, alternately from the two halves."""
    rows = np.arange(count)
    return np.where(rows % 2 == 0, rows // 2, (available + 1) // 2 + rows // 2) if kind == "A" else rows
