"""Labels that come from different places: a model, a data file, the command line."""

from __future__ import annotations

from typing import Any

from hardmargin.numerals import plain_float


def same_label(first: Any, second: Any) -> bool:
    """Whether two labels are meant to be the same, though one may have been read as text.

    If all labels of a file look like numbers, they are read as numbers, even if the model was trained on text, and
    vice versa. Two texts are the same only if they agree exactly.

    Examples
    --------
    >>> same_label(1, 1.0), same_label("1.0", 1), same_label("yes", "yes")
    (True, True, True)
    >>> same_label("1.0", "1"), same_label("yes", 1)
    (False, False)
    """
    if bool(first == second) or str(first) == str(second):
        return True
    if isinstance(first, str) == isinstance(second, str):
        return False
    text, number = (first, second) if isinstance(first, str) else (second, first)
    try:
        return plain_float(text) == float(number)
    except (TypeError, ValueError, OverflowError):
        return False
