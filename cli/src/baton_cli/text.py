"""Texts of agents and people, made harmless for a terminal."""

from __future__ import annotations

import json
import re

from baton_client.texts import HIDDEN

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
