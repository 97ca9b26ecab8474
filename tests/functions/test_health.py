"""Whether Baton works, as a canary asks it. A stranger learns nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from support.fakes.fake_dynamo import refusal
from support.gateway import Gateway
from support.worlds.rig import Rig

TROUBLES = {
    "throttled": refusal("ThrottlingException", "get_item"),
    "silent": ReadTimeoutError(endpoint_url="http://127.0.0.1/"),
    "gone": refusal("ResourceNotFoundException", "get_item", message="Table: secret-name not found"),
    "forbidden": refusal("AccessDeniedException", "get_item", message="arn:aws:iam::123456789012:role/secret-name"),
}


@pytest.fixture
def rig() -> Rig:
    return Rig().settle()


@pytest.fixture
def gateway(rig: Rig) -> Gateway:
    return Gateway(rig.world.deps)


def broken(rig: Rig, trouble: Exception) -> None:
    class Broken:
        def __getattr__(self, _operation: str) -> Any:
            def call(**_: Any) -> Any:
                raise trouble

            return call

    rig.choked.client = Broken()


class Heard:
    """Remembers what is asked of a client."""

    def __init__(self, client: Any) -> None:
        self.client, self.asked = client, list[tuple[str, Any]]()

    def __getattr__(self, operation: str) -> Any:
        def call(**request: Any) -> Any:
            self.asked.append((operation, request.get("ConsistentRead")))
            return getattr(self.client, operation)(**request)

        return call


@pytest.mark.parametrize("deep", ["1", "true"])
def test_a_deep_look_is_one_consistent_read(rig: Rig, gateway: Gateway, deep: str) -> None:
    rig.choked.client = heard = Heard(rig.raw)
    reply = gateway.send(None, "GET", "/healthz", query=f"deep={deep}")
    assert (reply.status, reply.json) == (200, {"status": "ok"})
    assert heard.asked == [("get_item", True)]


def test_a_look_at_the_surface_reads_nothing(rig: Rig, gateway: Gateway) -> None:
    broken(rig, TROUBLES["gone"])
    reply = gateway.send(None, "GET", "/healthz")
    assert (reply.status, reply.json) == (200, {"status": "ok"})


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_table_that_cannot_be_read_is_a_503_that_tells_nothing_else(rig: Rig, gateway: Gateway, trouble: str) -> None:
    broken(rig, TROUBLES[trouble])
    reply = gateway.send(None, "GET", "/healthz", query="deep=1")
    assert (reply.status, reply.code) == (503, "busy")
    assert "Retry-After" in reply.headers
    assert "secret-name" not in str(reply.json)
    assert "table" not in str(reply.json).lower()


@pytest.mark.parametrize(
    "query", ["deep=0", "deep=false", "deep=yes", "deep=", "deep=1&deep=1", "deeper=1", "deep=1&x=2"]
)
def test_any_other_query_is_refused(rig: Rig, gateway: Gateway, query: str) -> None:
    refused: list[int] = []
    calls = rig.count(lambda: refused.append(gateway.send(None, "GET", "/healthz", query=query).status))
    assert (refused, calls) == ([422], [])
