"""Samples that every better hyperplane gives up, found before the search by keeping each of them for a try.

If a sample is kept and the bound then reaches the objective of the best hyperplane known, nothing better keeps it.
That is decided by the subproblem of the search over samples in which this sample is kept and those found before are
given up: opposite samples nearer than 2 / ||w|| are given up there, conflicting sets are packed, and every
conclusion is certified (see ``core/packing_state.h``). The samples that lie farthest on the wrong side of the best
hyperplane come first, and a few failures end it: with many features the first bound is far from the objective, and
there are none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hardmargin.frontier import Frontier
from hardmargin.methods.base import Incumbent
from hardmargin.methods.engine import Found, LocalEngine, Search, frontier_of
from hardmargin.methods.proof import Proof

# Failures one after the other that end it, and multiply-adds, about a tenth of a second of them.
_MOST_FAILURES = 3
_MOST_WORK = 200_000_000


@dataclass
class Reduction:
    """What is decided before the search.

    Attributes
    ----------
    given_up : list of int
        The samples, ascending.
    derived_under : float
        Every hyperplane that costs less gives them up.
    """

    given_up: list[int] = field(default_factory=list)
    derived_under: float = np.inf

    def summary(self) -> str:
        """One line on what was decided, empty if nothing was."""
        count = len(self.given_up)
        return f"{count} sample{'s' if count > 1 else ''} given up in advance" if count else ""


def reduction(proof: Proof) -> Reduction:
    """Find samples that everything better than a proof's best hyperplane gives up."""
    given_up: list[int] = []
    failures = work = 0
    best = proof.problem.evaluate(proof.coef, proof.intercept)
    farthest_first = best.violations[np.argsort(best.margins[best.violations], kind="stable")]
    for sample in farthest_first.tolist():
        if failures == _MOST_FAILURES or work > _MOST_WORK or proof.finished:
            break
        tried = _try_to_keep(proof, sample, given_up)
        proof.watch.take_note(tried.outcome)
        work += tried.work
        if tried.weights:
            proof.learn(Incumbent(np.array(tried.weights), tried.bias), tried.objective)
        # What is closed after something better was found is closed for less than that only.
        if frontier_of(tried).size or tried.weights:
            failures += 1
        else:
            failures = 0
            given_up = sorted([*given_up, sample])
    proof.work += work
    return Reduction(given_up, proof.objective * (1 - proof.limits.gap / 2)) if given_up else Reduction()


def _try_to_keep(proof: Proof, sample: int, given_up: list[int]) -> Found:
    """One subproblem, with this sample kept; if nothing of it is left open, nothing better keeps the sample."""
    return LocalEngine().search(
        proof.problem,
        Frontier.decided([sample], given_up, proof.lower_bound, proof.objective),
        Search(
            "packing",
            {"gap": proof.limits.gap / 2, "cover_distance": np.inf},
            proof.objective,
            proof.limits.remaining(),
            node_limit=1,
            slice=1,
        ),
        # Its bounds are those of a part of the problem, and of no interest to the caller.
        lambda *_: proof.watch.report(proof.objective, proof.lower_bound, proof.all_nodes),
    )
