"""The screens of questions to people. What a worker wrote has a bar before each of its lines, and a line that is too
wide goes on without one: no text looks like a line of Baton's, nor like another line of its own."""

from __future__ import annotations

from typing import Any

from baton_cli import times
from baton_cli.request_warnings.gist import gist_of
from baton_cli.request_warnings.sources import texts_of, warnings_of_question
from baton_cli.screen import Screen
from baton_cli.screens import warnings
from baton_cli.screens.message import Cut, label_of, said_before, section
from baton_cli.similar_tasks import changes
from baton_cli.text import json_text, one_line, visible
from baton_client import numbers

Question = dict[str, Any]
STYLES = {"answered": "green", "approved": "green", "refused": "red", "revoked": "red"}
# Of one text. What is longer is cut where one decides, and v shows the rest.
MOST_CHARACTERS = 20_000


def listed(screen: Screen, items: list[Question]) -> None:
    """Draws the open questions, each with its worker's text on a line of its own; nothing without any."""
    if not items:
        return
    for each in items:
        until = screen.when(each["until"])
        screen.line(one_line(f"{each['id']}  {each['kind']} · {each['agent']} · ends {until} · {_tally(each)} decided"))
        screen.marked(warnings.BAR, one_line(_about(each)), "dim", indent=1)
    screen.line()
    screen.line("next: baton approvals, on a terminal; baton approvals show ID", "dim")
    screen.line()


def _about(question: Question) -> str:
    """Returns the tool with the amount and the target, or the text of a question."""
    if not question["tool"]:
        return str(question["text"])
    return ", ".join([question["tool"], *(f"{at} {value}" for at, value in gist_of(question["arguments"] or {}))])


def looked_at(screen: Screen, question: Question, cut: Cut, place: str = "") -> None:
    """Draws all that a person decides on. ``changed`` in the question: the arguments that they would approve."""
    screen.line()
    is_action = question["kind"] == "action"
    screen.title(f"{question['agent']} asks {'to use a tool' if is_action else 'a question'}")
    if is_action:
        _lines(screen, question["tool"])
    asked = f"asked by {question['asked_by']}, {screen.ago(question['asked_at'])}"
    screen.line(one_line(" · ".join(filter(None, [question["id"], question["task_id"], asked, place]))), "dim")
    until = f"{times.whole(question['until'])} ({screen.when(question['until'])})"
    told = [("Until", until), ("Who may", who_may(question)), ("Decided", _tally(question))]
    screen.pairs([*told, ("Digest", question["digest"])] if question.get("digest") else told)
    for each in question["decisions"]:
        _decision(screen, each)
    if not question.get("answerable", True) and question["outcome"] == "open":
        screen.line("Too few people are left who may decide: it will expire.", "yellow")
    found = warnings_of_question(question)
    first = f"First use of this tool by {question['agent']}: nothing to compare with"
    warnings.drawn(screen, found, first, has_usual=False)
    _texts(screen, "Why" if is_action else "Question", question["text"], cut)
    for number, option in enumerate(question["options"], 1):
        screen.marked(f"{number}.", option, indent=1)
    if question["form"] is not None:
        _texts(screen, "Form", pretty(question["form"]), cut)
    if is_action:
        _action(screen, question, cut)
    if found.warnings:
        screen.line()
        screen.line(f"Look twice, as listed above: {warnings.summary(found.warnings)}.", "yellow")
    if cut.hidden:
        screen.line(f"{cut.hidden:,} characters aren't shown: v shows them.", "yellow")


def outcome(screen: Screen, question: Question) -> None:
    """Draws what has become of a question, for who has asked it."""
    deciders = ", ".join(f"human:{each['by']}" for each in question["decisions"])
    said = f"{question['id']} is {question['outcome']}{f' by {deciders}' if deciders else ''}"
    if question["outcome"] == "open" and deciders:
        said = _counted(question)
    screen.line(one_line(said), STYLES.get(question["outcome"], "yellow"))
    for label, name in (("Answer", "answer"), ("Reason", "reason"), ("Arguments", "approved_arguments")):
        value = question.get(name)
        if value is not None:
            _texts(screen, label, value if isinstance(value, str) else pretty(value), Cut())
    if question["used_at"]:
        screen.line(f"Begun at {times.whole(question['used_at'])}: that was its one time.", "green")


def _counted(question: Question) -> str:
    """Returns that the latest answer counts, and the number of people who still have to answer alike."""
    last = question["decisions"][-1]
    said = f"{question['id']} is open. The answer of human:{last['by']} counts"
    if question["needed"] is None:  # a reader who may not read rules
        return f"{said}; more people are needed"
    given = len([each for each in question["decisions"] if _meaning(each) == _meaning(last)])
    left = max(question["needed"] - given, 0)
    missing = f", {left} more {'is' if left == 1 else 'are'} needed" if left else ""
    others = "; further rules need other people" if question.get("further") else ""
    return f"{said}: {min(given, question['needed'])} of {question['needed']}{missing}{others}"


