"""Records of runs: one line of JSON each, the files that hold them, and the best values that they add up to."""

from hardmargin.bench.records.record import Record, read_records

__all__ = ["Record", "read_records"]
