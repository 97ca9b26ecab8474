"""The port ``Search`` of a function that is too small for an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from baton.domain import errors

if TYPE_CHECKING:
    from baton.ports.search import Search


class NoSearch:
    """Raises ``Busy`` at every question, so that a use case that can do without the search goes on without it."""

    def find(self, *_: object, **__: object) -> NoReturn:
        raise errors.Busy

    def about(self, *_: object, **__: object) -> NoReturn:
        raise errors.Busy

    def forgetting(self, *_: object, **__: object) -> NoReturn:
        raise errors.Busy


_none: type[Search] = NoSearch
