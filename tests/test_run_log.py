"""The logger ``hardmargin``."""

from __future__ import annotations

import logging

import hardmargin


def test_a_search_logs_its_bounds_and_its_end(line, caplog):
    caplog.set_level(logging.INFO, logger="hardmargin")
    result = hardmargin.solve(*line, C=10)
    lines = [record.getMessage() for record in caplog.records if record.name == "hardmargin"]
    assert len(lines) >= 2
    assert all(text.startswith("time=") for text in lines)
    words = dict(word.split("=") for word in lines[-1].split())
    assert list(words) == ["time", "upper", "lower", "gap", "nodes", "status"]
    assert (words["upper"], words["status"], words["nodes"]) == ("10.5", "optimal", str(result.nodes))
    assert float(words["gap"]) <= 1e-6


def test_nothing_is_logged_unless_asked_for(line, caplog):
    caplog.set_level(logging.WARNING, logger="hardmargin")
    hardmargin.solve(*line, C=10)
    assert caplog.records == []
