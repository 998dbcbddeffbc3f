"""Proofs as lemmas and refutations of pseudo-Boolean problems; ``docs/proofs.md`` describes the files."""

from hardmargin.refutation.export import ExportedProof as ExportedProof
from hardmargin.refutation.export import export_proof as export_proof
from hardmargin.refutation.lemmas import LemmaVerdict as LemmaVerdict
from hardmargin.refutation.lemmas import check_lemmas as check_lemmas
