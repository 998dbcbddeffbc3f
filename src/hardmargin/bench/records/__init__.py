"""Records of runs: one line of JSON each, their files, and the best known values that follow from them."""

from hardmargin.bench.records.record import Record, read_records

__all__ = ["Record", "read_records"]
