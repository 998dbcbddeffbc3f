"""Packages that only parts of the library need."""

from __future__ import annotations

import sys

import pytest

from hardmargin import outliers, path, solve


def test_tables_say_how_to_install_what_they_need(line, monkeypatch) -> None:
    table = outliers(solve(*line, C=10), *line)
    found = path(*line, C=[1.0])
    monkeypatch.setitem(sys.modules, "pandas", None)
    for each in (table, found):
        with pytest.raises(ImportError, match="a table needs pandas; install the extra 'bench'"):
            each.to_frame()
