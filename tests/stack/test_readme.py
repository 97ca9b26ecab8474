"""The examples of the README's tour and of every guide are run as they stand there, and have to answer as they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import baton_cli
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.services.access.change_settings import change_settings
from baton_cli.checkout import save_profiles
from baton_client.profiles import config_path
from support.worlds.deployed import Deployed
from tools.admin.baton_admin import bootstrap

ROOT = Path(__file__).parents[2]
TOUR = "\n## A tour in five minutes\n"
BY_HAND = "\n## By hand\n"
_BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([A-Z]+)`\s+is\s+the\s+`([\w.]+)`\s+of\s+that\s+answer")
ELLIPSIS = "…"
# Guides without requests to the API: they describe this checkout or an account, or show commands alone.
WITHOUT_EXAMPLES = {"rights.md", "mcp.md", "deploy.md", "edge.md", "another-region.md"}
# In the README's order, each once.
GUIDES = [
    each
    for each in dict.fromkeys(
        re.findall(r"\(docs/guides/([\w-]+\.md)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    )
    if each not in WITHOUT_EXAMPLES
]


def tour() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8").split(TOUR)[1].split("\n## ")[0]


def examples(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """Command, answer, and what the text after them names: the name, and where in the answer its value is."""
    found = list(_BLOCK.finditer(text))
    assert [block[1] for block in found] == ["sh", "json"] * (len(found) // 2)
    ends = [block.start() for block in found[2::2]] + [len(text)]
    return [
        (command[2], answer[2], dict(_NAMED.findall(text[answer.end() : end])))
        for command, answer, end in zip(found[::2], found[1::2], ends, strict=True)
    ]


def setup() -> str:
    """What some guides send requests with: the block of docs/api.md, which has no answer."""
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8").split(BY_HAND)[1].split("\n## ")[0]
    return next(_BLOCK.finditer(text))[2]


def differences(told: Any, answered: Any, path: str = "") -> list[str]:
    """Where the answer is not what the page tells. ``…`` inside a string stands for any text; an object and a list
    tell of some members, not of all."""
    match told:
        case dict():
            if not isinstance(answered, dict):
                return [f"{path}: {answered!r} isn't an object"]
            missing = [f"{path}.{name}: missing" for name in told if name not in answered]
            return missing + [
                each for n in told if n in answered for each in differences(told[n], answered[n], f"{path}.{n}")
            ]
        case list():
            pairs = enumerate(zip(told, answered, strict=False))
            short = [f"{path}: {len(answered)} entries"] if len(told) > len(answered) else []
            return short + [each for n, (a, b) in pairs for each in differences(a, b, f"{path}[{n}]")]
        case str() if ELLIPSIS in told:
            pattern = ".*".join(map(re.escape, told.split(ELLIPSIS)))
            return [] if re.fullmatch(pattern, str(answered), re.DOTALL) else [f"{path}: {answered!r}"]
        case _:
            return [] if told == answered else [f"{path}: {answered!r}"]


def value_at(answered: Any, path: str) -> str:
    for part in path.split("."):
        answered = answered[int(part) if part.isdecimal() else part]
    return str(answered)


def test_a_difference_is_seen() -> None:
    assert differences({"a": ["x…"], "b": None}, {"a": ["xyz", 2], "b": None, "c": 1}) == []
    assert len(differences({"a": "x…", "b": 1, "c": [1, 2], "d": {}}, {"a": "yz", "c": [2], "d": 0})) == 5


def test_what_a_page_names_is_found() -> None:
    page = (
        "```sh\na\n```\n```json\n{}\n```\n`TASK` is the\n`items.0.id` of that answer.\n"
        "```sh\nb\n```\n```json\n[]\n```\n"
    )
    assert examples(page) == [("a\n", "{}\n", {"TASK": "items.0.id"}), ("b\n", "[]\n", {})]
    assert value_at({"items": [{"id": "task_1"}]}, "items.0.id") == "task_1"


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.fixture(scope="module")
def checkout(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader's, with the tokens of a workspace as ``make stack`` makes it. One for all pages: what one
    leaves behind may stand in no other's way."""
    folder = tmp_path_factory.mktemp("reader")
    made = bootstrap(deployed.deps, f"p-{uuid4().hex[:10]}", "admin", new_tokens=False, demo=True)
    tokens = made["tokens"]
    deployed.ledger.tokens |= {tokens["human"], tokens["service"], *tokens["agents"].values()}
    stack = asdict(deployed.stack)
    (folder / ".baton").mkdir()
    (folder / ".baton/stack.json").write_text(json.dumps(stack | made))
    save_profiles(stack | made, config_path({"XDG_CONFIG_HOME": str(folder)}))
    (folder / "bin").mkdir()
    (folder / "bin/baton").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m baton_cli "$@"\n')
    (folder / "bin/baton").chmod(0o700)
    return folder


@pytest.fixture(scope="module")
def quick_checkout(deployed: Deployed, checkout: Path) -> Path:
    """The same without an undo window from here on, which the guides wait for where there is one."""
    workspace = json.loads((checkout / ".baton/stack.json").read_text())["workspace"]
    human = Principal(workspace, PrincipalKind.HUMAN, "admin", frozenset({ACT_AS}))
    change_settings(deployed.deps, human, {"dispatch_delay_seconds": 0})
    return checkout


def test_the_readme_tells_the_truth(checkout: Path) -> None:
    follow(examples(tour()), checkout)


def test_every_guide_is_in_the_readmes_map() -> None:
    assert {*GUIDES, *WITHOUT_EXAMPLES} == {each.name for each in (ROOT / "docs/guides").glob("*.md")}


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_tells_the_truth(guide: str, quick_checkout: Path) -> None:
    found = examples((ROOT / "docs/guides" / guide).read_text(encoding="utf-8"))
    assert found, "without an example"
    follow(found, quick_checkout)


def environment(folder: Path) -> dict[str, str]:
    """With the command as a checkout has it, and the profiles of `baton up`."""
    known = {"XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(Path(baton_cli.__file__).parents[1])}
    return {**os.environ, **known, "PATH": f"{folder}/bin:{os.environ['PATH']}"}


def follow(found: list[tuple[str, str, dict[str, str]]], folder: Path) -> None:
    # Before the first block: a page that is left half-way leaves what it had changed. ``call`` is a curl.
    if shutil.which("curl") is None and any(
        re.search(r"^(curl|call) ", command, re.MULTILINE) for command, _, _ in found
    ):
        pytest.skip("this page uses curl, which isn't on this machine")
    known = ""
    for command, told, names in found:
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{setup()}\n{known}\n{command}"],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if "Could not resolve" in finished.stderr:
            pytest.fail("this machine's resolver doesn't know *.localhost; the README says what to do then")
        assert finished.returncode == 0, finished.stderr
        answered = json.loads(finished.stdout)
        assert differences(json.loads(told), answered) == [], command
        known += "".join(f"{name}='{value_at(answered, path)}'\n" for name, path in names.items())
