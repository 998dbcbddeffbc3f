"""Records as a parquet file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from typing import Any

from hardmargin.bench.records.record import Record
from hardmargin.extras import how_to_install


def write_parquet(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write records as a table, one row each; dicts become JSON text.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"parquet files need pyarrow; {how_to_install('bench')}.") from None
    types = _column_types(pyarrow)
    schema = pyarrow.schema([(item.name, types[str(item.type)]) for item in fields(Record)])
    table = pyarrow.Table.from_pylist(list(_rows(records)), schema=schema)
    pyarrow.parquet.write_table(table, os.fspath(path))


def _rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    for record in records:
        yield {
            name: json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
            for name, value in asdict(record).items()
        }


def _column_types(pyarrow: Any) -> dict[str, Any]:
    text, real, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    reals = pyarrow.list_(real)
    return {
        "str": text,
        "str | None": text,
        "dict[str, Any]": text,
        "int": whole,
        "int | None": whole,
        "float": real,
        "float | None": real,
        "bool": pyarrow.bool_(),
        "list[float] | None": reals,
        "list[list[float | None]]": pyarrow.list_(reals),
    }
