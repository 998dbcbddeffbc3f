"""``python -m hardmargin`` is the command ``hardmargin``."""

from __future__ import annotations

import sys

from hardmargin.cli import main

if __name__ == "__main__":
    sys.exit(main())
