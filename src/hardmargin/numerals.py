"""Numbers in plain decimal notation.

Python also reads ``1_0`` as 10, and accepts the digits of every script. In a file or on a command line such a word
is more likely a name or a mistake, and two different labels would become one.
"""

from __future__ import annotations


def is_plain(text: str) -> bool:
    """Whether a text contains nothing that only Python accepts as part of a number.

    Examples
    --------
    >>> is_plain("-1.5e3"), is_plain("1_0"), is_plain("\\N{FULLWIDTH DIGIT ONE}")
    (True, False, False)
    """
    return text.isascii() and "_" not in text


def plain_float(text: str) -> float:
    """The number in a text: ASCII digits with sign, point and exponent, or ``inf`` and ``nan`` in any case.

    Raises
    ------
    ValueError
        If the text is anything else.

    Examples
    --------
    >>> plain_float("+.5e1"), plain_float("-inf")
    (5.0, -inf)
    """
    if not is_plain(text):
        raise ValueError(f"{text!r} is not a number in plain decimal notation.")
    return float(text)


def plain_int(text: str) -> int:
    """The whole number in a text: ASCII digits, with or without a sign.

    Raises
    ------
    ValueError
        If the text is anything else.

    Examples
    --------
    >>> plain_int("-007")
    -7
    """
    if not is_plain(text):
        raise ValueError(f"{text!r} is not a whole number in plain decimal notation.")
    return int(text)
