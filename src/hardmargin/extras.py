"""How to install what only parts of the package need."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """How to install an extra, in words.

    Examples
    --------
    >>> print(how_to_install("bench"))
    install the extra 'bench', e.g. pip install ".[bench]" in the checkout
    """
    return f'install the extra {extra!r}, e.g. pip install ".[{extra}]" in the checkout'
