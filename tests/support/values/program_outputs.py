"""What programs print: JSON, near JSON, reports, near reports, texts and other bytes."""

from __future__ import annotations

import codecs
import json

from hypothesis import strategies as st

ODD_TEXTS = (
    *("\0", "\ufeff", "\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\x1e", "\r\n", "\r", "\n", "\t", "", " "),
    *("😀", "👩\u200d💻", "\u202e", "\ufffd", "\uffff", "\U0010ffff", "\x1b[31m", "\x1b[0m", "```", "```json\n", "---"),
    *("\\x00", "\\ud83d", '"', "\\", "ключ", "é", "e\u0301", '"baton"', "\x7f"),
)
# As they stand in JSON, whose escapes may name what no text may have.
ODD_JSON = (
    *(
        r'"\ud83d"',
        r'"\udc80"',
        r'"\ude00\ud83d"',
        r'"\u0000"',
        r'"a\u0000\ud83db"',
        r'"\ud83d\ude00"',
        r'{"\ud83d": 1}',
    ),
    *("NaN", "-Infinity", "1e400", "-1e400", "1e300", "1E2", "0.10", "-0", "12345678901234567.10", "0.1e-129"),
    *("1" * 38, "-" + "9" * 38, "1" * 39, "9" * 5_000, '{"a": 1, "a": 2}', '{"\\u0000": 1, "\\\\x00": 2}', '{"": 0}'),
    *("[" * 12 + "]" * 12, "[" * 17 + "1" + "]" * 17, '{"a": ' * 40 + "NaN" + "}" * 40, "[" * 2_000 + "]" * 2_000),
)
VERBS = ("complete", "fail", "reject", "release", "transfer", "delegate", "heartbeat", "claim", "", None, ["fail"], 1)

_texts = st.lists(st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=5)), max_size=6).map("".join)
_leaves = st.one_of(
    st.sampled_from(ODD_JSON), _texts.map(json.dumps), _texts.map(lambda text: json.dumps(text, ensure_ascii=False))
)


def _object(pairs: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in pairs) + "}"


_json = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda found: f"[{', '.join(found)}]"),
        st.lists(st.tuples(_texts, inner), max_size=4).map(_object),
    ),
    max_leaves=8,
)


@st.composite
def _reports(draw: st.DrawFn) -> str:
    """Objects that name a verb, most of them with fields that the verb doesn't take."""
    names = ("output", "notes", "reason", "failure", "verification", "to", "claim_id", "more", "not_before", "status")
    verb = json.dumps(draw(st.sampled_from(VERBS)))
    given = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    return _object([("baton", verb), *((name, draw(_json)) for name in given)])


@st.composite
def _decorated(draw: st.DrawFn) -> str:
    """A text with JSON in it, as models and scripts print it."""
    around = st.sampled_from(
        ["", "\n", "\r\n", "```\n", "```json\n", "\ufeff", "\x1b[32m", "\x1b[0m\n", "---\n", "Done: "]
    )
    return "".join([draw(around), draw(_texts), draw(around), draw(st.one_of(_reports(), _json)), draw(around)])


@st.composite
def _encoded(draw: st.DrawFn) -> bytes:
    text = draw(st.one_of(_json, _reports(), _decorated(), _texts))
    codec = draw(st.sampled_from(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"]))
    content = text.encode(codec, "replace")
    if draw(st.integers(0, 7)) == 0:  # cut within a character, or with bytes that no text has
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.sampled_from([b"", b"\xff", b"\0", b"\xf0\x9f", b"\xed\xa0\x80", b"\x80"]))
    return content


@st.composite
def _long(draw: st.DrawFn) -> bytes:
    """Up to a little more than a worker reads, as JSON, as a line, or as many lines."""
    size = draw(st.sampled_from([30_000, 100_000, 200_000, 261_000, 262_144, 262_145, 400_000]))
    piece: bytes = draw(st.sampled_from(["x", "ж", "😀", "\n", '"', "\0", "a line\r\n", "\u2028"])).encode()
    content = (piece * (size // len(piece) + 1))[:size]
    if draw(st.booleans()):
        whole = content.decode("utf-8", "ignore")
        content = json.dumps({"a": whole}, ensure_ascii=draw(st.booleans())).encode()
    return content


OUTPUTS = st.one_of(
    *[_encoded()] * 6,
    *[_reports().map(str.encode)] * 2,
    st.binary(max_size=200),
    st.sampled_from([b"", b"\n", b" \t\r\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, b"\0", b"\0\0\0\0"]),
    *[_long()],
)
