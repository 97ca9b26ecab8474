"""What anybody may send, where no token is asked for: its size is looked at first, then the address, then what it
says; and none of it costs much."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from baton.domain.canonical_json import canonical_json
from baton.domain.errors import InvalidInput
from baton.domain.numbers import fingerprint
from rest.strict_json import MAX_BYTES, read_json
from support.faults.cpu import MOST_SECONDS, least_seconds
from support.faults.soak import crossed
from support.gateway import Gateway
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World
from tools.bench.worst import HUGE, SHAPES

SEAL = "a" * 64
ADDRESSES = {"callback": f"/callbacks/bm9i.{SEAL}", "webhook": f"/notion/webhook/acme.{SEAL}"}
BODIES: dict[str, Callable[[int], bytes]] = {**SHAPES, "blanks": lambda size: b" " * size}


@pytest.mark.parametrize(("name", "form", "address"), crossed(list(BODIES), ["base64", "text"], list(ADDRESSES)))
def test_a_body_of_megabytes_is_refused_for_its_size_at_once(
    world: World, gateway: Gateway, name: str, form: str, address: str
) -> None:
    body, address, encoded = BODIES[name](HUGE), ADDRESSES[address], form == "base64"
    took, reply = least_seconds(lambda: gateway.send(None, "POST", address, body if encoded else body.decode()))
    assert (reply.status, reply.code) == (413, "too_large")
    assert took < MOST_SECONDS


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"a": NaN}', b"[" * 1_000, b'{"a": 1, "a": 1}'])
def test_nothing_is_read_of_what_comes_to_an_address_that_is_not_ours(
    world: World, gateway: Gateway, body: bytes, address: str
) -> None:
    reply = gateway.send(None, "POST", address, body)
    assert (reply.status, reply.code) == (404, "not_found")


@pytest.mark.parametrize("name", BODIES)
def test_what_just_fits_is_read_and_made_ready_to_be_kept_at_little_cost(name: str) -> None:
    body = BODIES[name](MAX_BYTES - 20)

    def read_and_prepared() -> None:
        with suppress(InvalidInput):
            read = read_json(body, any_value=True)
            fingerprint(read.value)
            canonical_json(read.value)

    took, _ = least_seconds(read_and_prepared)
    assert took < MOST_SECONDS


def test_a_callback_is_kept_with_its_numbers_as_they_were_written(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    asked = http_agents.say(claim, "wait-callback", interaction_id="review")
    address = asked.json["callback"]["url"].removeprefix("https://baton.example")
    body = "[" + "1e15," * 40_000 + "-0, 0.10, 12345678901234567890.123456789012345678]"
    assert http_agents.gateway.send(None, "POST", address, body).status == 200
    assert http_agents.gateway.send(None, "POST", address, body).status == 200
    other: Any = body.replace("0.10", "0.11")
    assert http_agents.gateway.send(None, "POST", address, other).code == "callback_used"
