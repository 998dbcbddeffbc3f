"""Samples that every better hyperplane gives up, or keeps: found before the search by trying the opposite.

If a sample is kept and the bound then reaches the objective of the best hyperplane known, no better hyperplane
keeps it. If it is given up and the bound reaches that objective, no better hyperplane gives it up. One subproblem
of the search over samples decides this, with this sample and those found before decided: opposite samples nearer
than 2 / ||w|| are given up there, conflicting sets are packed, and every conclusion is certified (see
``core/packing/state.h``). Samples farthest on the wrong side of the best hyperplane come first, then those
farthest on the right side. A few failures end it: with many features the first bound is far from the objective,
and no sample can be decided.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hardmargin import _core
from hardmargin.incumbent import Incumbent
from hardmargin.search.engine import LocalEngine, Search, SearchResult, frontier_of
from hardmargin.search.proof import Proof
from hardmargin.search.recording import memory_sink
from hardmargin.search.roots import packing_root
from hardmargin.search.settings import PackingSettings

# It ends after this many failures in a row, or this many multiply-adds (about a tenth of a second).
_MOST_FAILURES = 3
_MOST_WORK = 200_000_000
# Cost of setting a subproblem up, in multiply-adds per number of the data.
_SET_UP = 200


@dataclass
class Reduction:
    """What is decided before the search.

    Attributes
    ----------
    given_up, kept : list of int
        The samples, ascending.
    derived_under : float
        Every hyperplane that costs less gives the former up and keeps the latter.
    """

    given_up: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    derived_under: float = np.inf

    def summary(self) -> str:
        """One line on what was decided, empty if nothing was."""
        counts = {"given up": len(self.given_up), "kept": len(self.kept)}
        parts = [f"{count} {decision}" for decision, count in counts.items() if count]
        return f"samples decided in advance: {', '.join(parts)}" if parts else ""


#: Samples that were decided, in this order: each with whether it is kept, and the record of the refuted opposite.
Decided = list[tuple[int, bool, bytes]]


def reduction(proof: Proof, decided: Decided | None = None) -> Reduction:
    """Find the samples that every better hyperplane than a proof's best one gives up, and those that it keeps.

    ``decided`` receives what a proof in a file needs of it, if that is wanted.
    """
    found = Reduction()
    best = proof.problem.evaluate(proof.coef, proof.intercept)
    by_margin = np.argsort(best.margins, kind="stable")
    if proof.problem.trusted is not None:
        # The core keeps them in any case.
        by_margin = by_margin[~proof.problem.trusted[by_margin]]
    is_violated = np.isin(by_margin, best.violations)
    work = _decide(proof, found, by_margin[is_violated].tolist(), "given up", _MOST_WORK, decided)
    work += _decide(proof, found, by_margin[~is_violated][::-1].tolist(), "kept", _MOST_WORK - work, decided)
    proof.work += work
    if found.given_up or found.kept:
        found.derived_under = proof.objective * (1 - proof.limits.gap / 2)
    return found


def _decide(
    proof: Proof,
    found: Reduction,
    samples: Iterable[int],
    decision: Literal["given up", "kept"],
    most_work: int,
    records: Decided | None,
) -> int:
    """Add the samples for which this decision is certain, and return the work done."""
    sink = None if records is None else memory_sink()
    decided = found.given_up if decision == "given up" else found.kept
    failures = work = 0
    for sample in samples:
        if failures == _MOST_FAILURES or work > most_work or proof.finished:
            break
        number = 0 if records is None else len(records) + 1
        if decision == "given up":
            tried = _try(proof, sorted([*found.kept, sample]), found.given_up, sink, number)
        else:
            tried = _try(proof, found.kept, sorted([*found.given_up, sample]), sink, number)
        proof.watch.take_note(tried.outcome)
        work += tried.work + _SET_UP * proof.problem.X.size
        if tried.weights:
            # From here on, what is closed is closed only for better solutions, and so is what is decided.
            proof.learn(Incumbent(np.array(tried.weights), tried.bias), tried.objective)
        if frontier_of(tried).size:
            failures += 1
        else:
            failures = 0
            insort(decided, sample)
            if records is not None and sink is not None:
                records.append((sample, decision == "kept", sink.last_record()))
    return work


def _try(
    proof: Proof, kept: list[int], given_up: list[int], sink: _core.ProofSink | None = None, number: int = 0
) -> SearchResult:
    """Search one subproblem; if nothing is left open, no better hyperplane makes these decisions."""
    return LocalEngine().search(
        proof.problem,
        packing_root(proof.problem, proof.lower_bound, proof.objective, kept=kept, given_up=given_up),
        Search(
            PackingSettings(gap=proof.limits.gap / 2, cover_distance=np.inf),
            proof.objective,
            proof.limits.remaining(),
            node_limit=1,
            slice=1,
            proof=sink,
            proof_number=number,
        ),
        # Its bounds hold only for a part of the problem, so the caller gets those of the proof.
        lambda *_: proof.watch.report(proof.objective, proof.lower_bound, proof.all_nodes),
    )
