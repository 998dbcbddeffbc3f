"""Checks proofs that ``solve(..., proof=...)`` has written; ``docs/proofs.md`` describes what they consist of.

This folder imports nothing else of the package: what it accepts does not depend on the code that wrote it.
"""

from hardmargin.checker.checking import Verdict as Verdict
from hardmargin.checker.checking import check_proof as check_proof
from hardmargin.checker.errors import ProofError as ProofError
from hardmargin.checker.errors import UnreadableProofError as UnreadableProofError
