"""A screen that is drawn again whenever what it shows has changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from baton_cli.command_context import CommandContext
from baton_client.bell import Bell, BellTimes
from baton_client.core import FOREVER

if TYPE_CHECKING:
    from baton_cli.screen import Screen

LOOK_SECONDS = 2.0
# The cursor goes to the corner, and the screen is cleared.
_CLEARED = "\x1b[H\x1b[2J\x1b[3J"


def watch(
    app: CommandContext,
    path: str,
    draw: Callable[[Screen, Any], None],
    has_ended: Callable[[Any], bool],
    *,
    topic: str,
) -> Any:
    """Draws what is at ``path``, again after each change, until it has ended, and returns the last. As JSON only the
    last is printed, as one document. ``topic``: of the bell, which rings for each change."""
    with app.bell(topic, BellTimes(shortest=LOOK_SECONDS, longest=LOOK_SECONDS)) as bell:
        return _watched(app, path, draw, has_ended, bell)


def _watched(
    app: CommandContext,
    path: str,
    draw: Callable[[Screen, Any], None],
    has_ended: Callable[[Any], bool],
    bell: Bell,
) -> Any:
    shown, was_rung, client = "", False, app.client.lasting(FOREVER)
    while True:
        found = client.again(path, is_fresh=was_rung)
        is_over = has_ended(found)
        if not app.out.is_json:
            drawn = app.out.drawn(lambda screen: draw(screen, found))  # noqa: B023 - called at once
            if drawn != shown:
                app.out.write((_CLEARED if app.out.is_terminal else "") + drawn)
                shown = drawn
        if is_over:
            if app.out.is_json:
                app.out.document(found)
            return found
        if not (was_rung := bell.wait()):
            time.sleep(LOOK_SECONDS)
