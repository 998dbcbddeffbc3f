"""How to install what only parts of the package need."""

from __future__ import annotations

from typing import Any


def how_to_install(extra: str) -> str:
    """How to install an extra, in words.

    Examples
    --------
    >>> print(how_to_install("bench"))
    install the extra 'bench', e.g. pip install ".[bench]" in the checkout
    """
    return f'install the extra {extra!r}, e.g. pip install ".[{extra}]" in the checkout'


def pandas_for_tables() -> Any:
    """The module ``pandas``, which is only imported for tables.

    Raises
    ------
    ImportError
        If it is not installed; the message says how to install it.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError(f"a table needs pandas; {how_to_install('bench')}.") from None
    return pandas
