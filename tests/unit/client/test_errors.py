"""The client's errors against Baton's own."""

from __future__ import annotations

from collections.abc import Iterator

from baton.domain import errors
from baton_client.errors import BY_CODE, Refused, refusal
from rest.errors import status_of


def test_each_code_is_batons_and_under_batons_status() -> None:
    statuses = {each.code: status_of(each.__new__(each)) for each in every(errors.BatonError)}
    for code, kind in BY_CODE.items():
        assert type(refusal(statuses[code], {"code": code})) is kind


def test_a_problem_of_wrong_types_is_still_a_refusal() -> None:
    found = refusal(422, {"code": 3, "title": None, "errors": "no", "criteria": 4, "detail": ["x"]})
    assert isinstance(found, Refused)
    assert found.errors == []


def every(kind: type[errors.BatonError]) -> Iterator[type[errors.BatonError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from every(each)
