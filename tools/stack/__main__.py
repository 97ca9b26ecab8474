"""`make stack` and `make stop`."""

from __future__ import annotations

import sys

from tools.stack.stack import main

if __name__ == "__main__":
    sys.exit(main())
