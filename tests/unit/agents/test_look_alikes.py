"""Two agents have no names that a person can't tell apart."""

from __future__ import annotations

import pytest

from baton.domain.errors import InvalidInput, NameTaken
from baton.services.agents.register_agent import register_agent
from support.worlds.world import World, human, service

MIXED = ["V\u0430ult", "V\u03b1ult", "review\u0435r", "ID \u0421ode"]
READABLE = [
    "Vault",
    "\u0410\u0433\u0435\u043d\u0442",
    "API \u0410\u0433\u0435\u043d\u0442",
    "\u65e5\u672c\u8a9e Bot",
    "Größe 10 µm",
]


@pytest.mark.parametrize("field", ["name", "aliases"])
@pytest.mark.parametrize("name", [*MIXED, "Va\u3164ult", "Vault\ufe01", "Va\u00adult"])
def test_a_name_that_mixes_alphabets_or_hides_characters_is_refused(world: World, field: str, name: str) -> None:
    for by in (human(), service()):
        with pytest.raises(InvalidInput) as refused:
            register_agent(world.deps, by, "vault-2", {field: name if field == "name" else (name,)})
        assert refused.value.field == field


@pytest.mark.parametrize("name", READABLE)
def test_a_name_in_one_alphabet_a_word_is_taken(world: World, name: str) -> None:
    register_agent(world.deps, human(), "one", {"name": name})
    found = world.deps.store.agents.agent("acme", "one")
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("other", ["\u0421\u041e\u0420", "C0P"])
def test_a_name_that_looks_like_anothers_is_taken_already(world: World, other: str) -> None:
    register_agent(world.deps, human(), "police", {"name": "COP"})
    with pytest.raises(NameTaken):
        register_agent(world.deps, service(), "other", {"name": other})
    with pytest.raises(NameTaken):
        register_agent(world.deps, human(), "other", {"aliases": (other,)})
    register_agent(world.deps, human(), "police", {"aliases": (other,)})


def test_names_that_differ_to_the_eye_stay_apart(world: World) -> None:
    for slug, name in (("one", "COP"), ("two", "Cop"), ("three", "CUP")):
        register_agent(world.deps, human(), slug, {"name": name})
