"""How test accuracy falls as training data get worse: hard-margin, hinge and logistic loss side by side."""

from hardmargin.bench.robustness.draws import BEST_POSSIBLE, KINDS, UCI, Draw, Folds, Generated, Setting
from hardmargin.bench.robustness.folds import uci_settings
from hardmargin.bench.robustness.protocol import MODELS, Protocol
from hardmargin.bench.robustness.records import RobustnessRecord, read_records
from hardmargin.bench.robustness.study import SHARES, Study, run_study
from hardmargin.bench.robustness.summary import Difference, Row, paired_differences, summarise

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
    "paired_differences",
    "read_records",
    "run_study",
    "summarise",
    "uci_settings",
]
