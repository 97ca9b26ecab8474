"""A person hands work off in their own name."""

from __future__ import annotations

import json

import pytest

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Right
from functions.cli.conftest import Terminal
from support.worlds.world import agent, person, service

MEL = person(Right.MEMBER, "mel")


def test_a_person_hands_off_in_their_own_name(terminal: Terminal) -> None:
    terminal.sit(MEL)
    made = terminal.json("handoff", "create", "--to", "auto-code", "--reason", "Build it")
    assert made["task"]["source_agent"] == "human:mel"


def test_the_doctor_names_the_person_and_their_right(terminal: Terminal) -> None:
    terminal.sit(MEL)
    checks = {each["about"]: each["said"] for each in json.loads(terminal.runs("doctor", "--json")[1])["checks"]}
    assert "mel, right member" in checks["token"]


def test_a_named_source_stays_the_source(terminal: Terminal) -> None:
    made = terminal.json("handoff", "create", "--to", "auto-code", "--reason", "Build it", "--from", "qa")
    assert made["task"]["source_agent"] == "qa"
    data = '{"source": {"agent": "qa"}}'
    made = terminal.json("handoff", "create", "--to", "auto-code", "--reason", "Build it", "--data", data)
    assert made["task"]["source_agent"] == "qa"


@pytest.mark.parametrize(("by", "source"), [(agent("qa"), "qa"), (service(), "service:ci")])
def test_agents_and_services_hand_off_as_themselves(terminal: Terminal, by: Principal, source: str) -> None:
    terminal.sit(by)
    made = terminal.json("handoff", "create", "--to", "auto-code", "--reason", "Build it")
    assert made["task"]["source_agent"] == source


def test_a_person_who_names_an_agent_learns_to_hand_off_in_their_own_name(terminal: Terminal) -> None:
    terminal.sit(MEL)
    code, _, err = terminal.runs("handoff", "create", "--from", "qa", "--to", "auto-code", "--reason", "Build it")
    assert code == 4
    assert "scope_required" in err
    assert "in your own name" in err
    assert "tokens create" not in err
