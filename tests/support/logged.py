"""What is logged while a test runs, for the few that ask: pytest's own capture costs every test."""

from __future__ import annotations

import logging
from io import StringIO


class Logged:
    """``text``: each line that was logged, from the level on that was set."""

    def __init__(self) -> None:
        self._written = StringIO()
        self._handler = logging.StreamHandler(self._written)
        self._levels: dict[str | None, int] = {}
        logging.getLogger().addHandler(self._handler)

    @property
    def text(self) -> str:
        return self._written.getvalue()

    def set_level(self, level: int, logger: str | None = None) -> None:
        """Of this logger, or of all."""
        named = logging.getLogger(logger)
        self._levels.setdefault(logger, named.level)
        named.setLevel(level)
        if not named.propagate:  # its lines don't reach the root
            named.addHandler(self._handler)

    def end(self) -> None:
        for logger, level in {None: logging.getLogger().level, **self._levels}.items():
            logging.getLogger(logger).setLevel(level)
            logging.getLogger(logger).removeHandler(self._handler)
