"""Tokens of callers. Each principal has one, whose id and secret follow from its name."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Right
from baton.domain.access.token import Token, credentials_from, digest, spell
from baton.domain.canonical_json import canonical_json
from baton.ports.deps import Deps
from baton.services.access.authenticate import admit
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo


@cache
def token_of(by: Principal) -> Token:
    return Token(
        id=_drawn(by)[:26],
        workspace=by.workspace,
        kind=by.kind,
        subject=by.id,
        scopes=by.scopes,
        digest=digest(_secret(by)),
        created_at=NOON,
        created_by="human:alice",
        right=by.right,
    )


@cache
def bearer(by: Principal) -> str:
    """The header of the principal's requests."""
    return f"Bearer {spell(token_of(by).id, _secret(by))}"


def give_token(dynamo: FakeDynamo, by: Principal) -> None:
    """Puts the principal's token where the functions look for it, and into no list. A token that is there stays, as a
    test may have revoked it."""
    if dynamo.item(given_key(by)) is None:
        dynamo.put(_item(by))


def list_token(dynamo: FakeDynamo, by: Principal) -> tuple[str, str]:
    """Also puts a human's token into the lists of the workspace, so that the human has a right. Returns its key."""
    token = token_of(by)
    listed = items.listed_token_item(token)
    dynamo.put(to_wire(listed))
    people = keys.people(by.workspace)
    if (item := dynamo.item((people.pk, people.sk))) is not None:
        known = json.loads(item["tokens"]["S"])
        known[by.id] = sorted({*known.get(by.id, ()), token.id})
        dynamo.put({**item, "tokens": {"S": canonical_json(known)}})
    return listed["pk"], listed["sk"]


def who(deps: Deps, header: str) -> Principal | None:
    """Returns the principal that the header admits, as a request without effects would; None if it admits nobody."""
    try:
        return admit(deps, credentials_from(header))[1]
    except errors.TokenRefused:
        return None


def raise_config_version(dynamo: FakeDynamo, workspace: str) -> None:
    """Raises the version as every write of an agent, of the settings or of a revocation does."""
    for shard in range(keys.CONFIG_SHARDS):
        key = keys.config_version(workspace, shard)
        item = dynamo.item((key.pk, key.sk)) or to_wire({**key._asdict(), "version": 0})
        dynamo.put({**item, "version": {"N": str(int(item["version"]["N"]) + 1)}})


def given_key(by: Principal) -> tuple[str, str]:
    key = keys.token(token_of(by).id)
    return key.pk, key.sk


def is_given(key: tuple[str, str]) -> bool:
    """True for the key of a token that ``give_token`` may have put there, or of any other token."""
    return key[1] == "TOKEN" and key[0].startswith("TOKEN#")


@cache
def _item(by: Principal) -> dict[str, Any]:
    return to_wire(items.token_item(token_of(by)))


def _secret(by: Principal) -> str:
    return sha256(f"secret {_drawn(by)}".encode()).hexdigest()


def _lowered(by: Principal) -> tuple[str, ...]:
    return (str(by.right),) if by.right in {Right.READER, Right.MEMBER} else ()


def _drawn(by: Principal) -> str:
    return sha256(repr((by.workspace, by.kind.value, by.id, sorted(by.scopes), *_lowered(by))).encode()).hexdigest()
