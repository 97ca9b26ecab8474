"""The worst that a request can do to the CPU: the parser, the masks, the wildcard patterns, and the doors that need no
token."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

from api import handler as api
from baton.bootstrap import logger
from baton.domain.canonical_json import canonical_json
from baton.domain.errors import BatonError
from baton.domain.guardrails.guardrails import (
    MAX_ITEMS,
    MAX_MASKS,
    MAX_PATTERN,
    MAX_PATTERNS,
    MAX_TEXT,
    Guardrails,
    checked,
)
from baton.domain.numbers import fingerprint
from notion_webhook import handler as notion_webhook
from rest.app import App
from rest.strict_json import MAX_BYTES, read_json
from rest.strict_yaml import read_yaml
from support.fakes.store import InMemoryStore
from tools.bench.office import Office
from tools.bench.tables import table

MOST_SECONDS = 0.3
TIMES = 3
HUGE = 5_900_000  # what a Lambda can be given
SEAL = "a" * 64
Act = Callable[[], object]

SHAPES: dict[str, Callable[[int], bytes]] = {
    "nothing but brackets": lambda size: b"[" * size,
    "empty lists": lambda size: b'{"a":[' + b"[]," * (size // 3) + b"1]}",
    "empty texts": lambda size: b'{"a":[' + b'"",' * (size // 3) + b"1]}",
    "colons": lambda size: b'{"a"' + b":" * size,
    "a name again and again": lambda size: b"{" + b'"":1,' * (size // 5) + b'"":1}',
    "many names": lambda size: b"{" + b",".join(b'"%x":1' % number for number in range(size // 10)) + b"}",
    "numbers as they were written": lambda size: b'{"a":[' + b"1e1," * (size // 4) + b"1]}",
    "an endless number": lambda size: b'{"a":' + b"7" * size + b"}",
    "escapes": lambda size: b'{"a":"' + b"\\\\" * (size // 2),
    "surrogates": lambda size: b'{"a":["\\ud83d\\ude00"' + b',""' * (size // 3 - 20) + b"]}",
}
# Every hint of a secret's shape, and none of the secrets.
_HINTS = (
    "akia secret ghp_ github_pat_ glpat- xoxb- xapp- hooks.slack.com/ sk-ant- sk- aiza gocspx- k_live_ whsec_ ntn_ "
    "npm_ pypi-age baton_ clm_ eyj private key authorization bearer :// "
)
_TOKEN = "baton_" + "k" * 26 + "_" + "0123456789abcdef" * 4
_KEY = "AKIA" + "Z7QX2" * 3 + "A "


def show_worst() -> None:
    os.environ.setdefault("BATON_TABLE", "bench")
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "bench")
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        logger()  # keeps for its lines what it finds there now
        rows = [[name, f"{1_000 * _seconds(act):.0f}"] for name, act in worst_cases().items()]
    table(
        f"The worst that a request can do, CPU milliseconds, best of {TIMES}",
        ("", "ms"),
        rows,
        f"None of them may take more than {MOST_SECONDS * 1_000:.0f} ms. At the doors without a token: from the\n"
        "gateway's event to the answer, with a body of 5.9 MB or at an address that isn't ours.",
    )


def worst_cases() -> dict[str, Act]:
    """By what is tried."""
    return worst_contents() | _worst_at_the_doors()


def worst_contents() -> dict[str, Act]:
    """What a request may hold."""
    cases: dict[str, Act] = {}
    for name, shape in SHAPES.items():
        cases[f"parser: {name}, 256 KiB"] = _reading(shape(MAX_BYTES - 20))
    cases["parser: a large body, its largest field named"] = lambda: read_json(SHAPES["colons"](HUGE))
    cases["parser: YAML, 256 KiB of short texts"] = lambda: read_yaml(
        b"a: [" + b"abcdefgh," * (MAX_BYTES // 11) + b"a]"
    )
    for name, content in _masked().items():
        cases[f"masks: {name}"] = _checking(content, Guardrails(secrets="mask", max_items=MAX_ITEMS))
    for name, (patterns, text) in _patterns().items():
        cases[f"patterns: {name}"] = _checking({"a": text}, Guardrails(secrets="off", forbidden_patterns=patterns))
    return cases


def _worst_at_the_doors() -> dict[str, Act]:
    """Where nobody needs a token."""
    cases: dict[str, Act] = {}
    for door, path in {"callback": f"/callbacks/bm9i.{SEAL}", "webhook": f"/notion/webhook/acme.{SEAL}"}.items():
        for name in ("nothing but brackets", "colons", "escapes"):
            cases[f"{door}: {name}, 5.9 MB"] = _posting(path, SHAPES[name](HUGE).decode())
        cases[f"{door}: 256 KiB at an address that isn't ours"] = _posting(
            path, SHAPES["empty lists"](MAX_BYTES).decode()
        )
    return cases


def _masked() -> dict[str, Any]:
    return {
        "secrets side by side, then every hint": {"a": _filled(_TOKEN * MAX_MASKS)},
        "secrets apart, then every hint": {"a": _filled(_KEY * MAX_MASKS)},
        "names that tell": {f"secret{number:06d}": "12345678" for number in range(9_000)},
        "many short texts": {"a": ["secretxx"] * (MAX_BYTES // 11)},
    }


def _filled(text: str) -> str:
    return text + _HINTS * ((MAX_TEXT - len(text)) // len(_HINTS))


def _patterns() -> dict[str, tuple[tuple[str, ...], str]]:
    chance = random.Random(1)  # noqa: S311 - no secret
    like = tuple("a?" * (MAX_PATTERN // 2 - 1) + "b*" + chr(0x100 + number) for number in range(MAX_PATTERNS))
    every = "".join(chr(0x100 + number) for number in range(MAX_PATTERNS))
    return {
        "50 of 200 characters that nearly match all the time": (like, "ab" * (MAX_TEXT // 2 - 100) + every),
        "50 runs": (tuple(f"a*{chr(0x100 + n)}b" for n in range(MAX_PATTERNS)), "a" * (MAX_TEXT - 200) + every + "b"),
        "50 plain words": (tuple("a" * 150 + str(n) for n in range(MAX_PATTERNS)), "a" * MAX_TEXT),
        "50 words by chance": (
            tuple("".join(chance.choices("ab*?", k=MAX_PATTERN - 1)) + "c" for _ in range(MAX_PATTERNS)),
            "".join(chance.choices("ab", k=MAX_TEXT)),
        ),
    }


def _reading(body: bytes) -> Act:
    def read() -> None:
        value = read_json(body, any_value=True).value
        fingerprint(value)
        canonical_json(value)

    return read


def _checking(content: dict[str, Any], rules: Guardrails) -> Act:
    return lambda: checked(content, rules, "")


def _posting(path: str, body: str) -> Act:
    deps = Office(InMemoryStore(), "bench").deps
    routes = notion_webhook.routes if path.startswith("/notion") else api.routes
    app = App(routes, lambda: deps)
    event = {
        "rawPath": path,
        "rawQueryString": "",
        "headers": {},
        "requestContext": {"http": {"method": "POST", "path": path}, "requestId": "bench"},
        "isBase64Encoded": False,
        "body": body,
    }
    return lambda: app(event)


def _seconds(act: Act) -> float:
    return min(_once(act) for _ in range(TIMES))


def _once(act: Act) -> float:
    begun = time.process_time()
    with suppress(BatonError):
        act()
    return time.process_time() - begun
