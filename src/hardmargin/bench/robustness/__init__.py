"""How test accuracy falls as training data get worse: hard-margin, hinge and logistic loss side by side."""

from hardmargin.bench.robustness.draws import BEST_POSSIBLE, KINDS, UCI, Draw, Folds, Generated, Setting
from hardmargin.bench.robustness.figure import check_figure_name, robustness_figure
from hardmargin.bench.robustness.folds import uci_settings
from hardmargin.bench.robustness.protocol import MODELS, Protocol
from hardmargin.bench.robustness.records import RobustnessRecord, read_records
from hardmargin.bench.robustness.study import SHARES, Study, run_study
from hardmargin.bench.robustness.summary import Difference, Row, paired_differences, summarise
from hardmargin.bench.robustness.tables import accuracy_table, difference_table, tables

__all__ = [
    "BEST_POSSIBLE",
    "KINDS",
    "MODELS",
    "SHARES",
    "UCI",
    "Difference",
    "Draw",
    "Folds",
    "Generated",
    "Protocol",
    "RobustnessRecord",
    "Row",
    "Setting",
    "Study",
    "accuracy_table",
    "check_figure_name",
    "difference_table",
    "paired_differences",
    "read_records",
    "robustness_figure",
    "run_study",
    "summarise",
    "tables",
    "uci_settings",
]
