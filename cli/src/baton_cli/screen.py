"""Screens for people, drawn with rich. Only a terminal needs this module: rich takes long to load."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from baton_cli import times
from baton_cli.text import one_line, visible

LINE_ENDS = "\n"
WIDEST = 140
NARROWEST = 8
GAP = 2
# Columns that are never cut: they are copied into the next command.
WHOLE = {"ID", "Task", "Handoff", "Token", "Review", "Alert"}
# Ids and digests as Baton makes them (baton/domain/ids.py). Others may write one too, but no sentence has this form.
COPIED = re.compile(r"\b([a-z]{2,6}_[0-9a-hjkmnp-tv-z]{16,53}|[0-9a-f]{64})\b")


class Styled(NamedTuple):
    text: str
    style: str


class Screen:
    """Lines, pairs and tables. Every text is shown as it is: nothing in it is markup or an escape sequence."""

    def __init__(self, now: datetime, *, utc: bool = False, is_terminal: bool = False, width: int = 0) -> None:
        self.now, self.utc = now, utc
        self.width = width or min(shutil.get_terminal_size((100, 24)).columns, WIDEST)
        self._file = io.StringIO()
        self._console = Console(
            file=self._file,
            width=self.width,
            force_terminal=is_terminal and os.environ.get("TERM") != "dumb",
            no_color=bool(os.environ.get("NO_COLOR")) or not is_terminal,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        return LINE_ENDS.join(each.rstrip() for each in self._file.getvalue().split(LINE_ENDS))

    def title(self, text: str) -> None:
        self.line(one_line(text), "bold")

    def heading(self, text: str) -> None:
        self._console.print()
        self.line(one_line(text), "bold cyan")

    def line(self, text: str = "", style: str = "", *, indent: int = 0) -> None:
        """One line or several; a long one is wrapped at the same indent, and an id isn't broken."""
        shown = Text(visible(text), style=style)
        if self._breaks_an_id(shown, indent):
            self._beside(Text(" " * indent), shown)
        else:
            self._console.print(Padding(shown, (0, 0, 0, indent)))

    def unwrapped(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """Text that is copied, such as a command or a token: only its own line breaks are printed."""
        self._console.print(Text(f"{' ' * indent}{visible(text)}", style=style), soft_wrap=True)

    def marked(self, mark: str, text: str, style: str = "", *, indent: int = 0) -> None:
        """A mark, and beside it a text that is wrapped under its own beginning. An id isn't broken."""
        beginning, shown = Text(f"{' ' * indent}{one_line(mark)} ", style=style), Text(visible(text))
        if self._breaks_an_id(shown, beginning.cell_len):
            self._beside(beginning, shown)
            return
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_column(no_wrap=True)
        row.add_column(overflow="fold")  # a word that is wider than the screen isn't cut
        row.add_row(Text(one_line(mark), style=style), shown)
        self._console.print(Padding(row, (0, 0, 0, indent)))

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Labels and values; those without a value are left out. A digest or an id isn't broken: it is copied."""
        rows = [(Text(one_line(label), style="dim"), Text(visible(value))) for label, value in pairs if value]
        width = max((label.cell_len for label, _ in rows), default=0)
        for is_copied, group in groupby(rows, lambda row: self._breaks_an_id(row[1], width + GAP)):
            grid = Table.grid(padding=(0, 2, 0, 0))
            grid.add_column(no_wrap=True, min_width=width)
            grid.add_column(overflow="fold")
            for label, value in group:
                if is_copied:
                    label.pad_right(width + GAP - label.cell_len)
                    self._beside(label, value)
                else:
                    grid.add_row(label, value)
            self._console.print(grid)

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[str | Styled]]) -> None:
        """The last column takes what room is left, and is cut where there isn't enough; ids are never cut."""
        cells = [[_cell(each) for each in row] for row in rows]
        drawn = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
        widths = _widths(headers, cells, self.width)
        for header, width in zip(headers, widths, strict=True):
            drawn.add_column(header, no_wrap=True, overflow="ellipsis", width=width)
        for row in cells:
            drawn.add_row(*row)
        # A terminal that is narrower than the ids breaks the lines by itself.
        self._console.width = max(self.width, sum(widths) + GAP * len(widths))
        self._console.print(drawn)
        self._console.width = self.width

    def _breaks_an_id(self, text: Text, begins_at: int) -> bool:
        """True if an id or a digest of the text is wider than the room for it."""
        return any(begins_at + len(found) > self.width for found in COPIED.findall(text.plain))

    def _beside(self, beginning: Text, text: Text) -> None:
        """A text that is wrapped under its own beginning. Each id stands alone in its line, and only the terminal
        breaks it: whatever ids others write, the rest of their text keeps its indent."""
        most = max(2, self.width - NARROWEST)
        if beginning.cell_len > most:
            beginning.rstrip()
            beginning.truncate(most - 1, overflow="ellipsis")
            beginning.pad_right(most - beginning.cell_len)
        for line in self._lines(text, max(1, self.width - beginning.cell_len)):
            self._console.print(beginning + line, soft_wrap=True)
            beginning = Text(" " * beginning.cell_len)

    def _lines(self, text: Text, room: int) -> Iterator[Text]:
        for line in text.plain.split(LINE_ENDS):
            first, *rest = COPIED.split(line)
            parts = [first.rstrip(), *(each.strip() for each in rest)] if rest else [line]
            for part in filter(None, parts) if rest else parts:
                shown = Text(part, style=text.style)
                yield from [shown] if COPIED.fullmatch(part) else shown.wrap(self._console, room)

    def when(self, text: str | None) -> str:
        """A time as its age, or whole if that was asked for."""
        if not text:
            return ""
        return times.whole(text) if self.utc else times.age(text, self.now)

    def ago(self, text: str | None) -> str:
        """As ``when``, in a sentence."""
        said = self.when(text)
        return said if self.utc or not said or said.startswith("in ") else f"{said} ago"


def _cell(cell: str | Styled) -> Text:
    return Text(one_line(cell)) if isinstance(cell, str) else Text(one_line(cell.text), style=cell.style)


def _widths(headers: Sequence[str], rows: Sequence[Sequence[Text]], room: int) -> list[int]:
    """As wide as what is in them. Where that is too much, the last one gives, then the widest: never an id."""
    widths = [max(len(header), *(row[at].cell_len for row in rows)) for at, header in enumerate(headers)]
    too_much = sum(widths) + GAP * (len(widths) - 1) - room
    order = [len(widths) - 1, *sorted(range(len(widths) - 1), key=lambda at: -widths[at])]
    for at in order:
        if headers[at] not in WHOLE and not all(not row[at].plain or COPIED.fullmatch(row[at].plain) for row in rows):
            given = max(0, min(too_much, widths[at] - NARROWEST))
            widths[at] -= given
            too_much -= given
    return widths
