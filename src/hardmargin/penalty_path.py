"""What ``path`` returns: the best hyperplane at every C of a range, and what is proven about it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmargin import model_json, path_json
from hardmargin.atomic import replace_text
from hardmargin.bounds import relative_gap
from hardmargin.envelope import Envelope, Line, ProvenBounds, lower_envelope
from hardmargin.extras import pandas_for_tables
from hardmargin.result import Result
from hardmargin.status import Status
from hardmargin.validation import is_real
from hardmargin.versions import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Segment:
    """A part of a path on which one hyperplane is the best that is known.

    Attributes
    ----------
    low, high : float
        The values of C where it begins and ends.
    coef, intercept : list of float, float
        The hyperplane.
    violations : list of int
        Sorted rows of the caller's data with a margin below 1 - 1e-9.
    norm : float
        1/2 ||w||^2.
    given_up : float
        Total weight of the violations; their number if there are no weights. The objective is norm + C * given_up.
    gap : float
        The largest relative gap between objective and lower bound on this part.
    """

    low: float
    high: float
    coef: list[float]
    intercept: float
    violations: list[int]
    norm: float
    given_up: float
    gap: float


@dataclass(frozen=True)
class Path:
    """The best hyperplane at every C of a range, and what is proven about it.

    Attributes
    ----------
    status : Status
        "optimal" if the gap is at most ``target_gap`` everywhere; otherwise why the search ended.
    C : tuple of two floats, or list of float
        The range, or the values that were asked for.
    hyperplanes : list of Result
        The best hyperplanes known, from small C to large; each with its objective and bound at the C at which it
        was found.
    proven : list of (C, lower bound)
        What was proven, and where. :meth:`at` has what follows from it in between.
    runtime : float
        Seconds, of all runs together if the path was resumed.
    nodes, solves : int
        Subproblems examined and solves, of all runs together.
    target_gap : float
        The requested gap.
    data : str
        A checksum of the data and weights that the path belongs to.
    version : str
        The version of hardmargin that wrote this.

    Examples
    --------
    >>> from hardmargin import path
    >>> found = path([[0.0], [1.0], [3.0], [4.0], [5.0], [9.0], [2.1]], [0, 0, 1, 1, 1, 0, 0], C=(0.1, 100))
    >>> [round(C, 4) for C in found.breakpoints]
    [0.5, 1.9691]
    >>> found.at(1.0).violations, found.at(50.0).violations, found.optimal
    ([5, 6], [5], True)
    """

    status: Status
    C: tuple[float, float] | list[float]
    hyperplanes: list[Result]
    proven: list[tuple[float, float]]
    runtime: float
    nodes: int
    solves: int
    target_gap: float
    data: str = field(repr=False)
    version: str = __version__

    @property
    def low(self) -> float:
        """The smallest C."""
        return min(self.C)

    @property
    def high(self) -> float:
        """The largest C."""
        return max(self.C)

    @property
    def method(self) -> str:
        """The method of the last run; if its bounds are not certified, those of the path are not either."""
        return self.hyperplanes[0].method

    @property
    def optimal(self) -> bool:
        """Whether the objective is proven minimal, up to the requested gap, at every C that was asked for."""
        return self.status is Status.OPTIMAL

    @property
    def breakpoints(self) -> list[float]:
        """The values of C at which the best hyperplane changes, in ascending order."""
        return list(self._envelope.breakpoints)

    @property
    def segments(self) -> list[Segment]:
        """The parts of the range with one best hyperplane each, from small C to large."""
        ends = [self.low, *self._envelope.breakpoints, self.high]
        return [
            self._segment(index, low, high)
            for index, low, high in zip(self._envelope.best, ends[:-1], ends[1:], strict=True)
        ]

    @property
    def gap(self) -> float:
        """The largest relative gap between objective and lower bound at any C that was asked for."""
        where = self.C if isinstance(self.C, list) else [self.low, *self._envelope.breakpoints, self.high]
        return max(self._gap_at(C) for C in where)

    def at(self, C: float) -> Result:
        """The best hyperplane at a value of C, and what is proven about it.

        Parameters
        ----------
        C : float
            A number in the range.

        Returns
        -------
        Result
            As from :func:`hardmargin.solve`, with the runtime and nodes of the whole path. Its lower bound follows
            from what was proven at other values of C, see :mod:`hardmargin.envelope`.

        Raises
        ------
        ValueError
            If C is no number in the range.
        """
        if not is_real(C) or not self.low <= C <= self.high:
            raise ValueError(f"C is {C!r}; expected a number from {self.low:g} to {self.high:g}, as in the path.")
        return self._result(self._envelope.index_at(C), float(C))

    def to_frame(self) -> Any:
        """The path as a table: one row per segment, or per value if a list of values was asked for.

        Returns
        -------
        pandas.DataFrame
            With the columns ``C_from``, ``C_to``, ``norm``, ``given_up``, ``n_violations``, ``objective_from``,
            ``objective_to``, ``lower_bound_from``, ``lower_bound_to``, ``gap`` (the largest of the row),
            ``intercept``, ``coef`` and ``violations``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_for_tables()
        values = self.C if isinstance(self.C, list) else None
        parts = (
            self.segments
            if values is None
            else [self._segment(self._envelope.index_at(C), C, C) for C in sorted(values)]
        )
        return pandas.DataFrame([self._row(part) for part in parts])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the objective, the proven bound and what is given up over C.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a figure of its own, ``plot().figure``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from hardmargin.path_plot import plot_path

        return plot_path(self, ax)

    def summary(self) -> str:
        """A summary for people: a line per segment."""
        proven = ("proven" if self.optimal else f"largest gap {100 * self.gap:.3g} %") + self._where()
        lines = [
            f"hardmargin {self.version}, path from C = {self.low:g} to {self.high:g}: {self.status}, {proven}",
            f"  {'C from':>10} {'to':>10} {'given up':>9} {'1/2 ||w||^2':>13} {'gap':>9}",
        ]
        for part in self.segments:
            gap = f"{100 * part.gap:.3g} %"
            row = f"{part.low:>10.6g} {part.high:>10.6g} {part.given_up:>9.6g} {part.norm:>13.7g} {gap:>9}"
            lines.append(f"  {row}")
        effort = f"{self.runtime:.2f} s, {self.solves} solves, {self.nodes} nodes"
        return "\n".join([*lines, f"  breakpoints {len(self.breakpoints)}; effort {effort}"])

    def __str__(self) -> str:
        return self.summary()

    def _where(self) -> str:
        """Where the status holds, if that is not the whole range."""
        if not isinstance(self.C, list):
            return ""
        return f" at C = {self.C[0]:g}" if len(self.C) == 1 else f" at the {len(self.C)} values of C"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the keys of the JSON form.

        Returns
        -------
        dict
        """
        return path_json.to_dict(self)

    def to_json(self) -> str:
        """The JSON text that ``hardmargin path --json`` writes.

        Returns
        -------
        str
        """
        return model_json.to_text(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON form; an existing file is replaced atomically.

        Parameters
        ----------
        path : path
            The file, e.g. ``"path.json"``.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        replace_text(path, self.to_json())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Path:
        """Rebuild a path from :meth:`to_dict`; unknown keys are ignored.

        Raises
        ------
        ValueError
            If a key is missing or its value has the wrong type.
        """
        return cls(**path_json.checked_fields(values))

    @classmethod
    def from_json(cls, text: str) -> Path:
        """Rebuild a path from :meth:`to_json`.

        Raises
        ------
        ValueError
            If the text is something else.
        """
        return cls.from_dict(model_json.parsed(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Path:
        """Read a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            If the file holds something else; the message names it.
        OSError
            If it cannot be read.
        """
        try:
            return cls.from_json(FilePath(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise ValueError(f"{path}: not a hardmargin path: not text.") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @cached_property
    def _lines(self) -> list[Line]:
        return [line_of(result) for result in self.hyperplanes]

    @cached_property
    def _envelope(self) -> Envelope:
        return lower_envelope(self._lines, self.low, self.high)

    @cached_property
    def _bounds(self) -> ProvenBounds:
        return ProvenBounds(self.proven)

    def _gap_at(self, C: float) -> float:
        return relative_gap(self._lines[self._envelope.index_at(C)].at(C), self._bounds.at(C))

    def _segment(self, index: int, low: float, high: float) -> Segment:
        result, line = self.hyperplanes[index], self._lines[index]
        return Segment(
            low,
            high,
            result.coef,
            result.intercept,
            result.violations,
            *line,
            gap=max(relative_gap(line.at(C), self._bounds.at(C)) for C in (low, high)),
        )

    def _row(self, part: Segment) -> dict[str, Any]:
        line = Line(part.norm, part.given_up)
        return {
            "C_from": part.low,
            "C_to": part.high,
            "norm": part.norm,
            "given_up": part.given_up,
            "n_violations": len(part.violations),
            "objective_from": line.at(part.low),
            "objective_to": line.at(part.high),
            "lower_bound_from": min(self._bounds.at(part.low), line.at(part.low)),
            "lower_bound_to": min(self._bounds.at(part.high), line.at(part.high)),
            "gap": part.gap,
            "intercept": part.intercept,
            "coef": part.coef,
            "violations": part.violations,
        }

    def _result(self, index: int, C: float) -> Result:
        objective = self._lines[index].at(C)
        bound = min(self._bounds.at(C), objective)
        gap = relative_gap(objective, bound)
        unproven = Status.HEURISTIC if self.optimal else self.status
        return replace(
            self.hyperplanes[index],
            status=Status.OPTIMAL if gap <= self.target_gap else unproven,
            objective=objective,
            lower_bound=bound,
            gap=gap,
            C=C,
            runtime=self.runtime,
            nodes=self.nodes,
            trace=[],
            target_gap=self.target_gap,
        )


def line_of(result: Result) -> Line:
    """What the hyperplane of a result costs at any C.

    Examples
    --------
    >>> from hardmargin import solve
    >>> line = line_of(solve([[0.0], [1.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0], C=10))
    >>> round(line.norm, 6), line.given_up
    (0.5, 1.0)
    """
    coef = np.array(result.coef)
    weights = None if result.weights is None else np.array(result.weights)[result.violations]
    given_up = float(len(result.violations)) if weights is None else float(weights.sum())
    return Line(0.5 * float(coef @ coef), given_up)
