"""Reading, writing and generating labelled samples."""

from hardmargin.data.columns import LABEL_NAMES
from hardmargin.data.dataset import MAX_CELLS, DataError, Dataset
from hardmargin.data.files import FORMATS, dumps, load, save
from hardmargin.data.generators import generate

__all__ = ["FORMATS", "LABEL_NAMES", "MAX_CELLS", "DataError", "Dataset", "dumps", "generate", "load", "save"]
