"""`make run`."""

from __future__ import annotations

import sys

from tools.demo.demo import main

if __name__ == "__main__":
    sys.exit(main())
