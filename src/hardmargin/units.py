"""Units that are asked for and told."""

from __future__ import annotations

#: Bytes.
GIGABYTE = 10**9
