"""The campaign tells the faults that it is for: each of them is put between it and the gateway."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, ClassVar

import pytest
from schemathesis.core.failures import FailureGroup

from baton.domain.access.metering import LEAST_REQUESTS
from baton.domain.access.principal import PrincipalKind
from baton.services.access.issue_token import TokenRequest, issue_token
from fuzz.campaign import Campaign
from fuzz.door import Door
from fuzz.premises import WHO, Premises
from support.worlds.operations import OPERATIONS

pytestmark = pytest.mark.soak  # the campaign leaves some of its bounds out
Answer = dict[str, Any]
BY_ID = {each.id: each for each in OPERATIONS}


class Faulty(Door):
    def answer(self, environ: dict[str, Any]) -> Answer:
        return self.spoilt(super().answer(environ))

    def spoilt(self, answer: Answer) -> Answer:
        raise NotImplementedError


class Failing(Faulty):
    def spoilt(self, answer: Answer) -> Answer:
        return answer | {"statusCode": 500} if answer["statusCode"] == 404 else answer


class Creative(Faulty):
    def spoilt(self, answer: Answer) -> Answer:
        return answer | {"statusCode": 206} if answer["statusCode"] == 200 else answer


class Plain(Faulty):
    def spoilt(self, answer: Answer) -> Answer:
        return answer | {"headers": {**answer["headers"], "Content-Type": "text/plain"}}


class Retelling(Faulty):
    """``told`` in place of what is so, or beside it."""

    told: ClassVar[dict[str, Any]]

    def spoilt(self, answer: Answer) -> Answer:
        if answer["statusCode"] != 200:
            return answer
        return answer | {"body": json.dumps(json.loads(answer["body"]) | self.told)}


class Wrong(Retelling):
    told: ClassVar = {"version": "1"}


class Talkative(Retelling):
    told: ClassVar = {"surprise": 1}


class Careless(Faulty):
    """Takes what is wrong."""

    def spoilt(self, answer: Answer) -> Answer:
        return self.gateway.handle(None, {}) | {"statusCode": 200} if answer["statusCode"] in {400, 422} else answer


class Strict(Faulty):
    """Takes nothing."""

    def spoilt(self, answer: Answer) -> Answer:
        return answer | {"statusCode": 400} if answer["statusCode"] == 200 else answer


class Open(Door):
    """Takes everybody for a human."""

    def answer(self, environ: dict[str, Any]) -> Answer:
        request = TokenRequest(kind=PrincipalKind.HUMAN, subject="door")
        token = issue_token(self.gateway.deps, WHO[PrincipalKind.HUMAN], request)[1]
        return super().answer({**environ, "HTTP_AUTHORIZATION": f"Bearer {token}"})


FAULTS: list[tuple[str, type[Door], str]] = [
    ("get_agent", Failing, "ServerError"),
    ("get_agent", Creative, "UndefinedStatusCode"),
    ("get_agent", Plain, "UndefinedContentType"),
    ("get_agent", Wrong, "JsonSchemaError"),
    ("get_agent", Talkative, "Undeclared"),
    ("cancel", Careless, "AcceptedNegativeData"),
    ("approve_several", Strict, "RejectedPositiveData"),
    ("get_agent", Open, "IgnoredAuth"),
]


@pytest.mark.parametrize(("operation", "door", "kind"), FAULTS, ids=lambda each: getattr(each, "__name__", str(each)))
def test_fault_is_told(operation: str, door: type[Door], kind: str) -> None:
    spoilt = Campaign(lambda through: door(through.gateway), shrinks=False)
    with pytest.raises(FailureGroup) as failures:
        spoilt.try_alone(BY_ID[operation])
    assert kind in {type(each).__name__ for each in failures.value.exceptions}


def test_route_that_reads_less_than_documented_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt = Campaign(shrinks=False)
    parameter = {"name": "surprise", "in": "query", "schema": {"type": "string", "const": "1"}}
    operation = spoilt.schema.raw_schema["paths"]["/agents"]["get"]
    monkeypatch.setitem(operation, "parameters", [*operation["parameters"], parameter])
    with pytest.raises(FailureGroup) as failures:
        spoilt.try_alone(BY_ID["list_agents"])
    assert {type(each).__name__ for each in failures.value.exceptions} == {"TooStrict"}


def test_fault_that_takes_what_was_made_before_is_told() -> None:
    known = set(Premises().ids)

    class Forgetful(Faulty):
        """Fails for the tokens that it made, and not for those that were there."""

        def spoilt(self, answer: Answer) -> Answer:
            token = json.loads(answer.get("body", "{}"))
            is_ours = answer["statusCode"] == HTTPStatus.OK and token.get("revoked_at") and token["id"] not in known
            return answer | {"statusCode": 500} if is_ours else answer

    with pytest.raises(FailureGroup) as failures:
        # Ids are drawn anew in each run, and few sequences revoke what they made: it ends with the first that does.
        Campaign(lambda through: Forgetful(through.gateway), shrinks=False).try_together(below="/tokens", sequences=200)
    assert "ServerError" in {type(each).__name__ for each in failures.value.exceptions}


def test_example_does_not_pay_for_what_those_before_it_asked_for() -> None:
    premises = Premises()
    by, least = WHO[PrincipalKind.SERVICE], {"requests_per_minute": LEAST_REQUESTS}
    assert premises.gateway.put(WHO[PrincipalKind.HUMAN], "/workspace/settings", least).status == HTTPStatus.OK
    asked = [premises.gateway.get(by, "/agents").status for _ in range(LEAST_REQUESTS + 1)]
    assert asked[-1] == HTTPStatus.TOO_MANY_REQUESTS
    premises.restore()
    assert premises.gateway.get(by, "/agents").status == HTTPStatus.OK
