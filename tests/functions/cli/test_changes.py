"""The administrators' view of changes of the workspace, and the texts that they copy from the screen."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from baton.services.tracker.set_tracker_token import set_tracker_token
from functions.cli.conftest import Terminal
from support.worlds.world import person

ANN, BEN = person(Right.ADMINISTRATOR, "ann"), person(Right.ADMINISTRATOR, "ben")
CY = ("tokens", "create", "--kind", "human", "--for", "cy", "--right", "administrator")


@pytest.fixture(autouse=True)
def narrow(terminal: Terminal) -> None:
    terminal.monkeypatch.setenv("COLUMNS", "80")
    terminal.sit(ANN)


def lines(screen: str) -> list[str]:
    return [each.strip() for each in screen.splitlines()]


def two_administrators(terminal: Terminal) -> None:
    for name in ("ann", "ben"):
        terminal.json(
            "tokens", "create", "--kind", "human", "--for", name, "--right", "administrator", "--expires", "9d"
        )
        if terminal.json("changes", "list", "--state", "pending")["items"]:
            pending = terminal.json("changes", "list", "--state", "pending")["items"][0]
            terminal.sit(BEN)
            terminal.json("changes", "approve", pending["id"], "--digest", pending["digest"])
            terminal.sit(ANN)


def test_a_new_token_stands_alone_on_one_line(terminal: Terminal) -> None:
    drawn = terminal.screen("tokens", "create", "--kind", "human", "--for", "mel", "--right", "member")
    (token,) = [each for each in drawn.splitlines() if each.startswith("baton_")]
    assert len(token) > 80
    terminal.monkeypatch.setenv("BATON_TOKEN", token)
    assert terminal.json("tasks", "list")["items"] == []
    assert "baton init" in drawn


@pytest.mark.parametrize(("asked", "shown"), [("90d", "in 90d"), ("7d", "in 7d"), ("1h", "in 1h"), ("10m", "in 10m")])
def test_a_time_is_shown_as_it_was_asked(terminal: Terminal, asked: str, shown: str) -> None:
    token = ("tokens", "create", "--kind", "human", "--for", "mel", "--right", "member", "--expires", asked)
    made = terminal.json(*token)
    assert made["expires_at"]
    terminal.world.clock.advance(3)
    (row,) = [each for each in terminal.screen("tokens", "list").splitlines() if " mel " in each]
    assert shown in row


def pending(terminal: Terminal) -> dict[str, Any]:
    two_administrators(terminal)
    made: dict[str, Any] = terminal.json(*CY)
    assert made["state"] == "pending"
    return made


def test_the_approval_that_a_pending_change_needs_is_one_line(terminal: Terminal) -> None:
    two_administrators(terminal)
    drawn = terminal.screen(*CY)
    change = terminal.json("changes", "list", "--state", "pending")["items"][0]
    command = f"baton changes approve {change['id']} --digest {change['digest']}"
    assert command in drawn
    shown = terminal.screen("changes", "show", change["id"])
    assert command in shown
    assert "human:ann asks to issue a token to human:cy" in shown


def test_an_approved_token_is_repeated_by_its_asker(terminal: Terminal) -> None:
    change = pending(terminal)
    terminal.sit(BEN)
    approved = terminal.screen("changes", "approve", change["id"], "--digest", change["digest"])
    shown = terminal.screen("changes", "show", change["id"])
    repeat = f"baton tokens create --kind human --for cy --right administrator --change {change['id']}"
    for drawn in (approved, shown):
        assert "human:ann repeats the request" in " ".join(drawn.split())
        assert repeat in drawn
    terminal.sit(ANN)
    drawn = terminal.screen(*repeat.split()[1:])
    assert any(each.startswith("baton_") for each in drawn.splitlines())


def test_the_repeated_request_has_the_time_that_was_approved(terminal: Terminal) -> None:
    two_administrators(terminal)
    change = terminal.json(*CY, "--expires", "90d")
    terminal.sit(BEN)
    terminal.json("changes", "approve", change["id"], "--digest", change["digest"])
    terminal.sit(ANN)
    terminal.world.clock.advance(60)
    drawn = terminal.screen("changes", "show", change["id"])
    (repeat,) = [each for each in lines(drawn) if each.startswith("baton tokens create")]
    assert terminal.json(*repeat.split()[1:])["token"]


def test_a_revocation_is_named_as_one(terminal: Terminal) -> None:
    token = terminal.json("tokens", "create", "--kind", "human", "--for", "mel", "--right", "member")["id"]
    terminal.json("tokens", "revoke", token)
    change = terminal.json("changes", "list", "--subject", "tokens")["items"][0]
    assert f"human:ann revokes the token {token} of human:mel" in terminal.screen("changes", "show", change["id"])


def test_a_new_token_of_the_tracker_is_named_as_one(terminal: Terminal) -> None:
    for verb in ("adds", "changes"):
        terminal.world.clock.advance(1)
        set_tracker_token(terminal.world.deps, ANN, f"ntn_{verb}")
        change = terminal.json("changes", "list", "--subject", "tracker")["items"][0]
        assert f"human:ann {verb} the tracker token" in terminal.screen("changes", "show", change["id"])


def test_changes_of_a_person_are_found_by_their_name(terminal: Terminal) -> None:
    terminal.json("tokens", "create", "--kind", "human", "--for", "mel", "--right", "member")
    for name in ("mel", "human:mel"):
        assert [each["names"] for each in terminal.json("changes", "list", "--name", name)["items"]] == [["human:mel"]]
