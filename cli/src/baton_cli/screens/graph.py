"""The screen of a node of the graph and its neighbours."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen

WORDS = {"handed_off_to": "handed off to", "produced": "produced", "affects": "affects", "supersedes": "supersedes"}


def around(screen: Screen, page: dict[str, Any]) -> None:
    names = {node["id"]: f"{node['kind']} {node['label'] or node['name']}" for node in page["nodes"]}
    rows = [
        (
            names.get(edge["source"], edge["source"]),
            WORDS.get(edge["kind"], edge["kind"]),
            names.get(edge["target"], edge["target"]),
            str(edge["count"]),
            screen.when(edge["last_at"]),
        )
        for edge in page["edges"]
    ]
    if not rows:
        screen.line("nothing is around it", "dim")
        return
    screen.table(("From", "What", "To", "Times", "Last"), rows)
    if not page["is_whole"]:
        screen.line("There is more than this: choose a smaller depth, or --since.", "dim")
