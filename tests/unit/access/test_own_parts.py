"""Baton's own parts keep their names to themselves: a trail that says "sweeper" means the sweeper."""

from __future__ import annotations

import pytest

from baton.domain.access.principal import OWN_PARTS, PrincipalKind
from baton.domain.errors import InvalidInput
from baton.services.access.issue_token import TokenRequest, issue_token
from support.worlds.world import World, human


@pytest.mark.parametrize("name", sorted(OWN_PARTS))
def test_no_service_token_is_made_in_the_name_of_a_part_of_baton(world: World, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        issue_token(world.deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject=name))
    assert refused.value.field == "subject"
    assert world.store.tokens.listed("acme", 10, None).items == ()


def test_others_may_be_called_nearly_the_same(world: World) -> None:
    token, _ = issue_token(world.deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject="sweeper-2"))
    assert token.subject == "sweeper-2"
