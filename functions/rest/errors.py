"""The refusals of the HTTP edge, and the table that gives every refusal its HTTP status."""

from __future__ import annotations

from collections.abc import Iterable

from baton.domain import errors


class MalformedJson(errors.InvalidInput):
    """The body isn't JSON that Baton takes: one object, UTF-8, unambiguous, within the store's limits."""

    code = "malformed_json"


class MalformedYaml(MalformedJson):
    """The body isn't YAML that Baton takes, on a route that takes YAML."""

    code = "malformed_yaml"


class InvalidFields(errors.InvalidInput):
    """All problems of a body or a query at once. ``problems``: (field, message), at least one."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        listed = [{"field": field, "message": message} for field, message in problems]
        super().__init__(listed[0]["field"], listed[0]["message"])
        self.fields["errors"] = listed


class NotAuthenticated(errors.BatonError):
    """A request without a token, on a route that needs one. A token that isn't valid is ``TokenRefused``."""

    code = "not_authenticated"

    def __init__(self) -> None:
        super().__init__("A bearer token is needed.")


class WrongAddress(errors.Forbidden):
    """A request that came around the edge (``edge``)."""

    def __init__(self) -> None:
        super().__init__("Nobody is answered at this address.")


class UnknownRoute(errors.Unknown):
    def __init__(self) -> None:
        super().__init__("route")


class MethodNotAllowed(errors.BatonError):
    code = "method_not_allowed"

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"This path takes {self.allowed}.")


class UnknownCharset(errors.BatonError):
    """A body in another character set than UTF-8."""

    code = "unknown_charset"

    def __init__(self, charset: str) -> None:
        super().__init__(f"The body must be UTF-8, and its Content-Type names {charset!r}.")


STATUSES: dict[type[errors.BatonError], int] = {
    MalformedJson: 400,
    NotAuthenticated: 401,
    errors.BadSignature: 401,
    errors.Forbidden: 403,
    errors.Unknown: 404,
    MethodNotAllowed: 405,
    errors.Refused: 409,
    errors.TrackerTrouble: 409,
    errors.TooLarge: 413,
    UnknownCharset: 415,
    errors.InvalidInput: 422,
    errors.TooMany: 429,
    errors.BatonError: 500,
    errors.Conflict: 503,
    errors.Busy: 503,
    errors.TrackerAway: 503,
}


def status_of(error: errors.BatonError) -> int:
    """Returns the status of the nearest class in the table."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)
