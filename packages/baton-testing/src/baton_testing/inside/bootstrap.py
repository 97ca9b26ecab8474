"""In the place of ``baton.bootstrap``: no environment is read, and there are no clients of AWS. What went wrong inside
is a line of Python's own logging."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

_LOG = logging.getLogger("baton_testing")


class _Logger:
    """As far as Powertools' is called for a request."""

    def append_context_keys(self, **_fields: object) -> AbstractContextManager[None]:
        return nullcontext()

    def append_keys(self, **_fields: object) -> None: ...

    def remove_keys(self, _names: object) -> None: ...

    def info(self, message: str, **fields: object) -> None:
        _LOG.debug("%s %s", message, fields)

    def error(self, message: str, **fields: object) -> None:
        _LOG.error("%s %s", message, fields)


_LOGGER = _Logger()


def logger() -> _Logger:
    return _LOGGER


def log_line(message: str, **fields: object) -> None:
    _LOG.debug("%s %s", message, fields)


def count(_metric: str) -> None: ...


def begin(_context: Any) -> None: ...


def wire() -> NoReturn:
    raise RuntimeError("a stack has its own ports")
