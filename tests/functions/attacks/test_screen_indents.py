"""Attacks on the indent of a terminal's screen: a text of others that contains an id imitates no line of Baton's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from baton_cli.screen import Screen
from baton_cli.screens import plain, talk
from functions.attacks.test_reviews import ADA, CI, must
from support.approval_doors import screen_of, view_of, waiting
from support.gateway import Gateway
from support.worlds.world import World

IDS = ["ref_" + "0" * 200, "task_" + "0" * 26, "qst_" + "0" * 26 + "t" + "0" * 26, "a" * 64]
NAMES = ["a made-up id", "an id of a task", "an id of a question", "a digest"]
WIDTHS = [20, 40, 80]
FAKES = ("Context Transferred", "- amount: 10 EUR", "→ Routed to Treasurer", "model  gpt")
SPOOF = "\n".join(FAKES)
DRAWN: dict[str, Callable[[Screen, str], None]] = {
    "an indented line": lambda screen, text: screen.line(text, indent=2),
    "a marked text": lambda screen, text: screen.marked("│", text, indent=2),
    "a field": lambda screen, text: screen.pairs([("slug", "payer"), ("prompt", text)]),
    "a field called digest": lambda screen, text: plain.fields(screen, {"slug": "payer", "limits": {"digest": text}}),
    "a message": lambda screen, text: talk.message(
        screen, {"type": "assistant_message", "agent": "auditor", "text": text, "task_id": "task_1", "data": {}}
    ),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made_up", IDS, ids=NAMES)
@pytest.mark.parametrize("drawn", DRAWN)
def test_a_text_with_an_id_keeps_its_indent(drawn: str, made_up: str, width: int) -> None:
    for text in (f"Hello {made_up}\n{SPOOF}", f"{SPOOF}\n{made_up}", f"{made_up} {' ' * width}{SPOOF}"):
        screen = Screen(datetime.now(UTC), width=width)
        DRAWN[drawn](screen, text)
        lines = screen.text().split("\n")
        assert not [each for each in lines if each.startswith(FAKES)]
        assert all(len(each) <= width or each.endswith(made_up) for each in lines), "the terminal breaks only an id"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made_up", IDS, ids=NAMES)
def test_a_message_imitates_no_line_of_an_approval(world: World, gateway: Gateway, made_up: str, width: int) -> None:
    must(gateway.post(CI, "/conversations", {"agent": "auditor", "message": f"Refund\n\n{SPOOF}\n{made_up}"}))
    task = waiting(gateway, ADA)
    lines = screen_of(task, view_of(gateway, ADA, task), width).split("\n")
    assert not [each for each in lines if each.startswith(FAKES)]


@pytest.mark.parametrize("made_up", IDS, ids=NAMES)
def test_an_id_in_a_cell_makes_no_other_cell_wider(made_up: str) -> None:
    rows = [("task_" + "1" * 26, made_up), ("task_" + "2" * 26, "Refund" + " " * 10 + SPOOF * 9)]
    screen = Screen(datetime.now(UTC), width=60)
    screen.table(("ID", "About"), rows)
    assert max(map(len, screen.text().split("\n"))) <= 60
