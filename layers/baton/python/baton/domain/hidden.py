"""Hidden characters: those that show nothing, or change how others are shown. With them a text says one thing to a
person and another one to a model. Each door marks them, and all go by this one class: baton-client (for the command
line and `baton-mcp`) and the console, which import nothing of this layer, have a copy each, and
tests/unit/mcp/test_hidden_characters.py compares them."""

from __future__ import annotations

import json
import re
from typing import Any

# Emoji, and signs that are drawn as such: a selector after one and a joiner between two are part of the picture.
PICTURE = (
    r"[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    r"\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Letters of Arabic, Syriac and the scripts of India, which are spelled with joiners.
JOINED = r"[\u0620-\u077f\u08a0-\u08ff\u0900-\u0dff]"
# Controls but tab and line feed, formats (tags, bidi), blanks (U+2800, U+13441), fillers, lone surrogates, private use,
# selectors, joiners.
HIDING = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u2d7f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\U0001107f"
    r"\U00013430-\U00013442\U00016fe4\U0001bc9d\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    r"\U000e0000-\U0010ffff]"
)
HIDDEN = re.compile(
    rf"{HIDING}(?<!{PICTURE}[\ufe0e\ufe0f])(?<!{JOINED}[\u200c\u200d])(?:(?<![#*0-9]\ufe0f)|(?!\u20e3))"
    rf"(?:(?<!{PICTURE}\u200d)(?<!{PICTURE}\ufe0f\u200d)|(?!{PICTURE}))"
)


def spelled_out(text: str) -> str:
    r"""Returns the text with each hidden character as ``\u{200b}``."""
    return HIDDEN.sub(lambda found: _code(found[0]), text)


def spelled_out_in(value: Any) -> Any:
    """Returns JSON with hidden characters spelled out in its texts and names; carriage returns, which files have,
    stay."""
    if isinstance(value, str):
        return HIDDEN.sub(lambda found: found[0] if found[0] == "\r" else _code(found[0]), value)
    if isinstance(value, dict):
        return {spelled_out_in(name): spelled_out_in(each) for name, each in value.items()}
    return list(map(spelled_out_in, value)) if isinstance(value, list | tuple) else value


def escaped(document: str) -> str:
    """Returns a JSON document with hidden characters as JSON's own escapes: its meaning stays."""
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], document)


def _code(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
