"""Linear support vector machines with the hard-margin loss, trained to certified global optimality."""

# Nothing is imported here, so that the command line answers Ctrl-C at once.
TYPE_CHECKING = False

__all__ = [
    "BudgetError",
    "ConstantModelWarning",
    "HardMarginSVC",
    "HardMarginSVCCV",
    "Outliers",
    "Path",
    "Problem",
    "Result",
    "Status",
    "Verification",
    "__version__",
    "export_proof",
    "outliers",
    "path",
    "show_versions",
    "smallest_useful_C",
    "solve",
    "verify",
]

if TYPE_CHECKING:
    from hardmargin.budget import BudgetError
    from hardmargin.estimator import ConstantModelWarning, HardMarginSVC
    from hardmargin.estimator_cv import HardMarginSVCCV
    from hardmargin.explanation import outliers
    from hardmargin.outlier_table import Outliers
    from hardmargin.path_solver import path
    from hardmargin.penalty_path import Path
    from hardmargin.problem import Problem
    from hardmargin.refutation.export import export_proof
    from hardmargin.result import Result
    from hardmargin.solver import solve
    from hardmargin.status import Status
    from hardmargin.useful_penalty import smallest_useful_C
    from hardmargin.verification import Verification, verify
    from hardmargin.versions import __version__, show_versions
else:
    # scikit-learn takes a second to import, for which `hardmargin --version` should not have to wait. No module
    # may have the name of something public: importing it would put the module in its place.
    _MODULES = {
        "BudgetError": "budget",
        "ConstantModelWarning": "estimator",
        "HardMarginSVC": "estimator",
        "HardMarginSVCCV": "estimator_cv",
        "Outliers": "outlier_table",
        "Path": "penalty_path",
        "Problem": "problem",
        "Result": "result",
        "Status": "status",
        "Verification": "verification",
        "__version__": "versions",
        "export_proof": "refutation.export",
        "outliers": "explanation",
        "path": "path_solver",
        "show_versions": "versions",
        "smallest_useful_C": "useful_penalty",
        "solve": "solver",
        "verify": "verification",
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
