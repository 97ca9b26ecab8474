"""Measures the English of every kind of text, and compares two figures of each kind with their ceilings: headless
phrases per 1,000 words, and the share of sentences that begin without a noun.

english.py           print the figures
english.py --check   fail if a figure is above its ceiling
english.py --write   lower the ceilings to today's figures; a ceiling never rises
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.docs.english_texts import Text, texts
from tools.stack.deployment import ROOT

CEILINGS = Path("tools/docs/english_ceilings.json")
SUBJECTS = "commit subjects"
NAMED = 5
# A phrase of these has no noun of its own: "what is answered" in place of "the answer".
HEADLESS = re.compile(
    r"\b(?:what|whatever|whoever|whom|whose|nobody|somebody|anybody|(?:of|by|for|to|from|in) which"
    r"|those (?:that|who)|the ones? that|one that|one of)\b",
    re.IGNORECASE,
)
WITHOUT_A_NOUN = re.compile(
    r"(?:what|who|whoever|whom|that|of|as|whether|so|it|they|then|these|those|the same|also|again|none|one|others?"
    r"|either|both|such|nor|until|since|how|where|why|which)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_CLAUSE = re.compile(rf"{_SENTENCE.pattern}|;\s|:\s(?=[a-z])")
_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_WORD = re.compile(r"[A-Za-z']+")


@dataclass(frozen=True)
class Sentence:
    path: str
    line: int
    text: str
    words: int
    phrases: int
    begins_without_a_noun: bool

    @property
    def weight(self) -> int:
        return self.phrases + 2 * self.begins_without_a_noun


@dataclass(frozen=True)
class Share:
    """A figure, kept as its two counts, so that no rounding hides a sentence."""

    count: int
    of: int

    def __lt__(self, other: Share) -> bool:
        return self.count * other.of < other.count * self.of

    def per(self, unit: int) -> float:
        return unit * self.count / (self.of or 1)


@dataclass(frozen=True)
class Figures:
    """The figures of a kind: headless phrases among its words, and openings without a noun among its sentences."""

    phrases: Share
    openings: Share

    @classmethod
    def of(cls, found: list[Sentence]) -> Figures:
        phrases = Share(sum(each.phrases for each in found), sum(each.words for each in found))
        return cls(phrases, Share(sum(each.begins_without_a_noun for each in found), len(found)))

    def lowered(self, now: Figures) -> Figures:
        return Figures(min(self.phrases, now.phrases), min(self.openings, now.openings))

    def __str__(self) -> str:
        return (
            f"{self.phrases.per(1000):6.2f} headless phrases per 1,000 words, "
            f"{self.openings.per(100):6.2f} % of the sentences begin without a noun"
        )


def sentences(text: Text) -> Iterator[Sentence]:
    """Yields the sentences of two words and more; in a page the clauses of three. ``X`` stands for code."""
    ends, fewest = (_CLAUSE, 3) if text.path.endswith(".md") else (_SENTENCE, 2)
    plain = _CODE.sub(lambda found: "X" + "\n" * found[0].count("\n"), text.text)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    start = 0
    for end in [*(found.span() for found in ends.finditer(plain)), (len(plain), len(plain))]:
        piece = plain[start : end[0]]
        spoken = " ".join(piece.replace("*", "").split())
        if (words := len(_WORD.findall(spoken))) >= fewest:
            line = text.line + plain.count("\n", 0, start + len(piece) - len(piece.lstrip()))
            begins = bool(WITHOUT_A_NOUN.match(spoken))
            yield Sentence(text.path, line, spoken, words, len(HEADLESS.findall(spoken)), begins)
        start = end[1]


def measured(root: Path, since: str) -> dict[str, list[Sentence]]:
    """Returns the sentences of each kind below ``root``, and of the subjects of the commits after ``since``."""
    found: dict[str, list[Sentence]] = defaultdict(list)
    for kind, text in [*texts(root), *((SUBJECTS, each) for each in _subjects(root, f"{since}..HEAD"))]:
        found[kind] += sentences(text)
    return dict(sorted(found.items()))


def _subjects(root: Path, commits: str) -> list[Text]:
    lines = _git(root, "log", "--no-merges", "--max-count=1000", "--format=%h %s", commits)
    return [Text(f"commit {name}", 1, subject) for name, _, subject in (line.partition(" ") for line in lines)]


def _git(root: Path, *arguments: str) -> list[str]:
    """Returns the lines that git prints. An archive and a shallow clone have no history: nothing is printed there."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def ceilings(root: Path) -> tuple[str, dict[str, Figures]]:
    """Returns the commit of the first figures, and the ceilings of each kind."""
    stored = json.loads((root / CEILINGS).read_text(encoding="utf-8"))
    return stored["since"], {
        kind: Figures(Share(*row["phrases in words"]), Share(*row["openings in sentences"]))
        for kind, row in stored["ceilings"].items()
    }


