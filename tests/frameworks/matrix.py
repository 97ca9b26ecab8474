"""The matrix of docs/frameworks.md: what each framework does, and who hands work to whom. Made by ``make frameworks``,
which fails where it doesn't hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from frameworks.played import ADAPTED, BEHAVIOURS, ENVIRONMENTS, ROOT

PAGE = ROOT / "docs/frameworks.md"
BEGIN, END = "<!-- made by make frameworks -->\n", "<!-- end -->\n"
TITLES = {
    "openai_agents": "OpenAI Agents SDK",
    "langgraph": "LangGraph",
    "strands": "Strands",
    "pydantic_ai": "Pydantic AI",
    "claude_code": "Claude Code",
}
YES, NO, CANNOT = "✓", "✗", "no"
Cells = Mapping[tuple[str, str], str]


def written(versions: Mapping[str, str], cells: Cells, pairs: Cells, reasons: Mapping[str, Mapping[str, str]]) -> str:
    """Returns the made part of the page."""
    heads = [f"{TITLES[name]} {versions[name]}" for name in ADAPTED]
    lines = [f"| a run … | {' | '.join(heads)} |", "| --- |" + " --- |" * len(ADAPTED)]
    for behaviour, words in BEHAVIOURS.items():
        lines.append(f"| {words} | {' | '.join(cells[name, behaviour] for name in ADAPTED)} |")
    lines += [
        "",
        *(f"- {TITLES[name]}, {BEHAVIOURS[each]}: {why}" for name in ADAPTED for each, why in reasons[name].items()),
    ]
    if lines[-1]:
        lines.append("")
    lines += [f"| hands work to → | {' | '.join(TITLES.values())} |", "| --- |" + " --- |" * len(TITLES)]
    for source in ENVIRONMENTS:
        lines.append(f"| {TITLES[source]} | {' | '.join(pairs[source, target] for target in ENVIRONMENTS)} |")
    return "\n".join(lines) + "\n"


def claimed(page: Path = PAGE) -> str:
    """Returns what the page has between its marks."""
    return page.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def write(made: str, page: Path = PAGE) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}{made}{END}{rest.partition(END)[2]}", encoding="utf-8")
