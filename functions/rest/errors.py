"""The refusals that the HTTP edge makes, and the table that gives every refusal its HTTP status."""

from __future__ import annotations

from collections.abc import Iterable

from baton.domain.errors import (
    BadSignature,
    BatonError,
    Busy,
    Conflict,
    Forbidden,
    InvalidInput,
    Refused,
    TooLarge,
    TooMany,
    TrackerAway,
    TrackerTrouble,
    Unknown,
)


class MalformedJson(InvalidInput):
    """The body isn't JSON that Baton takes: one object, UTF-8, unambiguous, within the store's limits."""

    code = "malformed_json"


class MalformedYaml(MalformedJson):
    """The same for a YAML body, where a route takes one."""

    code = "malformed_yaml"


class InvalidFields(InvalidInput):
    """All problems of a body or a query at once. ``errors``: (field, message), at least one."""

    def __init__(self, errors: Iterable[tuple[str, str]]) -> None:
        listed = [{"field": field, "message": message} for field, message in errors]
        super().__init__(listed[0]["field"], listed[0]["message"])
        self.fields["errors"] = listed


class NotAuthenticated(BatonError):
    """Only seen if a route is deployed without the authorizer: the gateway itself refuses bad credentials."""

    code = "not_authenticated"

    def __init__(self) -> None:
        super().__init__("A bearer token is needed.")


class UnknownRoute(Unknown):
    def __init__(self) -> None:
        super().__init__("route")


class MethodNotAllowed(BatonError):
    code = "method_not_allowed"

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"This path takes {self.allowed}.")


STATUSES: dict[type[BatonError], int] = {
    MalformedJson: 400,
    NotAuthenticated: 401,
    BadSignature: 401,
    Forbidden: 403,
    Unknown: 404,
    MethodNotAllowed: 405,
    Refused: 409,
    TrackerTrouble: 409,
    TooLarge: 413,
    InvalidInput: 422,
    TooMany: 429,
    BatonError: 500,
    Conflict: 503,
    Busy: 503,
    TrackerAway: 503,
}


def status_of(error: BatonError) -> int:
    """Returns the status of the nearest class in the table."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)
