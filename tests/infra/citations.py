"""What documents, docstrings and comments cite, and whether it is there: pages and their sections, invariants,
decisions, files, and the names of code and tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/baton/python/baton"
INVARIANTS = ROOT / "docs/invariants.md"
# What test data names, and nobody is sent to.
MADE_UP = {"docs/auth/bearer.md"}
# What a pattern can't match without: most texts have none of it, and needn't be gone through.
_WORDS_OUTSIDE = ("../shared", "DESIGN", "ource document", "ruth", "spec/", "source/")
# A path in a text may begin at one of these.
STARTS = (ROOT, ROOT / "layers/baton/python", PACKAGE, ROOT / "functions", ROOT / "tests")

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_PAGE = re.compile(r"(?<![\w/.-])(docs/[\w./-]+\.(?:md|json))((?:,? (?:to |and )?§\d+)*)")
_FILE = re.compile(
    r"(?<![\w/.{<-])((?:layers|functions|tools|tests|domain|services|adapters|rest|api|support)/[\w/.-]*\w\.(?:py|yaml))\b"
)
_INVARIANT = re.compile(r"\b[Ii]nvariants? (\d+(?:(?:, | and |, and )\d+)*)")
_DECISION = re.compile(r"\b[Dd]ecisions? (\d{3})\b")
# Among decisions, where it is clear what three digits are.
_BARE_DECISION = re.compile(r"\((0\d\d)\b")
_FOREIGN_SECTION = re.compile(r"RFC \d+ §[\d.]+")
_OUTSIDE = re.compile(
    r"\.\./shared\b|\bDESIGN\.md|\bDESIGN,|[Ss]ource document\b|\b[Tt]ruths? \d|(?<![\w/.])spec/\w+\.md"
    r"|\bsource/[\w-]+\.md"
)


def problems_in(path: Path, text: str) -> list[str]:
    """What the file at ``path`` cites that isn't there."""
    flat = _flat(text)
    found: list[str] = []
    if any(each in flat for each in _WORDS_OUTSIDE):
        found += [f"{each.group()!r} leads out of the repository" for each in _OUTSIDE.finditer(flat)]
    found += _pages(_LINK.sub(_linked_text, flat) if path.suffix == ".md" else flat)
    found += [
        f"no file {each}" for each in _FILE.findall(flat) if not any((start / each).is_file() for start in STARTS)
    ]
    invariants = _INVARIANT.findall(flat) if "nvariant" in flat else []
    numbers = [number for each in invariants for number in re.findall(r"\d+", each)]
    found += [f"no invariant {each}" for each in numbers if each not in _sections(INVARIANTS)]
    named = _DECISION.findall(flat) if "ecision" in flat else []
    if path.parent == ROOT / "docs/decisions":
        named += _BARE_DECISION.findall(flat)
    found += [f"no decision {each}" for each in named if not list((ROOT / "docs/decisions").glob(f"{each}-*.md"))]
    if path.suffix == ".md":
        found += _links(path, flat)
    return found


def unproven(text: str) -> list[str]:
    """Invariants (each a section of ``text``) that name no code that holds them, or no test that proves them."""
    found: list[str] = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        targets = [target for _, target in _LINK.findall(section)]
        if not any(each.startswith(("../layers/", "../functions/")) for each in targets):
            found.append(f"invariant {section.splitlines()[0]}: held by nothing")
        if not any(each.startswith("../tests/") for each in targets):
            found.append(f"invariant {section.splitlines()[0]}: proven by nothing")
    return found


def _flat(text: str) -> str:
    """On one line, so that a citation may go over the end of one."""
    return re.sub(r"\s*\n\s*(?:#+ )?", " ", text)


def _linked_text(link: re.Match[str]) -> str:
    """What a link cites is looked at as a link: only what stands around it is left."""
    return " " if "§" in link[1] else link[1]


def _pages(flat: str) -> Iterator[str]:
    if "docs/" not in flat and "§" not in flat:
        return
    for page, sections in _PAGE.findall(flat):
        if page in MADE_UP:
            continue
        if not (ROOT / page).is_file():
            yield f"no page {page}"
            continue
        for number in re.findall(r"§(\d+)", sections):
            if number not in _sections(ROOT / page):
                yield f"no section {number} in {page}"
    rest = _FOREIGN_SECTION.sub("", _PAGE.sub("", flat))
    if "§" in rest:
        at = rest.index("§")
        yield f"a section of no page: {rest[max(0, at - 40) : at + 5]!r}"


def _links(path: Path, flat: str) -> Iterator[str]:
    for text, link in _LINK.findall(flat):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        there = (path.parent / target).resolve() if target else path
        if not there.exists():
            yield f"no {link}"
        elif anchor and anchor not in _anchors(there):
            yield f"no heading for {link}"
        elif (section := re.search(r"§(\d+)", text)) and not anchor.startswith(f"{section[1]}-"):
            yield f"{text!r} leads to {link}"
        elif path == INVARIANTS and there.suffix == ".py" and not _defines(there, text.rpartition(": ")[2]):
            yield f"no {text.rpartition(': ')[2]} in {target}"


@cache
def _sections(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r"^## (\d+)\. ", page.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def _anchors(page: Path) -> frozenset[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings)


def _defines(code: Path, name: str) -> bool:
    text = code.read_text(encoding="utf-8")
    return re.search(rf"^\s*(?:def|class) {re.escape(name)}\b|^{re.escape(name)} = ", text, re.MULTILINE) is not None
