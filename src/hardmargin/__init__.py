"""Linear support vector machines with the hard-margin loss, trained to certified global optimality."""

from hardmargin.estimator import HardMarginSVC
from hardmargin.problem import Problem
from hardmargin.result import Result, Status
from hardmargin.solve import solve
from hardmargin.verify import Verification, verify
from hardmargin.versions import __version__, show_versions

__all__ = [
    "HardMarginSVC",
    "Problem",
    "Result",
    "Status",
    "Verification",
    "__version__",
    "show_versions",
    "solve",
    "verify",
]
