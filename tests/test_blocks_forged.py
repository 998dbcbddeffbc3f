"""States of the method ``blocks`` that do not fit are refused."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from hardmargin import Problem
from hardmargin.checkpoint.saved_state import check_solve
from hardmargin.data import generate
from hardmargin.limits import Limits
from hardmargin.methods.blocks import BlocksProof, Options
from hardmargin.search import primal

PROBLEM = Problem.from_data(*(lambda data: (data.X, data.y))(generate("A", 60, 3, 1)), C=10.0)


@pytest.fixture(scope="module")
def state() -> dict:
    """In the middle of the second round."""
    limits = Limits(time_limit=np.inf)
    found = primal.search(PROBLEM, None, limits, lambda *_: None, 0.01)
    proof = BlocksProof(PROBLEM, found, limits, lambda *_: None, Options(first_size=6))
    proof.step_work = 1
    for _ in proof.steps():
        if not proof._first and proof._groups:
            break
    return {
        "gap": 1e-6,
        "coef": proof.coef,
        "intercept": proof.intercept,
        "lower_bound": proof.lower_bound,
        "nodes": proof.nodes,
        "proofs": {"blocks": proof.state()},
        "records": None,
    }


def test_a_state_is_accepted(state) -> None:
    check_solve(state, PROBLEM)
    assert state["proofs"]["blocks"]["groups"]


def first_of(parts: dict) -> None:
    parts["samples"] = parts["samples"].copy()
    parts["samples"][0] = parts["samples"][-1]


FORGERIES = {
    "a sample twice": (
        lambda blocks: first_of(blocks["waiting"]),
        "do not have the samples from 0 to 59 once each",
    ),
    "another sample in a group": (lambda blocks: first_of(blocks["groups"][0]["after"]), "has other samples"),
    "a negative share": (
        lambda blocks: blocks["waiting"]["numbers"].__imul__(-1),
        "numbers has values out of range",
    ),
    "sizes that do not fit": (lambda blocks: blocks["waiting"]["sizes"].__iadd__(1), "sizes does not fit"),
    "a place that is not there": (lambda blocks: blocks["groups"][0].update(open=[99]), "expected places below"),
    "a group that is too large": (lambda blocks: blocks["groups"][0].update(before=99), "does not fit the blocks"),
    "no groups but one": (lambda blocks: blocks["round"].pop("work"), "blocks.round has no work"),
    "a growth of nothing": (lambda blocks: blocks.update(growth=0.0), "blocks.growth is 0.0"),
}


@pytest.mark.parametrize(("forge", "words"), FORGERIES.values(), ids=FORGERIES.keys())
def test_what_does_not_fit_is_named(state, forge, words) -> None:
    forged = deepcopy(state)
    forge(forged["proofs"]["blocks"])
    with pytest.raises(ValueError, match=words):
        check_solve(forged, PROBLEM)
