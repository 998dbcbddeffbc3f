"""One record per evaluation: a model on one draw, its accuracy and how it was obtained; stored as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from hardmargin.bench.records.files import JsonLine, latest_records, read_latest

#: Setting, share, repetition and model, which identify an evaluation of a study.
Key: TypeAlias = tuple[str, float, int, str]


@dataclass(frozen=True)
class RobustnessRecord(JsonLine):
    """One model, trained on corrupted data and tested on clean data.

    Attributes
    ----------
    setting : str
        Where the data come from, e.g. "A-n100-d2" or "uci-heart".
    share : float
        The share of bad training samples, a fraction.
    repetition : int
        Number of the repetition; for a UCI data set, number of the fold, from 0.
    model : str
        "hard-margin", "hinge" or "logistic".
    n, m, n_bad, n_test : int
        Training samples, features, bad training samples, test samples.
    protocol : dict
        Grid of C, folds, time limits, number of test samples and seed.
    best_possible : float or None
        The accuracy that no classifier exceeds on average, if it is known.
    C : float or None
        The chosen value. This and the following are None if the evaluation failed.
    cv_accuracy : list of float or None
        Mean accuracy over the folds, for every C of the grid.
    accuracy : float or None
        On the test data.
    fits : int or None
        Fits of the cross-validation.
    warnings : int or None
        Fits, the final one included, that gave a ``ConvergenceWarning``.
    fits_proven, fits_gap : int or None, float or None
        Hard-margin only: fits of the cross-validation proven optimal, and their mean gap.
    proven, gap : bool or None, float or None
        Hard-margin only: whether the final fit is proven optimal, and its gap.
    coef, intercept : list of float or None, float or None
        The final hyperplane.
    seconds : float or None
        Time of the whole evaluation.
    machine, versions : dict
    started : str
        UTC, in ISO 8601.
    error : str or None
        Why the evaluation failed, in one line.
    """

    what: ClassVar[str] = "a record of a robustness study"

    setting: str
    share: float
    repetition: int
    model: str
    n: int
    m: int
    n_bad: int
    n_test: int
    protocol: dict[str, Any] = field(repr=False)
    best_possible: float | None
    C: float | None
    cv_accuracy: list[float] | None = field(repr=False)
    accuracy: float | None
    fits: int | None
    warnings: int | None
    fits_proven: int | None
    fits_gap: float | None
    proven: bool | None
    gap: float | None
    coef: list[float] | None = field(repr=False)
    intercept: float | None = field(repr=False)
    seconds: float | None
    machine: dict[str, Any] = field(repr=False)
    versions: dict[str, Any] = field(repr=False)
    started: str
    error: str | None

    @property
    def key(self) -> Key:
        """What was evaluated."""
        return self.setting, self.share, self.repetition, self.model


def read_records(path: str | os.PathLike[str]) -> list[RobustnessRecord]:
    """Read a study's file.

    An incomplete last line, as left by a process that was killed while writing, is ignored with a warning. Of
    several records of the same evaluation the last counts.

    Raises
    ------
    ValueError
        If another line is not a record, or if the records do not belong to one study.
    OSError
        If the file cannot be read.
    """
    records = read_latest(path, RobustnessRecord, "run the study again to repeat its evaluation")
    if records:
        check_protocol(records, records[0].protocol, path)
    return records


def whole_records(path: str | os.PathLike[str]) -> tuple[list[RobustnessRecord], bool]:
    """The records of the complete lines, and whether an incomplete one follows."""
    return latest_records(path, RobustnessRecord)


def check_protocol(
    records: Iterable[RobustnessRecord], protocol: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Refuse records made with another protocol, because means over both would be meaningless.

    Raises
    ------
    ValueError
        Names the first difference.
    """
    for record in records:
        for name, value in protocol.items():
            found = record.protocol.get(name)
            if found != value:
                raise ValueError(
                    f"{path}: contains records made with {name} = {found}, but now it is {value}; "
                    "expected one study per file. Use the same settings or another file."
                )
