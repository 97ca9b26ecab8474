"""What is stored has the shapes of the number that it carries: a kept file has both.

The file is made from the scenarios' ``stored``. It has the attributes of each kind of item with their types, those of a
claim and of an event too, but not what is inside of JSON texts.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import NUMBER, TODAY, WITHOUT_NUMBER
from golden.test_completeness import ONCE_WRITTEN, stored

pytestmark = ONCE_WRITTEN

FILE = Path(__file__).parent / "shapes.json"
WHAT_TO_DO = """What is stored has changed its shape:
{changes}
What TASK/HEAD alone gains needs no new number: other versions carry it through. Of anything else they have to notice:
raise TODAY.number in adapters/dynamodb/item_schema.py, and add a step from the number before for each kind above. Then,
in both cases, write the file anew: WRITE_SHAPES=1 pytest tests/golden/test_shapes.py, without WRITE_GOLDEN. Before the
first release, and where only a scenario shows more than before, it is enough to write it anew."""


def attributes(item: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """As ``readable_item`` names them, with type; names that are made of numbers or tokens are one."""
    for name, value in item.items():
        yield before + re.sub(r"[0-9a-f]{32}|\d+", "*", name)
        if name == "claim (M)":
            yield from attributes(value, "claim.")
        if name == "events (L)":
            for entry in value:
                yield from attributes(entry["(M)"], "events.")


def shapes() -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for partition, sort_key, item in stored():
        found[keys.kind_of_item(partition, sort_key)] |= {*attributes(item)}
    return {kind: ", ".join(sorted(names)) for kind, names in sorted(found.items())}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for kind in sorted({*before, *now}):
        was, is_ = (set(filter(None, each.get(kind, "").split(", "))) for each in (before, now))
        yield from (f"  {kind}: + {name}" for name in sorted(is_ - was))
        yield from (f"  {kind}: - {name}" for name in sorted(was - is_))


def test_what_is_stored_has_the_shapes_of_its_number() -> None:
    now = {"number": TODAY.number, "shapes": shapes()}
    if os.environ.get("WRITE_SHAPES"):
        FILE.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    changed = list(changes(kept["shapes"], shapes()))
    if changed:
        pytest.fail(WHAT_TO_DO.format(changes="\n".join(changed)), pytrace=False)
    assert kept == now, "the number was raised: write the file anew"


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"TASK/HEAD": "title (S), version (S)"}, ["  TASK/HEAD: + version (S)", "  TASK/HEAD: - version (N)"]),
        ({"TASK/HEAD": "version (N)"}, ["  TASK/HEAD: - title (S)"]),
        ({"TASK/HEAD": "title (S), version (N)", "NOTES": "at (S)"}, ["  NOTES: + at (S)"]),
        ({}, ["  TASK/HEAD: - title (S)", "  TASK/HEAD: - version (N)"]),
    ],
)
def test_a_changed_shape_is_noticed(now: dict[str, str], told: list[str]) -> None:
    assert list(changes({"TASK/HEAD": "title (S), version (N)"}, now)) == told


def test_every_item_has_the_number_but_those_that_updates_make() -> None:
    without = {
        keys.kind_of_item(partition, sort_key)
        for partition, sort_key, item in stored()
        if int(item.get(f"{NUMBER} (N)", 0)) not in range(TODAY.number, TODAY.reads + 1)
    }
    assert sorted(without - WITHOUT_NUMBER) == []
    assert len(without) > 5
