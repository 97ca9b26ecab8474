"""The day that tests/stack/test_cli.py plays on the deployed stack leaves no command out."""

from __future__ import annotations

from support.values.command_lines import COMMANDS, LINES, OF_THEIR_OWN, OPERATIONS


def test_every_command_is_played_on_the_deployed_stack() -> None:
    """One that is missing needs a line in the story of ``support/values/command_lines.py``."""
    played = {each.command for each in LINES}
    assert sorted(COMMANDS.keys() - played) == []


def test_every_commands_document_is_an_operations_or_its_own() -> None:
    assert COMMANDS.keys() == OPERATIONS.keys() | OF_THEIR_OWN
