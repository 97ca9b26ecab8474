"""What agents take, what they lack for a task, and who could take it."""

from __future__ import annotations

import pytest

from baton.domain.agents.agent import Roster, requirements
from baton.domain.errors import CapabilityMismatch
from support.values.tasks import an_agent
from support.worlds.team import Team
from support.worlds.world import agent

REQUIRES = ("accepts:code", "accepts:tests", "produces:report")


def test_requirements_are_spelt_with_what_is_asked_of_a_type() -> None:
    assert requirements(["code", " tests ", "code"], ["report"]) == REQUIRES


@pytest.mark.parametrize(
    ("accepts", "produces", "lacking"),
    [
        (("code", "tests"), ("report",), ()),
        (("tests", "code", "more"), ("report", "more"), ()),
        (("code",), ("report",), ("accepts:tests",)),
        (("code", "tests"), (), ("produces:report",)),
        ((), ("report",), ("accepts:code", "accepts:tests")),
        (("report",), ("code", "tests"), REQUIRES),
        (("Code", "tests"), ("report",), ("accepts:code",)),
        ((), (), ()),
    ],
)
def test_an_agent_lacks_what_it_does_not_declare_unless_it_declares_nothing_at_all(
    accepts: tuple[str, ...], produces: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    assert an_agent(accepts=accepts, produces=produces).lacks(REQUIRES) == lacking


def test_what_is_lacking_is_told_once_and_in_order() -> None:
    agent = an_agent(accepts=("other",))
    assert agent.lacks(["produces:b", "accepts:a", "produces:b"]) == ("produces:b", "accepts:a")


def test_nobody_lacks_anything_where_nothing_is_required() -> None:
    assert an_agent(accepts=("code",)).lacks([]) == ()


def test_types_that_look_alike_in_unicode_are_the_same_type() -> None:
    assert an_agent(accepts=("Zo\u00e9",)).lacks(requirements(["Zoe\u0301"], [])) == ()
    assert an_agent(accepts=("Zoe\u0301",)).lacks(["accepts:Zo\u00e9"]) == ()


@pytest.mark.parametrize(
    ("accepts", "produces", "match"),
    [
        (("code", "tests"), ("report",), 1.0),
        (("code", "tests"), (), 2 / 3),
        ((), ("report", "code"), 1 / 3),
        (("else",), (), 0.0),
        ((), (), 0.5),
    ],
)
def test_a_match_is_the_share_that_is_declared(
    accepts: tuple[str, ...], produces: tuple[str, ...], match: float
) -> None:
    agent = an_agent(accepts=accepts, produces=produces)
    assert agent.match([*REQUIRES, REQUIRES[0]]) == match
    assert agent.match([]) == 1.0


def test_who_is_able_is_told_with_those_that_declare_it_first() -> None:
    roster = Roster(
        (
            an_agent("any"),
            an_agent("gone", accepts=("code",), active=False),
            an_agent("less", accepts=("tests",)),
            an_agent("maker", accepts=("code", "tests")),
            an_agent("asker", accepts=("code",)),
            an_agent("also-any"),
        )
    )
    found = roster.able(["accepts:code"], besides="asker")
    assert [agent.slug for agent in found] == ["maker", "also-any", "any"]
    assert [agent.slug for agent in roster.able([])] == ["also-any", "any", "asker", "less", "maker"]
    assert roster.able(["accepts:code"], besides=None)[0].slug == "asker"
    assert Roster().able(["accepts:code"]) == ()


def test_a_part_of_a_split_goes_to_nobody_who_cant_do_it_and_is_its_askers_still() -> None:
    team = Team("anna")
    team.register("mia", approval="manual", produces=("report",))
    whole = team.ask("mia", by=agent("anna")).task
    wanted = {"expectations": {"deliverables": [{"type": "code", "description": "it"}]}}
    with pytest.raises(CapabilityMismatch):
        team.split(whole.id, {"summary": "one"}, {"summary": "two", **wanted})
    assert team.task(whole.id).state == "needs"
    parts = team.split(whole.id, {"summary": "one"}, {"summary": "two"})
    assert {each.task.created_by for each in parts} == {"agent:anna"}
