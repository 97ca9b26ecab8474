"""Every command line of README, the pages and the help texts is typed here. A command that doesn't exist, an unknown
option, or a missing claim fails.

A command that is one request is run whole, against an API in this process. Of any other command the line is parsed, and
of ``baton worker`` the program is found as well. tests/stack/test_readme.py runs the examples of the tour and of the
guides on the deployed stack.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import click
import pytest

from baton_cli.command_context import CommandContext
from baton_cli.main import cli, run
from baton_mcp.__main__ import _parser
from support.scripted_api import Answer, ScriptedApi
from support.values.command_lines import BY_HAND, COMMANDS, OF_THEIR_OWN, OPERATIONS
from support.values.documented_lines import (
    ROOT,
    Line,
    block_lines,
    command_of,
    commands,
    help_lines,
    lines_of,
    pages,
    spans,
)

TARGETS = {*re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}
BLOCKS, HELP = block_lines(), help_lines()
TYPED = [line for line in [*BLOCKS, *HELP] if line.program == "baton"]
SPANS = spans()
CLAIM = "BATON_CLAIM_ID"
# They don't end by themselves, change files of the reader's, or ask at a terminal.
PARSED = {*BY_HAND, *OF_THEIR_OWN} - {"settings set", "tasks claim"}


def named(line: Line) -> str:
    return str(line)[:100]


def leaf(words: tuple[str, ...]) -> click.Context:
    """Parses the line as `baton` does, and returns the context of its command."""
    context = cli.make_context("baton", list(words[1:]), obj=CommandContext())
    while isinstance(group := context.command, click.Group) and (left := [*context._protected_args, *context.args]):
        name, command, rest = group.resolve_command(context, left)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return context


@pytest.mark.parametrize("line", TYPED, ids=named)
def test_a_command_line_is_taken_as_it_stands(
    line: Line,
    scripted: ScriptedApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BATON_AGENT", "reviewer")
    if f"{CLAIM}=" in line.block:
        monkeypatch.setenv(CLAIM, "clm_1")
    words = tuple(each for at, each in enumerate(line.words) if "--profile" not in line.words[max(at - 1, 0) : at + 1])
    if "--version" in words:
        assert run(list(words[1:])) == 0
        return
    found = command_of(words)
    assert found is not None, "there is no such command"
    name, command = found
    if name in PARSED:
        context = leaf(words)
        needs_claim = any(getattr(each, "envvar", None) == CLAIM for each in command.params)
        assert not needs_claim or context.params["claim_id"], "the claim is missing: --claim, or an export before it"
        return
    monkeypatch.setattr("sys.stdin", StringIO("ntn_1"))
    if OPERATIONS[name][0] == "GET":
        scripted.will(Answer(200, {"items": [], "tokens": [], "rights": []}))
    code = run(list(words[1:]))
    assert (code, "bug of the command" in (said := capsys.readouterr().err)) == (0, False), said
    assert scripted.asked


@pytest.mark.parametrize("line", [each for each in TYPED if "worker" in each.words and "--" in each.words], ids=named)
def test_a_worker_finds_the_program_of_its_line(
    line: Line, scripted: ScriptedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = line.words[line.words.index("--") + 1]
    for place in (tmp_path / program, tmp_path / "bin" / program):
        place.parent.mkdir(exist_ok=True)
        if "/" in program or place.parent.name == "bin":
            place.write_text("#!/bin/sh\n")
            place.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    scripted.will(*[Answer(204)] * 100)
    words = [each for at, each in enumerate(line.words) if "--profile" not in line.words[max(at - 1, 0) : at + 1]]
    typed = ["--agent", "reviewer", "--idle-timeout", "1", *words[2:]]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "baton_cli", "worker", *typed],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", [each for each in [*BLOCKS, *SPANS] if each.program == "make"], ids=named)
def test_a_target_of_make_exists(line: Line) -> None:
    words = [each for each in line.words[1:] if "=" not in each and each != "…"]
    assert set(words) <= TARGETS


@pytest.mark.parametrize("line", [each for each in BLOCKS if each.program == "baton-mcp"], ids=named)
def test_baton_mcp_takes_its_line(line: Line) -> None:
    assert _parser().parse_args(line.words[1:]).verb == line.words[1]


@pytest.mark.parametrize("line", [each for each in BLOCKS if each.program == "python"], ids=named)
def test_a_program_of_the_tools_exists(line: Line) -> None:
    module = line.words[2].replace(".", "/") + ".py" if line.words[1] == "-m" else line.words[1]
    assert (ROOT / module).exists()


@pytest.mark.parametrize("line", [each for each in SPANS if each.program == "baton"], ids=named)
def test_a_command_within_a_sentence_exists_with_its_options(line: Line) -> None:
    if not [each for each in line.words[1:] if each[:1] not in {"-", "…"} and each not in {"COMMAND", "NOUN"}]:
        return
    found = command_of(line.words)
    if found is None and line.words[1] in {name.partition(" ")[0] for name in COMMANDS} and len(line.words) == 2:
        return  # a noun alone
    assert found is not None, "there is no such command"
    own = line.words[: line.words.index("--")] if "--" in line.words else line.words
    given = {each.partition("=")[0] for each in own if each.startswith("--")}
    known = {option for each in found[1].params for option in [*each.opts, *each.secondary_opts]}
    assert given <= known | {"--help"}


def test_the_pages_have_lines_of_every_kind() -> None:
    """What is read of the pages doesn't become less by an accident of their form."""
    assert len(TYPED) > 120
    assert len(SPANS) > 250
    assert {each.program for each in BLOCKS} == {"baton", "baton-mcp", "make", "python"}


def test_what_is_typed_in_a_console_block_follows_a_dollar_sign() -> None:
    wrong = [
        f"{page.name}: {line}"
        for page in pages()
        for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.split("\n")
        if re.match(r"(baton|baton-mcp|make|curl) ", line)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```console\n$ baton up   # the stack\nsaid\n$ TASK=$(baton tasks list --query x) && make run\n```\n",
         ["baton up", "baton tasks list --query x", "make run"]),
        ("```sh\nA=1 baton await \\\n  $TASK\n```\n", ["baton await 1"]),
        ("```sh\nbaton api POST /x --data '{\n  \"a\": 1}' | jq .\n```\n", ['baton api POST /x --data {\n  "a": 1}']),
        ("```console\n$ claude mcp add baton -- baton mcp serve\n```\n", ["baton mcp serve"]),
        ("```json\nbaton up\n```\n", []),
    ],
)  # fmt: skip
def test_a_block_is_read_as_a_shell_does(text: str, expected: list[str]) -> None:
    assert [" ".join(line.words) for line in lines_of(text, "page")] == expected


def test_a_line_that_no_command_takes_is_noticed() -> None:
    (wrong,) = commands("baton $HUMAN PUT /agents/reviewer '{}'")
    assert command_of(wrong) is None
    (typo,) = commands("baton tasks approve $TASK --revsion 1")
    with pytest.raises(click.UsageError):
        leaf(typo)
