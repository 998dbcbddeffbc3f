"""Why a proof is not accepted."""

from __future__ import annotations


class ProofError(Exception):
    """The proof does not hold, or not for these data."""


class UnreadableProofError(ValueError):
    """The file is not a proof, or was cut off or damaged."""
