"""The sizes of the largest tests: ``make soak`` plays them whole (``SOAK=1``), ``make test`` a tenth of them."""

from __future__ import annotations

import os

IS_WHOLE = bool(os.environ.get("SOAK"))


def scaled(whole: int) -> int:
    """Returns ``whole`` under ``make soak``, else a tenth of it."""
    return whole if IS_WHOLE else whole // 10