def write(root: Path) -> None:
    """Lowers each ceiling to today's figure. A kind without a ceiling gets its first one."""
    since, rows = ceilings(root)
    for kind, found in measured(root, since).items():
        rows[kind] = rows[kind].lowered(Figures.of(found)) if kind in rows else Figures.of(found)
    store(root, since, rows)


def store(root: Path, since: str, rows: dict[str, Figures]) -> None:
    lines = [
        f'  {json.dumps(kind)}: {{"phrases in words": [{each.phrases.count}, {each.phrases.of}],'
        f' "openings in sentences": [{each.openings.count}, {each.openings.of}]}}'
        for kind, each in sorted(rows.items())
    ]
    stored = "\n".join(["{", f' "since": {json.dumps(since)},', ' "ceilings": {', ",\n".join(lines), " }", "}", ""])
    (root / CEILINGS).write_text(stored, encoding="utf-8")


def complaints(root: Path) -> Iterator[str]:
    """Yields a paragraph for each figure above its ceiling. It names the worst sentences among the changed lines."""
    since, rows = ceilings(root)
    for kind, found in measured(root, since).items():
        now, most = Figures.of(found), rows.get(kind)
        if most is None:
            yield f"{kind}: no ceiling. Run `python -m tools.docs.english --write`."
        elif most.phrases < now.phrases or most.openings < now.openings:
            worst = sorted(_changed(root, since, found), key=lambda each: (-each.weight, each.path, each.line))
            lines = [f"  {each.path}:{each.line}: {each.text}" for each in worst[:NAMED]]
            yield "\n".join([f"{kind}: {now}", f"{'ceiling':>{len(kind)}}: {most}", *lines])


def _changed(root: Path, since: str, found: Iterable[Sentence]) -> list[Sentence]:
    """Returns the sentences with a weight in lines that are newer than ``since``; all of them where git knows none."""
    heavy = [each for each in found if each.weight]
    added: set[tuple[str, int]] = set()
    path = ""
    for line in _git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", since):
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first = int(hunk[1])
            added |= {(path, number) for number in range(first, first + int(hunk[2] or 1))}
    untracked = set(_git(root, "ls-files", "--others", "--exclude-standard"))
    new = [each for each in heavy if (each.path, each.line) in added or each.path in untracked]
    return new or heavy


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the English of every kind of text.")
    parser.add_argument("--check", action="store_true", help="fail if a figure is above its ceiling")
    parser.add_argument("--write", action="store_true", help="lower the ceilings to today's figures")
    given = parser.parse_args()
    if given.write:
        write(ROOT)
    if given.check:
        found = list(complaints(ROOT))
        print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
        if found:
            print("Rewrite the sentences: subject, verb, object (CONTRIBUTING.md).", file=sys.stderr)
        return 1 if found else 0
    for kind, each in measured(ROOT, ceilings(ROOT)[0]).items():
        print(f"{kind:28}{Figures.of(each)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
