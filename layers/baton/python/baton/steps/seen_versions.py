"""The versions that a request was made for, and the versions of its first attempt."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain import errors


@dataclass(slots=True)
class SeenVersions:
    """The versions of an agent, or of a tool and its target, that the caller has seen. None: any. 0: it must not exist.

    An approval is for the content at the time of the request. An attempt after a conflict must not approve content
    that was written since, so ``must_be`` keeps the version of the first attempt if ``is_approved``.
    """

    agent: int | None = None
    tool: int | None = None
    target: int | None = None

    def must_be(self, what: str, version: int, *, is_approved: bool = False) -> None:
        """Raises ``VersionConflict`` if ``version``, the current one, isn't the version that was seen."""
        if getattr(self, what) not in {None, version}:
            raise errors.VersionConflict(what, version)
        if is_approved:
            setattr(self, what, version)
