"""Texts of agents and people, made harmless for a terminal."""

from __future__ import annotations

import json
import re

# Emoji, and signs that are drawn as such: a selector after one and a joiner between two are part of the picture.
PICTURE = (
    r"[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    r"\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Letters of Arabic, Syriac and the scripts of India, which are spelled with joiners.
JOINED = r"[\u0620-\u077f\u08a0-\u08ff\u0900-\u0dff]"
# Controls but tab and line feed, formats (tags, bidi), fillers, lone surrogates, private use, variation selectors.
HIDING = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\U00013430-\U0001343f\U00016fe4"
    r"\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
HIDDEN = re.compile(
    rf"{HIDING}(?<!{PICTURE}[\ufe0e\ufe0f])(?<!{JOINED}[\u200c\u200d])(?:(?<![#*0-9]\ufe0f)|(?!\u20e3))"
    rf"(?:(?<!{PICTURE}\u200d)(?<!{PICTURE}\ufe0f\u200d)|(?!{PICTURE}))"
)
_BREAKS = re.compile(r"\s*[\r\n\t\u2028\u2029]+\s*")


def visible(text: str) -> str:
    r"""Returns the text with hidden characters written as ``\x1b``; lines stay lines."""
    return HIDDEN.sub(_escaped, text.replace("\r\n", "\n"))


def one_line(text: object) -> str:
    """Returns the text in one line."""
    return visible(_BREAKS.sub(" ", str(text)).strip())


def json_text(text: str) -> str:
    """Returns a JSON document with such characters as JSON's own escapes: its meaning stays."""
    return HIDDEN.sub(_json_escape, text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < 256:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 65_536 else f"\\U{number:08x}"


def _json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]
