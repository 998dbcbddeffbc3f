"""Cuts in SCIP: as rows, or found by a constraint handler while the model is solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pyscipopt import SCIP_RESULT, Conshdlr, quicksum

from hardmargin.arrays import FloatArray
from hardmargin.mip.base import Cut, Separator
from hardmargin.mip.running import Callbacks


def add_rows(scip: Any, cuts: Sequence[Cut], variables: Sequence[Any], *, removable: bool = False) -> None:
    """Give SCIP cuts as rows; it may drop removable ones from its relaxation if they are not tight."""
    for cut in cuts:
        row = quicksum(factor * variables[i] for i, factor in zip(cut.members, cut.factors, strict=True))
        scip.addCons(row >= cut.bound, removable=removable)


def add_found_cuts(scip: Any, variables: Sequence[Any], separate: Separator, callbacks: Callbacks) -> None:
    """Let SCIP ask for cuts, at fractional and at integral points."""
    # Conclusions from the rows that SCIP knows need not hold for rows that are still to be found: variables that
    # look symmetric are not, and the cheapest value of a variable is not always feasible.
    scip.setParam("misc/usesymmetry", 0)
    scip.setParam("misc/allowstrongdualreds", False)
    scip.setParam("misc/allowweakdualreds", False)
    handler = _CutHandler(variables, separate, callbacks)
    scip.includeConshdlr(
        handler,
        "hardmargin_cuts",
        "samples that cannot be kept together",
        sepapriority=100,
        # After integrality, so that only integral points are enforced.
        enfopriority=-100,
        chckpriority=-100,
        sepafreq=1,
        propfreq=-1,
        eagerfreq=-1,
        maxprerounds=0,
        delaysepa=False,
        needscons=False,
    )


class _CutHandler(Conshdlr):
    """One constraint on all variables together: no cut is violated."""

    def __init__(self, variables: Sequence[Any], separate: Separator, callbacks: Callbacks) -> None:
        self._variables = variables
        self._separate = separate
        self._callbacks = callbacks

    def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
        # Only a smaller value can violate a cut.
        for variable in self._variables:
            transformed = self.model.getTransformedVar(variable)
            self.model.addVarLocksType(transformed, locktype, nlockspos, nlocksneg)

    def conssepalp(self, constraints: Any, nusefulconss: int) -> dict[str, Any]:
        return self._add(None, SCIP_RESULT.DIDNOTFIND)

    def conssepasol(self, constraints: Any, nusefulconss: int, solution: Any) -> dict[str, Any]:
        return self._add(solution, SCIP_RESULT.DIDNOTFIND)

    def consenfolp(self, constraints: Any, nusefulconss: int, solinfeasible: bool) -> dict[str, Any]:
        return self._add(None, SCIP_RESULT.FEASIBLE)

    def consenfops(
        self, constraints: Any, nusefulconss: int, solinfeasible: bool, objinfeasible: bool
    ) -> dict[str, Any]:
        return {"result": SCIP_RESULT.SOLVELP if self._violated(None) else SCIP_RESULT.FEASIBLE}

    def conscheck(
        self,
        constraints: Any,
        solution: Any,
        checkintegrality: bool,
        checklprows: bool,
        printreason: bool,
        completely: bool,
    ) -> dict[str, Any]:
        return {"result": SCIP_RESULT.INFEASIBLE if self._violated(solution) else SCIP_RESULT.FEASIBLE}

    def _violated(self, solution: Any) -> list[Cut]:
        return self._asked(lambda: self._separate(self._values(solution)))

    def _asked(self, question: Callable[[], list[Cut]]) -> list[Cut]:
        found: list[Cut] = []
        if not self._callbacks.guarded(lambda: found.extend(question())):
            self.model.interruptSolve()
        return found

    def _values(self, solution: Any) -> FloatArray:
        return np.array([self.model.getSolVal(solution, variable) for variable in self._variables])

    def _add(self, solution: Any, otherwise: Any) -> dict[str, Any]:
        cuts = self._violated(solution)
        for cut in cuts:
            row = self.model.createEmptyRowUnspec("cut", lhs=cut.bound, rhs=None, local=False)
            self.model.cacheRowExtensions(row)
            for i, factor in zip(cut.members, cut.factors, strict=True):
                self.model.addVarToRow(row, self.model.getTransformedVar(self._variables[i]), factor)
            self.model.flushRowExtensions(row)
            infeasible = self.model.addCut(row, forcecut=True)
            self.model.releaseRow(row)
            if infeasible:
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if cuts else otherwise}