def _meaning(decision: dict[str, Any]) -> tuple[Any, ...]:
    return decision["outcome"], decision.get("digest"), decision.get("answer")


def standing(screen: Screen, page: dict[str, Any]) -> None:
    """Draws the standing answers, each with the arguments that it is for."""
    if not page["items"]:
        screen.line("none", "dim")
    for each in page["items"]:
        reach = "with these arguments" if each["for"] == "arguments" else "with any arguments"
        used = f"{each['used']} of {each['times']} used, until {screen.when(each['until'])}"
        screen.line(one_line(f"{each['id']}  {each['agent']} may use this tool {reach}: {used}, by {each['by']}"))
        if each.get("is_suspended"):
            screen.line(
                "suspended: the agent was changed since by a service, or by a person who may not approve", "bad"
            )
        _lines(screen, each["tool"])
        if each["arguments"] is not None:
            _lines(screen, pretty(each["arguments"]))


def who_may(question: Question) -> str:
    """Returns who may decide, by each rule that sets approvers."""
    if question["needed"] is None:
        return "the people of a rule of the settings"
    others = [f"and {each['needed']} of {_named(each)}" for each in question.get("further", [])]
    by_rule = ["set by a rule of the settings"] if question.get("by_rule") else []
    return one_line("; ".join([_named(question), *others, *by_rule]))


def _named(question: Question) -> str:
    named = [f"human:{each}" for each in question["people"]]
    named += [f"the group {question['group']}"] if question["group"] else []
    never = [each for each in question["never"] if each.startswith("human:")]
    said = ", ".join(named) or "any human"
    return f"{said}, but {', '.join(never)}" if never else said


def pretty(value: Any) -> str:
    """Returns a document as JSON, with hidden characters as its own escapes: its meaning stays."""
    return json_text(numbers.dumps(value, ensure_ascii=False, indent=2))


def _tally(question: Question) -> str:
    given = len([each for each in question["decisions"] if each["outcome"] != "refused"])
    if question["needed"] is None:  # a reader who may not read rules
        return str(given)
    return f"{given} of {question['needed']}{' and others' if question.get('further') else ''}"


def _decision(screen: Screen, decision: dict[str, Any]) -> None:
    screen.line(one_line(f"human:{decision['by']} {decision['outcome']}, {screen.ago(decision['at'])}"), indent=1)
    if decision["arguments"] is not None:
        screen.line("with other arguments:", "yellow", indent=1)
        _lines(screen, pretty(decision["arguments"]))


def _action(screen: Screen, question: Question, cut: Cut) -> None:
    changed = question.get("changed")
    arguments = question["arguments"] if changed is None else changed
    _texts(screen, "Arguments" if changed is None else "Other Arguments", pretty(arguments), cut)
    if changed is not None:
        section(screen, "Changed, of What Was Asked", changes(question["arguments"], changed))
    _handed_over(screen, question, cut)
    before = question.get("before")
    if before is None:
        return
    by = ", ".join(f"human:{each}" for each in before["by"])
    title = f"The Last Time, {screen.ago(before['at'])}, by {by}"
    section(screen, title, changes(before["arguments"], arguments) or ["the very same arguments"])


def _handed_over(screen: Screen, question: Question, cut: Cut) -> None:
    """Draws the texts that the target of a handoff tool gets besides the arguments. A question of an earlier release
    doesn't have them."""
    if not (handoff := question.get("handoff")):
        return
    target = handoff["target_agent"]
    screen.heading("Handed Over")
    if "message" not in handoff:
        screen.line(one_line(f"{target} also gets the message and the context of the task."))
        screen.unwrapped(f"Read them: baton tasks show {question['task_id']}", "dim")
    else:
        screen.line(one_line(f"{target} also gets the texts below."))
    for name, value in texts_of(handoff).items():
        _texts(screen, label_of(name), value if isinstance(value, str) else pretty(value), cut)
    if handoff["earlier"]:
        said_before(screen, handoff["earlier"], handoff["conversation_id"], target)


def _texts(screen: Screen, title: str, text: str, cut: Cut) -> None:
    screen.heading(title)
    shown = text if cut.is_whole else text[:MOST_CHARACTERS]
    _lines(screen, shown)
    if len(shown) < len(text):
        cut.hidden += len(text) - len(shown)
        screen.line(f"… {len(text) - len(shown):,} more characters", "yellow", indent=1)


def _lines(screen: Screen, text: str) -> None:
    for line in visible(text).split("\n"):
        screen.marked(warnings.BAR, line, "dim", indent=1)
