"""The README's examples are run as they stand there, and have to answer as they say."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.deployed import Deployed

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELLIPSIS = "…"
SECTIONS = ("The API", "Handing off", "Agents that Baton runs")


def blocks() -> list[tuple[str, str]]:
    """Kind and text of every example of the sections about the API."""
    text = README.read_text(encoding="utf-8")
    sections = [text.split(f"\n## {title}\n")[1].split("\n## ")[0] for title in SECTIONS]
    return [block for section in sections for block in _BLOCK.findall(section)]


def differences(told: Any, answered: Any, path: str = "") -> list[str]:
    """Where the answer is not what the README tells. ``…`` inside a string stands for any text; an object and a list
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


def test_a_difference_is_seen() -> None:
    assert differences({"a": ["x…"], "b": None}, {"a": ["xyz", 2], "b": None, "c": 1}) == []
    assert len(differences({"a": "x…", "b": 1, "c": [1, 2], "d": {}}, {"a": "yz", "c": [2], "d": 0})) == 5


def test_the_readme_tells_the_truth(deployed: Deployed, stack_home: Path, tmp_path: Path) -> None:
    (tmp_path / ".baton").symlink_to(stack_home)
    found = blocks()
    assert [kind for kind, _ in found] == ["sh"] + ["sh", "json"] * (len(found) // 2)
    setup, known = found[0][1], ""
    for (_, command), (_, told) in zip(found[1::2], found[2::2], strict=True):
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{setup}\n{known}\n{command}"],
            cwd=tmp_path,
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
        # As the README says: TASK and CLAIM are what an answer named so.
        known += "".join(
            f"{name}={answered[field]}\n"
            for name, field in {"TASK": "task_id", "CLAIM": "claim_id"}.items()
            if answered.get(field)
        )
