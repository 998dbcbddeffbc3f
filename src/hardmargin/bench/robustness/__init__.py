"""How test accuracy falls as training data get worse: hard-margin, hinge and logistic loss side by side."""

from hardmargin.bench.robustness.draws import BEST_POSSIBLE, KINDS, Draw, Folds, Generated, Setting
from hardmargin.bench.robustness.figure import robustness_figure
from hardmargin.bench.robustness.folds import uci_settings
from hardmargin.bench.robustness.models import MODELS, Evaluation, Protocol, evaluate
from hardmargin.bench.robustness.records import Record, read_records
from hardmargin.bench.robustness.study import SHARES, Study, run_study
from hardmargin.bench.robustness.summary import Difference, Row, paired_differences, summarise
from hardmargin.bench.robustness.tables import accuracy_table, difference_table, tables

__all__ = [
    "BEST_POSSIBLE",
    "KINDS",
    "MODELS",
    "SHARES",
    "Difference",
    "Draw",
    "Evaluation",
    "Folds",
    "Generated",
    "Protocol",
    "Record",
    "Row",
    "Setting",
    "Study",
    "accuracy_table",
    "difference_table",
    "evaluate",
    "paired_differences",
    "read_records",
    "robustness_figure",
    "run_study",
    "summarise",
    "tables",
    "uci_settings",
]
