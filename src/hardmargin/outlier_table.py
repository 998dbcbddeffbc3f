"""The table that :func:`hardmargin.outliers` returns: samples, and what it would cost to keep them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from hardmargin.atomic import replace_text
from hardmargin.extras import pandas_for_tables
from hardmargin.model_json import plain_label
from hardmargin.status import Status

# Lines of the text form; the other rows are only counted.
_MOST_LINES = 40

_VERDICTS = {True: "yes", False: "no", None: "unknown"}


@dataclass(frozen=True)
class Outlier:
    """A sample, where it lies, and what it would cost to keep it.

    Attributes
    ----------
    row : int
        Row of the training data.
    label : object
        Its label.
    margin : float
        y (w.x + b) by the model; below 1 if the sample is given up, and below 0 on the wrong side.
    distance : float
        Distance from the hyperplane, negative on the wrong side; NaN if w = 0.
    price_low, price_high : float
        The price of keeping the sample: by how much the smallest objective rises if the sample must be kept. It is
        proven to lie between these two.
    exact : bool
        Whether these are the same, up to the gap of the proofs.
    always_given_up : bool or None
        Whether every hyperplane within the given share of the optimum gives the sample up; None if not known.
    """

    row: int
    label: Any
    margin: float
    distance: float
    price_low: float
    price_high: float
    exact: bool
    always_given_up: bool | None


@dataclass(frozen=True)
class Outliers:
    """Samples by the price of keeping them, the highest one first; unless it is exact, its upper end counts.

    It has a length, and its rows can be indexed and iterated over.

    Attributes
    ----------
    rows : tuple of Outlier
        One per sample.
    objective : float
        The smallest objective known; at most that of the model.
    lower_bound : float
        No hyperplane has a smaller objective.
    within : float
        The share of the optimum that ``always_given_up`` refers to.
    given_up : int
        Number of samples that the model gives up.
    n : int
        Number of samples of the training data.
    status : Status
        "optimal" if every price is exact; otherwise why the search ended.
    """

    rows: tuple[Outlier, ...]
    objective: float
    lower_bound: float
    within: float
    given_up: int
    n: int
    status: Status

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Outlier]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Outlier:
        return self.rows[index]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, with one column per attribute of its rows.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_for_tables()
        names = [item.name for item in fields(Outlier)]
        return pandas.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in the JSON form.

        Returns
        -------
        dict
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["status"] = self.status.value
        values["rows"] = [_plain_row(row) for row in self.rows]
        return values

    def to_json(self) -> str:
        """The JSON text that ``hardmargin explain --json`` writes.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON form; an existing file is replaced atomically.

        Parameters
        ----------
        path : path
        """
        replace_text(path, self.to_json())

    def summary(self) -> str:
        """The table as text, for people."""
        proven = f"proven to be at least {self.lower_bound:.6g}"
        head = f"{self.given_up} of {self.n} samples given up, objective {self.objective:.6g} ({proven})"
        exact = sum(row.exact for row in self.rows)
        ended = f"prices: {exact} of {len(self)} exact" + ("" if exact == len(self) else f" ({self.status})")
        verdict = f"always given up (within {100 * self.within:g} %)"
        titles = ("row", "label", "margin", "distance", "price of keeping", verdict)
        lines = [titles, *(_cells(row) for row in self.rows[:_MOST_LINES])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["".join(f"  {cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        more = len(self) - _MOST_LINES
        return "\n".join([head, *shown, *([f"  ... ({more} more)"] if more > 0 else []), ended])

    def __str__(self) -> str:
        return self.summary()


def _cells(row: Outlier) -> tuple[str, ...]:
    if row.exact:
        # A price of zero is proven up to the gap only.
        price = f"{(row.price_low + row.price_high) / 2:.4g}" if row.price_low > 0 else "0"
    elif math.isinf(row.price_high):
        price = f"at least {row.price_low:.4g}"
    elif row.price_low == 0:
        price = f"at most {row.price_high:.4g}"
    else:
        price = f"{row.price_low:.4g} to {row.price_high:.4g}"
    numbers = (f"{row.margin:.4g}", f"{row.distance:.4g}")
    return (str(row.row), str(row.label), *numbers, price, _VERDICTS[row.always_given_up])


def _plain_row(row: Outlier) -> dict[str, Any]:
    """A row in types that JSON has."""
    values = {item.name: getattr(row, item.name) for item in fields(row)}
    values["label"] = plain_label(row.label)
    for name in ("distance", "price_high"):
        values[name] = values[name] if math.isfinite(values[name]) else None
    return values
