"""The folder of the benchmark instances, for the scripts beside this one."""

from __future__ import annotations

from pathlib import Path

from hardmargin.bench.instances.data_folder import find_data, named_folder

_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_or_skip(given: str | None) -> Path:
    """The given folder, that of $HARDMARGIN_DATA, or the one beside the checkout.

    Raises
    ------
    SystemExit
        If there is none: the script is skipped, with a message.
    """
    if named_folder(given) is None and _BESIDE_THE_CHECKOUT.is_dir():
        return _BESIDE_THE_CHECKOUT
    try:
        return find_data(given)
    except ValueError as error:
        print(f"skipped: {error}")
        raise SystemExit(0) from None
