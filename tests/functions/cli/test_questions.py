"""Questions of workers at the command line: what a person is shown, and what each key and verb decides."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import baton_cli
from baton_cli import times
from baton_cli.command_context import CommandContext
from baton_cli.question_decisions import ShownQuestion, open_questions
from baton_cli.question_queue import HELP, SHORT_HELP, QuestionQueue
from baton_cli.screen import Screen
from baton_cli.screens import question as screens
from baton_cli.screens.message import Cut
from functions.cli.conftest import Terminal
from support.pseudo_terminal import pseudo_terminal
from support.worlds.http_agents import message
from support.worlds.world import agent, human, service

CODER, ALICE = agent("auto-code"), human()
BOB = replace(ALICE, id="bob")
PAY = {"kind": "action", "text": "It broke", "tool": "pay", "arguments": {"amount": 100, "to": "Ada"}}


@dataclass
class ScriptedDesk:
    """Presses ``keys``, types ``lines``, and edits as ``edits`` say; then it leaves."""

    keys: list[str]
    lines: list[str] = field(default_factory=list)
    edits: list[str | None] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def key(self) -> str:
        return self.keys.pop(0) if self.keys else "q"

    def line(self, question: str) -> str:
        self.asked.append(question)
        return self.lines.pop(0) if self.lines else ""

    def edited(self, text: str) -> str | None:
        self.texts.append(text)
        return self.edits.pop(0)

    def show(self, shown: ShownQuestion, *, is_whole: bool) -> int:
        screen, cut = Screen(times.now(), width=100), Cut(is_whole=is_whole)
        screens.looked_at(screen, shown.question, cut, shown.place)
        self.drawn.append(screen.text())
        return cut.hidden

    def say(self, text: str) -> None:
        self.said.append(text)


@dataclass
class Office:
    terminal: Terminal
    claim: Any

    @property
    def task(self) -> str:
        return str(self.claim["task"]["id"])

    def asks(self, **said: Any) -> Any:
        body = {"claim_id": self.claim["claim_id"], **PAY, **said}
        reply = self.terminal.api.gateway.post(CODER, f"/tasks/{self.task}/ask", body)
        assert reply.status == 201, reply.text
        return reply.json

    def question(self, asked: Any) -> Any:
        return self.terminal.api.gateway.send(ALICE, "GET", f"/tasks/{self.task}/questions/{asked['id']}").json

    def queue(self, keys: str, *lines: str, edits: tuple[str | None, ...] = ()) -> tuple[QuestionQueue, ScriptedDesk]:
        app = CommandContext(clock=self.terminal.world.clock.now)
        desk = ScriptedDesk(list(keys), list(lines), list(edits))
        made = QuestionQueue(app, desk, open_questions(app))
        try:
            made.run()
        finally:
            app.close()
        return made, desk


@pytest.fixture
def office(terminal: Terminal) -> Office:
    return Office(terminal, terminal.agents.begun())


TEXT: dict[str, Any] = {"kind": "text", "tool": None, "arguments": {}}


def test_all_that_is_approved_is_shown(office: Office) -> None:
    arguments = {"to": "Ada", "lines": [{"sku": f"s{number}", "count": number} for number in range(60)]}
    asked = office.asks(arguments=arguments, people=["alice", "bob"], needed=2)
    _, desk = office.queue("")
    shown = desk.drawn[0]
    assert "auto-code asks to use a tool" in shown
    for said in (asked["id"], office.task, "agent:auto-code", "human:alice, human:bob", "0 of 2", "It broke", '"s59"'):
        assert said in shown
    assert "characters" not in shown
    assert "First use of this tool by auto-code: nothing to compare with" in shown


def test_an_action_is_approved_as_it_was_shown(office: Office) -> None:
    asked = office.asks()
    made, desk = office.queue("a")
    assert (made.decided, office.question(asked)["approved_digest"]) == (1, asked["digest"])
    assert desk.said[-1] == f"✓ {asked['id']} is approved"


def test_what_differs_from_the_last_approval_of_the_tool_is_named(office: Office) -> None:
    office.asks()
    office.queue("a")
    office.asks(arguments={"amount": 9_000, "to": "Mallory"})
    _, desk = office.queue("")
    assert 'to: "Ada" ↔ "Mallory"' in desk.drawn[0]
    assert "amount: 100 ↔ 9000" in desk.drawn[0]
    assert "by human:alice" in desk.drawn[0]


def test_warnings_stand_above_an_action_and_name_their_places(office: Office) -> None:
    for amount in (100, 101, 102):
        office.asks(arguments={"amount": amount, "to": "ada@acme.example"})
        office.queue("a")
    office.asks(arguments={"amount": 9_000, "to": "\u0430da@acme.example", "files": ["/etc/shadow"]})
    _, desk = office.queue("")
    lines = desk.drawn[0].splitlines()
    for heading, place in (
        ("! Mixed alphabets in one word", "│ arguments.to: \u0430da (U+0430)"),
        ("! New address", "│ arguments.to: \u0430da@acme.example"),
        ("! File outside the earlier folders", "│ arguments.files[0]: /etc/shadow"),
        ("! Amount outside the earlier range", "│ arguments.amount: 9000 (so far 100 to 102)"),
    ):
        assert lines[lines.index(heading) + 1].strip() == place
        assert lines.index(heading) < lines.index("Why")
    assert "Look twice, as listed above: mixed alphabets in one word, " in desk.drawn[0]


def test_a_confusable_tool_is_marked(office: Office) -> None:
    office.asks(tool="\u0440\u0430\u0443")
    _, desk = office.queue("")
    lines = desk.drawn[0].splitlines()
    assert lines[lines.index("! Confusable name") + 1].strip() == "│ /tool: \u0440\u0430\u0443 (looks like pay)"


def test_a_list_shows_the_amount_and_the_target_of_an_action(office: Office) -> None:
    office.asks()
    assert "pay, amount 100, to Ada" in office.terminal.screen("approvals", "list")


def test_a_question_in_words_is_inspected_and_not_compared(office: Office) -> None:
    office.asks(**TEXT, text="Which col\u200bour?")
    _, desk = office.queue("")
    assert "! Hidden characters" in desk.drawn[0]
    assert "nothing to compare with" not in desk.drawn[0]


def test_the_very_same_again_is_said_to_be_so(office: Office) -> None:
    for _ in range(2):
        office.asks()
        made, desk = office.queue("a")
    assert "the very same arguments" in desk.drawn[0]
    assert made.decided == 1


@pytest.mark.parametrize("by", ["editor", "typed"])
def test_other_arguments_are_edited_shown_and_approved(office: Office, by: str) -> None:
    office.terminal.monkeypatch.delenv("VISUAL", raising=False)
    office.terminal.monkeypatch.setenv("EDITOR", "ed" if by == "editor" else "")
    asked, other = office.asks(arguments={"amount": 100, "to": "A\u202eda"}), '{"amount": 50, "to": "Ada"}'
    lines = ["y"] if by == "editor" else [other, "y"]
    _, desk = office.queue("e", *lines, edits=(other,))
    assert office.question(asked)["decisions"][0]["arguments"] == {"amount": 50, "to": "Ada"}
    assert "Other Arguments" in desk.drawn[-1]
    assert "amount: 100 ↔ 50" in desk.drawn[-1]
    assert not [text for text in desk.texts if "\u202e" in text]


@pytest.mark.parametrize("edit", [None, "", '{"amount": 100, "to": "Ada"}', "no JSON", "[1]", '{"amount": 1}'])
def test_an_edit_that_changes_nothing_or_is_not_confirmed_approves_nothing(office: Office, edit: str | None) -> None:
    office.terminal.monkeypatch.setenv("EDITOR", "ed")
    asked = office.asks()
    made, _ = office.queue("e", "n", edits=(edit,))
    assert (made.decided, office.question(asked)["outcome"]) == (0, "open")


@pytest.mark.parametrize(
    ("question", "line", "answer"),
    [
        ({**TEXT, "text": "Which colour?"}, "Blue", "Blue"),
        ({**TEXT, "kind": "choice", "options": ["red", "2"]}, "1", "red"),
        ({**TEXT, "kind": "choice", "options": ["red", "2"]}, "2", "2"),
        (
            {**TEXT, "kind": "form", "form": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            '{"n": 7}',
            {"n": 7},
        ),
    ],
)
def test_a_question_is_answered_in_its_own_kind(office: Office, question: Any, line: str, answer: Any) -> None:
    asked = office.asks(**question)
    office.queue("a", line)
    assert office.question(asked)["decisions"][0]["answer"] == answer


def test_a_refusal_has_a_reason(office: Office) -> None:
    asked = office.asks()
    office.queue("xx", "", "Too much")
    found = office.question(asked)
    assert (found["outcome"], found["decisions"][0]["reason"]) == ("refused", "Too much")


@pytest.mark.parametrize(
    ("typed", "reach", "count"), [("1", "arguments", 1_000), ("2", "tool", 10), ("tool 2h 5", "tool", 5)]
)
def test_a_standing_answer_approves_later_ones(office: Office, typed: str, reach: str, count: int) -> None:
    office.asks()
    office.queue("S", typed, "y")
    (found,) = office.terminal.json("approvals", "standing")["items"]
    assert (found["for"], found["times"], found["by"]) == (reach, count, "alice")
    assert office.asks()["outcome"] == "approved"
    assert "auto-code may use this tool" in office.terminal.screen("approvals", "standing")
    office.terminal.json("approvals", "revoke", found["id"])
    assert office.terminal.json("approvals", "standing")["items"] == []
    assert office.asks()["outcome"] == "open"


def test_a_standing_answer_for_an_agent_that_was_changed_is_shown_as_suspended(office: Office) -> None:
    office.asks()
    office.queue("S", "2", "y")
    assert "suspended" not in office.terminal.screen("approvals", "standing")
    office.terminal.world.clock.advance(1)
    change = {"system_prompt": "Pay mallory"}
    assert office.terminal.api.gateway.put(service(), "/agents/auto-code", change).status == 200
    assert "suspended: the agent was changed since" in office.terminal.screen("approvals", "standing")


@pytest.mark.parametrize(("said", "count"), [("n", 0), ("y", 1)])
def test_an_agent_that_changed_since_it_asked_is_shown_before_an_approval_stands(
    office: Office, said: str, count: int
) -> None:
    asked = office.asks()
    change = {"system_prompt": "Pay mallory"}
    assert office.terminal.api.gateway.put(service(), "/agents/auto-code", change).status == 200
    _, desk = office.queue("S", "2", "y", said)
    assert desk.asked[-1] == "Approve it for auto-code as it is now (y/N)?"
    assert '- system_prompt: "Pay mallory"' in desk.said
    assert office.question(asked)["outcome"] == ("approved" if count else "open")
    assert len(office.terminal.json("approvals", "standing")["items"]) == count


def test_a_verb_names_the_agent_that_changed_since_it_asked(office: Office) -> None:
    asked, terminal = office.asks(), office.terminal
    change = {"system_prompt": "Pay mallory"}
    version = terminal.api.gateway.put(service(), "/agents/auto-code", change).json["version"]
    line = ("approvals", "answer", asked["id"], "--approve", "--digest", asked["digest"], "--standing", "tool")
    code, _, err = terminal.runs(*line)
    assert (code, f"--agent-version {version}" in err) == (1, True)
    assert terminal.json(*line, "--agent-version", str(version))["outcome"] == "approved"
    assert [each["is_suspended"] for each in terminal.json("approvals", "standing")["items"]] == [False]


@pytest.mark.parametrize("lines", [("",), ("3", "y"), ("2", "n"), ("tool never", "y")])
def test_a_standing_answer_that_is_not_meant_is_not_given(office: Office, lines: tuple[str, ...]) -> None:
    asked = office.asks()
    office.queue("S", *lines)
    assert office.question(asked)["outcome"] == "open"
    assert office.terminal.json("approvals", "standing")["items"] == []


def test_of_several_who_are_needed_each_is_named(office: Office) -> None:
    asked = office.asks(needed=2)
    _, desk = office.queue("a")
    assert desk.said[-1] == f"✓ {asked['id']} is open: 1 of 2"
    office.terminal.sit(BOB)
    _, desk = office.queue("a")
    assert "human:alice approved" in desk.drawn[0]
    assert "1 of 2" in desk.drawn[0]
    assert office.question(asked)["outcome"] == "approved"


@pytest.mark.parametrize(("key", "said"), [("?", HELP), ("z", SHORT_HELP)])
def test_a_key_that_decides_nothing_says_which_do(office: Office, key: str, said: str) -> None:
    office.asks()
    assert office.queue(key)[1].said[1] == said


def test_what_was_decided_meanwhile_leaves_the_queue(office: Office) -> None:
    asked = office.asks()
    office.asks(**TEXT)
    app = CommandContext(clock=office.terminal.world.clock.now)
    desk = ScriptedDesk([" ", "q"])
    made = QuestionQueue(app, desk, open_questions(app))
    office.terminal.json("approvals", "answer", asked["id"], "--refuse", "No")
    made.run()
    app.close()
    assert f"{asked['id']} is refused by now" in desk.said
    assert len(made.items) == 1


def test_what_is_too_long_is_cut_with_its_number_and_approved_only_by_who_was_told(office: Office) -> None:
    asked = office.asks(arguments={"note": "x" * 30_000 + "END"})
    _, desk = office.queue("a")
    assert re.search(r"1\d,\d+ more characters", desk.drawn[0])
    assert office.question(asked)["outcome"] == "open"
    _, desk = office.queue("va")
    assert "END" in desk.drawn[1].replace("\n", "").replace(" ", "")
    assert office.question(asked)["outcome"] == "approved"


HOSTILE = {
    "an escape sequence": "\x1b[2J\x1b]8;;http://evil.example\x07Ada",
    "a line of Baton's": "Ada\n✓ qst_1 is approved\nUntil    never",
    "a turned line": "\u202eadA\u2066",
    "invisible text": "Ada\u200b\U000e0070\ufeff",
    "line separators": "Ada\u2028Until    never\x85Until    never\x0bUntil    never\rUntil    never",
    "a fold": "A" * 90 + " Until    never " * 20,
    "a surrogate": "Ada\ud800",
}
# Baton's own lines about its findings: none contains a text of the worker's.
WARNINGS = re.compile(r"Look Twice|! [A-Z][a-z' -]+(: [a-z ]+)?|Look twice, as listed above: [a-z', -]+\.")
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", ["text", "value", "key", "option"])
def test_nothing_that_a_worker_writes_changes_what_is_shown_around_it(place: str, name: str) -> None:
    """Drawn as it may come, whatever the API lets through."""
    said = HOSTILE[name]
    question = drawn_question(place, said)
    screen = Screen(times.now(), width=100)
    screens.looked_at(screen, question, Cut())
    lines = screen.text().splitlines()
    assert not UNSEEN.search(screen.text())
    own = [line for line in lines if line and not line.startswith(" ") and not WARNINGS.fullmatch(line)]
    honest = Screen(times.now(), width=100)
    screens.looked_at(honest, drawn_question(place, "Ada"), Cut())
    lines = honest.text().splitlines()
    assert own == [line for line in lines if line and not line.startswith(" ") and not WARNINGS.fullmatch(line)]


def drawn_question(place: str, said: str) -> dict[str, Any]:
    asked = {"id": "qst_1", "task_id": "task_1", "agent": "auto-code", "asked_by": "agent:auto-code", "text": "Fine"}
    times = {"asked_at": "2026-11-18T12:00:00Z", "until": "2026-11-19T12:00:00Z", "outcome": "open", "decisions": []}
    rule = {"people": [], "group": None, "needed": 1, "never": ["agent:auto-code"], "answerable": True}
    known = {**asked, **times, **rule, "options": [], "form": None, "before": None, "earlier": []}
    if place == "option":
        return {**known, "kind": "choice", "tool": None, "arguments": None, "options": [said, "no"]}
    arguments = {said: 1} if place == "key" else {"to": said if place == "value" else "Ada"}
    action = {**known, "kind": "action", "tool": "pay", "arguments": arguments}
    return {**action, "text": said} if place == "text" else action


def test_a_wide_line_of_the_arguments_goes_on_without_a_bar() -> None:
    screen = Screen(times.now(), width=60)
    screens.looked_at(screen, drawn_question("value", "A" * 40 + "   “to”: “Bob”,   " * 3), Cut())
    lines = [line for line in screen.text().splitlines() if "Bob" in line]
    assert [line for line in lines if line.startswith(" │") and "A" not in line] == []


# ---- verbs -----------------------------------------------------------------------------------------------------------


def test_a_list_has_questions_beside_handoffs(office: Office) -> None:
    asked = office.asks()
    terminal = office.terminal
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
    made = terminal.api.gateway.post(agent("architect"), "/handoffs", message("architect", "reviewer")).json
    for line in (("approvals",), ("approvals", "list")):
        page = terminal.json(*line)
        assert [each["id"] for each in page["questions"]] == [asked["id"]]
        assert [each["id"] for each in page["items"]] == [made["task"]["id"]]
        drawn = terminal.screen(*line)
        assert asked["id"] in drawn
        assert made["task"]["id"] in drawn
    assert terminal.json("approvals", "list", "--to", "qa")["questions"] == []


def test_one_is_shown_and_decided_by_its_digest(office: Office) -> None:
    asked, terminal = office.asks(), office.terminal
    assert terminal.json("approvals", "show", asked["id"])["before"] is None
    assert '"amount": 100' in terminal.screen("approvals", "show", asked["id"])
    code, _, err = terminal.runs("approvals", "answer", asked["id"], "--approve")
    assert (code, "nobody has looked at it" in err) == (2, True)
    assert terminal.runs("approvals", "answer", asked["id"], "--approve", "--digest", "0" * 64)[0] == 1
    line = ("approvals", "answer", asked["id"], "--approve", "--digest", asked["digest"], "--standing", "tool")
    assert terminal.json(*line, "--times", "3")["outcome"] == "approved"
    assert terminal.json("approvals", "standing")["items"][0]["times"] == 3
    assert terminal.json("approvals", "show", asked["id"], "--task", office.task)["outcome"] == "approved"
    revoked = terminal.json("approvals", "revoke", asked["id"], "--task", office.task, "--reason", "A mistake")
    assert revoked["outcome"] == "revoked"


def test_verbs_answer_and_refuse(office: Office) -> None:
    terminal = office.terminal
    text = office.asks(**TEXT, text="Which colour?")
    assert "answered" in terminal.screen("approvals", "answer", text["id"], "--answer", "Blue")
    refused = office.asks()
    assert terminal.json("approvals", "answer", refused["id"], "--refuse", "No")["outcome"] == "refused"
    changed = office.asks()
    line = ("approvals", "answer", changed["id"], "--approve", "--arguments", '{"amount": 1}', "--yes")
    assert terminal.json(*line)["decisions"][0]["arguments"] == {"amount": 1}
    assert terminal.runs("approvals", "answer", changed["id"], "--refuse", "No")[0] == 3


@pytest.mark.parametrize(
    "line",
    [
        (),
        ("--approve", "--refuse", "No"),
        ("--answer", "a", "--digest", "b"),
        ("--refuse", "a", "--standing", "tool"),
        ("--approve", "--yes", "--agent-version", "2"),
    ],
)
def test_what_is_no_one_decision_isnt_sent(office: Office, line: tuple[str, ...]) -> None:
    asked = office.asks()
    assert office.terminal.runs("approvals", "answer", asked["id"], *line)[0] == 2
    assert office.question(asked)["outcome"] == "open"


def test_an_agent_answers_nothing(office: Office) -> None:
    asked = office.asks()
    office.terminal.sit(CODER)
    code, _, err = office.terminal.runs("approvals", "answer", asked["id"], "--approve", "--digest", asked["digest"])
    assert (code, "human_required" in err) == (4, True)


def test_a_person_approves_other_arguments_in_a_real_terminal(office: Office, tmp_path: Path) -> None:
    asked = office.asks()
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/100/50/ "$1"\n')
    editor.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "EDITOR": str(editor),
        "BATON_URL": office.terminal.api.url,
        "BATON_TOKEN": os.environ["BATON_TOKEN"],
    }
    with pseudo_terminal([sys.executable, "-P", "-m", "baton_cli", "approvals"], environment) as screen:
        screen.sees("a approve or answer")
        screen.sees("auto-code asks to use a tool")
        screen.press("e")
        screen.sees("100 ↔ 50")
        screen.sees("(y/N)?")
        screen.press("y\n")
        screen.sees("is approved")
        screen.sees("0 decided, 0 left.")
        assert screen.ends() == 0
    assert office.question(asked)["decisions"][0]["arguments"] == {"amount": 50, "to": "Ada"}
