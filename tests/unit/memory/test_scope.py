"""Scopes are paths of whole segments, seen up and down."""

from __future__ import annotations

import pytest

from baton.domain.errors import InvalidInput
from baton.domain.memory.scope import MAX_DEPTH, MAX_SCOPE, MAX_SEGMENT, ROOT, above, line_of, parse_scope, sees
from baton.domain.memory.scope import steps_between as steps

DEEPEST = "/".join("abcdefgh"[:MAX_DEPTH])


@pytest.mark.parametrize(
    ("viewer", "scope", "is_seen"),
    [
        ("src/auth", "src", True),
        ("src/auth", "src/auth/jwt", True),
        ("src/auth", "src/auth", True),
        ("src/auth", "src/authz", False),
        ("src/authz", "src/auth", False),
        ("src/auth", "src/billing", False),
        ("src/auth", "docs", False),
        ("src/auth", ROOT, True),
        (ROOT, "src/auth/jwt", True),
        (ROOT, ROOT, True),
        ("src", "SRC", False),
    ],
)
def test_a_scope_sees_what_is_above_and_below_it_by_whole_segments(viewer: str, scope: str, is_seen: bool) -> None:
    assert sees(viewer, scope) is is_seen
    assert sees(scope, viewer) is is_seen


def test_closeness_counts_segments() -> None:
    assert [steps("a/b", each) for each in ("a/b", "a", "a/b/c/d", ROOT, "a/c")] == [0, 1, 2, 2, None]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("project", ROOT),
        ("/project/", ROOT),
        ("project/src", "src"),
        ("./src/auth/", "src/auth"),
        ("/src", "src"),
        ("src/app/[id]/page 2.tsx", "src/app/[id]/page 2.tsx"),
        ("src/cafe\N{COMBINING ACUTE ACCENT}", "src/caf\N{LATIN SMALL LETTER E WITH ACUTE}"),
        (DEEPEST, DEEPEST),
        ("project/" + DEEPEST, DEEPEST),
        ("x" * MAX_SEGMENT, "x" * MAX_SEGMENT),
    ],
)
def test_a_scope_has_one_form(text: str, scope: str) -> None:
    assert parse_scope(text) == scope
    assert parse_scope(scope) == scope


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", "a//b", ".", "..", "a/../b", "a/./b", "a\\b", "a\nb", "a/ b", "a/b ", "a/\N{ZERO WIDTH SPACE}"),
        DEEPEST + "/i",
        "x" * (MAX_SEGMENT + 1),
        "/".join(["x" * MAX_SEGMENT] * 3),
    ],
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_scope(text, "where")
    assert refused.value.field == "where"


def test_the_line_of_a_scope_begins_at_the_root() -> None:
    assert line_of("a/b/c") == (ROOT, "a", "a/b", "a/b/c")
    assert above("a/b") == (ROOT, "a")
    assert line_of(ROOT) == (ROOT,)
    assert above(ROOT) == ()


def test_the_longest_scope_has_so_many_characters() -> None:
    longest = "/".join(["x" * MAX_SEGMENT, "x" * MAX_SEGMENT, "x" * (MAX_SCOPE - 2 * MAX_SEGMENT - 2)])
    assert parse_scope(longest) == longest
    with pytest.raises(InvalidInput):
        parse_scope(longest + "x")
