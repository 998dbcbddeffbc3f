"""What the name of an instance says: its set and its group."""

from __future__ import annotations

import re

#: The sets, in the order of the paper's tables.
SETS = ("A", "B", "UCI")

_SYNTHETIC = re.compile(r"(?:n|gen)(?P<n>\d+)d(?P<m>\d+)(?P<set>[AB])(?:Tj)?\d+")


def set_of(instance: str) -> str:
    """The set of an instance, from its name.

    Examples
    --------
    >>> set_of("n60d2ATj0"), set_of("gen60d2B1"), set_of("adult5f1i1.train")
    ('A', 'B', 'UCI')
    """
    found = _SYNTHETIC.fullmatch(instance)
    return found["set"] if found else "UCI"


def group_of(instance: str) -> str:
    """The group of an instance: instances that differ only in fold or number share a group.

    Examples
    --------
    >>> group_of("n60d2ATj0"), group_of("gen60d2B1"), group_of("adult5f1i1.train")
    ('n60d2A', 'gen60d2B', 'adult')
    """
    if found := _SYNTHETIC.fullmatch(instance):
        return instance[: found.end("set")]
    return instance.split("5f")[0]
