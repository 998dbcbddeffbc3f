"""Units used in options and reports."""

from __future__ import annotations

#: Bytes.
GIGABYTE = 10**9
