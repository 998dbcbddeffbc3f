"""What carries a method: where its searches run, and what keeps its state."""

from __future__ import annotations

from dataclasses import dataclass, field

from hardmargin.checkpoint.keeper import Keeper
from hardmargin.search.engine import Engine, LocalEngine
from hardmargin.search.recording import ProofRecorder


@dataclass(frozen=True)
class Context:
    """What a method with open subproblems gets in addition to its limits.

    Attributes
    ----------
    engine : Engine
        Where searches run.
    keeper : Keeper or None
        Keeps the state of the solve in a file, and has the state to begin with.
    recorder : ProofRecorder or None
        Collects a proof of the bound.
    """

    engine: Engine = field(default_factory=LocalEngine)
    keeper: Keeper | None = None
    recorder: ProofRecorder | None = None
