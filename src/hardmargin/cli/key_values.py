"""KEY=VALUE arguments: method options, class weights and limits on violations."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.labels import same_label
from hardmargin.numerals import plain_float, plain_int
from hardmargin.penalty import SCALE

_NEGATIVE_KEY = re.compile("-[0-9.][^=]*=")


def one_flag_each(argv: Sequence[str], flags: Iterable[str]) -> list[str]:
    """Put the flag before every KEY=VALUE that follows it.

    Both ``--option a=1 b=2`` and ``--option a=1 --option b=2`` are then understood, and the arguments after them
    are not swallowed. A pair that starts with a negative number is joined to the flag, because the parser would
    mistake it for a flag.

    Examples
    --------
    >>> one_flag_each(["--option", "a=1", "b=2", "data.csv"], flags=["--option"])
    ['--option', 'a=1', '--option', 'b=2', 'data.csv']
    >>> one_flag_each(["--class-weight", "-1=2", "1=3"], flags=["--class-weight"])
    ['--class-weight=-1=2', '--class-weight', '1=3']
    """
    return list(_one_flag_each(argv, set(flags)))


def _one_flag_each(argv: Sequence[str], flags: set[str]) -> Iterator[str]:
    flag, waiting = "", False
    for word in argv:
        if word in flags:
            if waiting:
                yield flag
            flag, waiting = word, True
            continue
        if flag and _NEGATIVE_KEY.match(word):
            yield f"{flag}={word}"
        elif waiting or (flag and "=" in word and not word.startswith("-")):
            yield flag
            yield word
        else:
            flag = ""
            yield word
        waiting = False
    if waiting:
        yield flag


def key_value(text: str) -> tuple[str, Any]:
    """Split KEY=VALUE and give the value its type.

    Examples
    --------
    >>> key_value("effort=2"), key_value("rule=first")
    (('effort', 2), ('rule', 'first'))
    """
    key, sign, value = text.partition("=")
    if not (key and sign):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    return key, typed(value)


def typed(text: str) -> int | float | bool | str:
    """A number if it reads as one, a bool for true and false, else the text itself.

    Examples
    --------
    >>> typed("3"), typed("1e9"), typed("true"), typed("scip")
    (3, 1000000000.0, True, 'scip')
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (plain_int, plain_float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def penalty(text: str) -> float | str:
    """The value of ``C`` for ``solve``: a number, or "scale".

    Examples
    --------
    >>> penalty("10"), penalty("scale")
    (10.0, 'scale')
    """
    if text == SCALE:
        return text
    try:
        return plain_float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid float value: {text!r}, and not {SCALE!r} either") from None


def time_limit(text: str) -> float:
    """The value of ``time_limit`` for ``solve``; inf stands for no limit.

    Examples
    --------
    >>> time_limit("2.5"), time_limit("inf")
    (2.5, inf)
    """
    try:
        seconds = plain_float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid float value: {text!r}") from None
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} given; expected a positive number of seconds, or inf")
    return seconds


def class_weights(texts: Sequence[str] | None, labels: ArrayLike) -> dict[Any, float] | str | None:
    """The value of ``class_weight`` for ``solve``, from the words of the command line.

    Parameters
    ----------
    texts : sequence of str or None
        ``["balanced"]``, or LABEL=WEIGHT for one or both labels.
    labels : array-like
        The labels of the data; the command line does not say what type they have.

    Raises
    ------
    ValueError
        If a weight is not a number or a label is not in the data.

    Examples
    --------
    >>> class_weights(["1=2.5"], labels=[-1, 1])
    {1: 2.5}
    """
    if not texts:
        return None
    if list(texts) == ["balanced"]:
        return "balanced"
    return _by_label(texts, labels, "--class-weight", "'balanced' or LABEL=WEIGHT, e.g. 1=2.5")


def violation_limits(texts: Sequence[str] | None, labels: ArrayLike) -> dict[Any, float] | float | None:
    """The value of ``max_violations`` for ``solve``, from the words of the command line.

    Parameters
    ----------
    texts : sequence of str or None
        One number, or LABEL=NUMBER for one or both labels.
    labels : array-like
        The labels of the data.

    Raises
    ------
    ValueError
        If a limit is not a number or a label is not in the data.

    Examples
    --------
    >>> violation_limits(["3"], labels=["ill", "well"]), violation_limits(["ill=0", "well=3"], ["ill", "well"])
    (3.0, {'ill': 0.0, 'well': 3.0})
    """
    if not texts:
        return None
    if len(texts) == 1 and not isinstance(number := typed(texts[0]), (bool, str)):
        return float(number)
    return _by_label(texts, labels, "--max-violations", "a number or LABEL=NUMBER, e.g. 1=3")


def _by_label(texts: Sequence[str], labels: ArrayLike, flag: str, expected: str) -> dict[Any, float]:
    """The numbers of LABEL=NUMBER words by label."""
    known = np.unique(np.asarray(labels)).tolist()
    return dict(_label_and_number(text, known, flag, expected) for text in texts)


def _label_and_number(text: str, known: list[Any], flag: str, expected: str) -> tuple[Any, float]:
    name, sign, number = text.rpartition("=")
    value = typed(number)
    if not sign or isinstance(value, (bool, str)):
        raise ValueError(f"{flag} is {text!r}; expected {expected}.")
    for label in known:
        if same_label(name, label):
            return label, float(value)
    raise ValueError(f"{flag} names {name!r}, which no sample has; expected one of the labels {known}.")
