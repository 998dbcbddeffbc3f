"""Checks the claims of a run: the answer against the data, the bounds against all known values."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hardmargin import verify
from hardmargin.bench.records.best_known import PROVEN_GAP, Key, Known
from hardmargin.bench.records.record import FAILED, Record, finite
from hardmargin.bench.records.traces import thinned
from hardmargin.bench.running.execution import RunOutcome
from hardmargin.bench.running.foreign import is_foreign
from hardmargin.bench.running.plan import Job
from hardmargin.data import Dataset

# Sums in another order differ in the last digits.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Contradiction:
    """Two claims that cannot both be true.

    Attributes
    ----------
    record : Record
        The run whose claim is wrong or in doubt.
    reason : str
        What contradicts what.
    """

    record: Record
    reason: str

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({"reason": self.reason, "record": json.loads(self.record.to_json())})


def record_of(job: Job, outcome: RunOutcome, dataset: Dataset) -> tuple[Record, str | None]:
    """The record of a run, with its answer recomputed from the data.

    Returns
    -------
    record : Record
    complaint : str or None
        What is wrong with the answer; such a record is not ``checked``.
    """
    result = outcome.result
    complaint = None if result is None else _complaint(job, result, dataset)
    answer: Mapping[str, Any] = result or {}
    record = Record(
        **job.settings(),
        status=outcome.status or answer["status"],
        objective=finite(answer.get("objective")),
        lower_bound=finite(answer.get("lower_bound")),
        gap=finite(answer.get("gap")),
        runtime=answer.get("runtime"),
        wall=outcome.wall,
        nodes=answer.get("nodes"),
        n_violations=answer.get("n_violations"),
        trace=thinned(answer.get("trace", [])),
        peak_memory=outcome.peak_memory,
        checked=result is not None and complaint is None,
        machine=outcome.machine,
        versions=outcome.versions,
        started=outcome.started,
        error=outcome.error,
        coef=answer.get("coef"),
        intercept=answer.get("intercept"),
    )
    return record, complaint


def _complaint(job: Job, result: Mapping[str, Any], dataset: Dataset) -> str | None:
    try:
        if result["C"] != job.C or result["weights"] is not None:
            return f"the answer is for C = {result['C']}, not for {job.C}"
        verification = verify(result, dataset.X, dataset.y)
    except (ValueError, KeyError, TypeError) as error:
        return f"the answer cannot be checked: {error}"
    # Methods of other people have names of their own.
    known = [check for check in verification.checks if check.name != "method" or not is_foreign(job.method)]
    failed = [check for check in known if not check.holds]
    return f"{failed[0].name}: claimed {failed[0].claimed}, found {failed[0].found}" if failed else None


class Knowledge:
    """Everything known about the problems of a campaign: no bound may exceed an objective.

    Parameters
    ----------
    known : iterable of mappings
        Best known values, from files.
    """

    def __init__(self, known: Iterable[Mapping[Key, Known]] = ()) -> None:
        self._known: dict[Key, list[Known]] = defaultdict(list)
        self._records: dict[Key, dict[str, Record]] = defaultdict(dict)
        for entries in known:
            for key, entry in entries.items():
                self._known[key].append(entry)

    def add(self, record: Record) -> None:
        """Accept a record, replacing an earlier one of the same run."""
        self._records[record.instance, record.C][record.key] = record

    def against_files(self, record: Record) -> str | None:
        """Which best known value a record contradicts, in words."""
        objective, bound = record.objective, record.lower_bound
        if not record.checked or objective is None or bound is None:
            return None
        for entry in self._known[record.instance, record.C]:
            slack = PROVEN_GAP * abs(entry.value) + entry.rounding
            if bound > entry.value + slack:
                return f"bound {bound!r} above the objective {entry.value!r} of {entry.source}"
            if entry.proven and objective < entry.value - slack:
                return f"objective {objective!r} below the optimum {entry.value!r} of {entry.source}"
        return None

    def against_records(self, record: Record) -> list[Contradiction]:
        """The records of the same problem, this one among them, whose bounds are above an objective.

        Objectives are recomputed from the data before they get here, so it is the bound that is wrong.
        """
        if not record.checked:
            return []
        others = [
            other
            for key, other in self._records[record.instance, record.C].items()
            if other.checked and key != record.key
        ]
        pairs = [pair for other in others for pair in ((record, other), (other, record))]
        found: dict[str, Contradiction] = {}
        for claim, witness in pairs:
            if claim.lower_bound is not None and witness.objective is not None:
                slack = _ROUNDING * abs(witness.objective)
                if claim.lower_bound > witness.objective + slack:
                    reason = (
                        f"bound {claim.lower_bound!r} above the objective {witness.objective!r} of {_name(witness)}"
                    )
                    found.setdefault(claim.key, Contradiction(claim, reason))
        return list(found.values())


def withdrawn(record: Record, reason: str) -> Record:
    """The record that replaces one that has turned out to be wrong."""
    values = {**vars(record), "status": FAILED, "checked": False, "error": f"contradiction: {reason}"}
    values |= dict.fromkeys(("objective", "lower_bound", "gap", "coef", "intercept", "n_violations"))
    return Record(**{**values, "trace": []})


def described(contradiction: Contradiction) -> str:
    """A contradiction in one line."""
    return f"{_name(contradiction.record)}: {contradiction.reason}"


def _name(record: Record) -> str:
    return f"{record.instance}, C = {record.C:g}, {record.method} {record.configuration}, seed {record.seed}"
