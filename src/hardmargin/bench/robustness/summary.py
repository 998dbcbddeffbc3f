"""Means over the repetitions, with standard errors, and paired differences between the models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hardmargin.bench.robustness.protocol import HARD_MARGIN, MODELS
from hardmargin.bench.robustness.records import RobustnessRecord

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Row:
    """One model in one setting at one share of bad samples.

    Attributes
    ----------
    setting, share, model : str, float, str
        What is summarised.
    n : int
        Repetitions.
    mean : float
        Mean test accuracy, a fraction.
    standard_error : float or None
        Of the mean; None with fewer than two repetitions.
    best_possible : float or None
        The accuracy that no classifier exceeds on average, if it is known.
    fits, warnings : int
        Fits of the cross-validations and the final ones, and those of them that gave a ``ConvergenceWarning``.
    proven, gap : float or None
        Hard-margin only: the share of these fits that are proven optimal, and the mean gap of the final ones.
    """

    setting: str
    share: float
    model: str
    n: int
    mean: float
    standard_error: float | None
    best_possible: float | None
    fits: int
    warnings: int
    proven: float | None
    gap: float | None


@dataclass(frozen=True)
class Difference:
    """Test accuracy of the hard-margin loss minus that of another model on the same draws.

    Attributes
    ----------
    setting, share, other : str, float, str
        What is compared.
    n : int
        Repetitions that both models have.
    mean : float
        Mean difference, a fraction; positive where the hard-margin loss is better.
    standard_error : float or None
        Of the mean; None with fewer than two repetitions.
    better, equal, worse : int
        Repetitions in which the hard-margin loss is better, equally good or worse.
    """

    setting: str
    share: float
    other: str
    n: int
    mean: float
    standard_error: float | None
    better: int
    equal: int
    worse: int


def summarise(records: Iterable[RobustnessRecord]) -> list[Row]:
    """Mean accuracy and standard error for every setting, share and model.

    Parameters
    ----------
    records : iterable of RobustnessRecord
        Those of one study; evaluations that failed are left out.

    Returns
    -------
    list of Row
        Settings in the order of the records, shares increasing, models in the order of :data:`MODELS`.
    """
    groups = _grouped(records, lambda record: (record.setting, record.share, record.model))
    return [_row(group) for group in _in_order(groups)]


def paired_differences(records: Iterable[RobustnessRecord]) -> list[Difference]:
    """The hard-margin loss against each other model, draw by draw, for every setting and share."""
    groups = _grouped(records, lambda record: (record.setting, record.share, record.model))
    found = []
    for (setting, share, model), group in zip(_keys(groups), _in_order(groups), strict=True):
        ours = groups.get((setting, share, HARD_MARGIN), [])
        accuracy = {record.repetition: _present(record.accuracy) for record in ours}
        gains = [
            accuracy[record.repetition] - _present(record.accuracy)
            for record in group
            if record.repetition in accuracy
        ]
        if model != HARD_MARGIN and gains:
            found.append(_difference(setting, share, model, gains))
    return found


def mean_and_error(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and its standard error; None if there is only one value.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    >>> mean_and_error([1.0])
    (1.0, None)
    """
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


_Groups = dict[tuple[str, float, str], list[RobustnessRecord]]


def _grouped(
    records: Iterable[RobustnessRecord], key: Callable[[RobustnessRecord], tuple[str, float, str]]
) -> _Groups:
    groups: _Groups = {}
    for record in records:
        if record.error is None:
            groups.setdefault(key(record), []).append(record)
    return groups


def _keys(groups: _Groups) -> list[tuple[str, float, str]]:
    settings = list(dict.fromkeys(setting for setting, _, _ in groups))
    return sorted(groups, key=lambda key: (settings.index(key[0]), key[1], MODELS.index(key[2])))


def _in_order(groups: _Groups) -> list[list[RobustnessRecord]]:
    return [groups[key] for key in _keys(groups)]


def _row(group: Sequence[RobustnessRecord]) -> Row:
    first = group[0]
    mean, error = mean_and_error([_present(record.accuracy) for record in group])
    # The final fit is one more than those of the cross-validation.
    fits = sum(_present(record.fits) + 1 for record in group)
    exact = first.model == HARD_MARGIN
    proven = sum(_present(record.fits_proven) + _present(record.proven) for record in group) if exact else 0
    gaps = [_present(record.gap) for record in group] if exact else []
    return Row(
        setting=first.setting,
        share=first.share,
        model=first.model,
        n=len(group),
        mean=mean,
        standard_error=error,
        best_possible=first.best_possible,
        fits=fits,
        warnings=sum(_present(record.warnings) for record in group),
        proven=proven / fits if exact else None,
        gap=math.fsum(gaps) / len(gaps) if exact else None,
    )


def _difference(setting: str, share: float, other: str, gains: Sequence[float]) -> Difference:
    mean, error = mean_and_error(gains)
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return Difference(setting, share, other, len(gains), mean, error, better, len(gains) - better - worse, worse)


def _present(value: _Value | None) -> _Value:
    """A value that every successful evaluation has."""
    assert value is not None
    return value
