"""The exit statuses, which scripts rely on."""

from __future__ import annotations

DONE = 0
CLAIM_FAILED = 1
BAD_INPUT = 2
GAP_TOO_LARGE = 3
INTERNAL_ERROR = 70
STATE_LOST = 74
INTERRUPTED = 130
BROKEN_PIPE = 141
