"""The warnings about a request, above its content. A worker's text has a bar before it: no text of theirs stands in
a line of Baton's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from baton_cli.request_warnings import Finding, Report
from baton_cli.screen import Screen
from baton_cli.text import visible

MOST_OF_A_KIND, MOST_USUAL = 4, 6
BAR = "│"
# A kind's heading, and the word before the earlier value.
KINDS = {
    "revised": ("Changed since it arrived: revision", ""),
    "asker": ("New requester", "so far"),
    "hidden": ("Hidden characters", ""),
    "alphabets": ("Mixed alphabets in one word", ""),
    "lookalike": ("A word that looks like another one", "looks like"),
    "gap": ("Text continues after a long blank gap", ""),
    "uninspected": ("Too much text to inspect; characters that weren't inspected", ""),
    "uncompared": ("Too much to compare; values that weren't compared", ""),
    "address": ("New address", ""),
    "account": ("New account", ""),
    "path": ("File outside the earlier folders", "so far in"),
    "command": ("New command or query syntax", ""),
    "amount": ("Amount outside the earlier range", "so far"),
    "mismatch": ("Amount that the text doesn't repeat", ""),
    "value": ("Unusual value", "so far"),
    "added": ("New field", ""),
    "removed": ("Missing field", "was"),
    "first": ("", ""),
    "unlike": ("Unlike the earlier approved requests; compared", ""),
    "confusable": ("Confusable name", "looks like"),
}


def drawn(screen: Screen, found: Report, first: str, *, has_usual: bool = True) -> None:
    """Draws the warnings, then the other differences. ``first``: the line for a request without earlier ones."""
    if found.warnings:
        screen.heading("Look Twice")
    for kind, some in groupby(found.warnings, key=lambda each: each.kind):
        _kind(screen, first if kind == "first" else KINDS[kind][0], list(some), KINDS[kind][1])
    if found.notable:
        _kind(screen, "It refers to", found.notable, "")
    if found.compared and has_usual:
        _usual(screen, found)


def _kind(screen: Screen, heading: str, found: list[Finding], before: str) -> None:
    screen.marked("!", heading, "yellow")
    lines = [line for each in found[:MOST_OF_A_KIND] if (line := _line(each, before))]
    for each in lines:
        screen.marked(BAR, each, "dim", indent=2)
    if len(found) > MOST_OF_A_KIND:
        screen.line(f"and {len(found) - MOST_OF_A_KIND} more places", "yellow", indent=2)


def _line(found: Finding, before: str) -> str:
    was = f"({before} {found.before})" if before and found.before else ""
    value = " ".join(each for each in (found.now, was) if each)
    return visible(": ".join(each for each in (found.at, value) if each).replace("\n", " "))


def _usual(screen: Screen, found: Report) -> None:
    handoffs = "the last approved one" if found.compared == 1 else f"the last {found.compared} approved"
    if not found.usual:
        screen.line(
            f"{'Otherwise the same as' if found.warnings else 'The same as'} the most similar of {handoffs}.", "dim"
        )
        return
    screen.heading(f"Different from the Most Similar of {handoffs.title()}")
    for each in found.usual[:MOST_USUAL]:
        screen.marked(BAR, _changed(each), "dim", indent=1)
    if len(found.usual) > MOST_USUAL:
        screen.line(f"and {len(found.usual) - MOST_USUAL} more differences", "dim", indent=1)


def _changed(found: Finding) -> str:
    now, before = found.now or "left out", found.before
    return visible(f"{found.at}: {f'{before} → ' if before else 'new: '}{now}".replace("\n", " "))


def summary(found: Iterable[Finding]) -> str:
    """Returns the kinds of warnings in one line, without any text of the request."""
    kinds = dict.fromkeys(each.kind for each in found)
    return ", ".join(KINDS[each][0].partition(";")[0].lower() or "nothing to compare with" for each in kinds)
