"""What secrets look like: a name and a shape for each kind.

A shape is met because of its maker's prefix or of what is written next to it, never because a text looks random: ids,
hashes and encoded files pass. Every pattern takes time in proportion to the text: what repeats is bounded, or begins
where nothing else of the same kind can, and never has to be given back.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Shape:
    """``hints``: in lower case; a text with none of them holds no such secret. ``pattern``: its first group is the
    secret itself, if it has one."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Found:
    name: str
    start: int
    end: int


# Names that tell are short, and a long one must not be looked through for every item of a list.
MAX_NAME = 64
SHORTEST = 8
# With the name and the sign that may stand before them.
_LONGEST_KNOWING_ITS_END = 160
# What stands before a prefix that must not be the end of a word.
_AT = r"(?<![A-Za-z0-9])"
# Between a telling name and its value, in a file of settings, a header, JSON, and JSON within JSON.
_IS = r"""[\\"'\s]{0,8}[:=>][\\"'\s]{0,8}"""
# Words in a row, joined like a token: prose about one, not one.
_HAS_DIGIT = r"(?=[A-Za-z_-]{0,80}[0-9])"


def _shape(name: str, hints: str, pattern: str) -> Shape:
    return Shape(name, tuple(hints.split()), re.compile(pattern, re.DOTALL))


SHAPES = (
    _shape("aws_access_key", "akia asia abia acca", _AT + r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape(
        "aws_secret_key",
        "secret",
        rf"(?i:secret[_-]?(?:access[_-]?)?key){_IS}(?![0-9a-f]{{40}})([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
    ),
    _shape("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _AT + r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("github_token", "github_pat_", rf"{_AT}github_pat_{_HAS_DIGIT}[A-Za-z0-9_]{{22,}}"),
    _shape(
        "gitlab_token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent-",
        rf"{_AT}gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-{_HAS_DIGIT}[A-Za-z0-9_-]{{20,}}",
    ),
    _shape("slack_token", "xox", rf"{_AT}xox[abeoprs](?:\.xox[bp])?-{_HAS_DIGIT}[A-Za-z0-9-]{{10,}}"),
    _shape("slack_token", "xapp-", _AT + r"xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    _shape(
        "slack_webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    _shape("anthropic_key", "sk-ant-", rf"{_AT}sk-ant-{_HAS_DIGIT}[A-Za-z0-9_-]{{20,}}"),
    _shape(
        "openai_key",
        "sk-",
        rf"{_AT}sk-(?:(?:proj|svcacct|admin)-{_HAS_DIGIT}[A-Za-z0-9_-]{{20,}}|{_HAS_DIGIT}[A-Za-z0-9]{{32,}})",
    ),
    _shape("google_key", "aiza", _AT + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("google_key", "gocspx- ya29.", rf"{_AT}(?:GOCSPX-|ya29\.){_HAS_DIGIT}[A-Za-z0-9_-]{{20,}}"),
    _shape("stripe_key", "k_live_ k_test_", _AT + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("stripe_key", "whsec_", rf"{_AT}whsec_{_HAS_DIGIT}[A-Za-z0-9+/=]{{24,}}"),
    _shape("notion_token", "ntn_", _AT + r"ntn_[A-Za-z0-9]{40,}"),
    _shape("notion_token", "secret_", rf"{_AT}secret_{_HAS_DIGIT}[A-Za-z0-9]{{43}}(?![A-Za-z0-9_])"),
    _shape("npm_token", "npm_", _AT + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])"),
    _shape("pypi_token", "pypi-age", _AT + r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _shape("baton_token", "baton_", _AT + r"baton_[0-9a-z]{8,40}_[0-9a-f]{64}"),
    _shape("claim_id", "clm_", _AT + r"clm_[0-9a-hjkmnp-tv-z]{26}(?![A-Za-z0-9])"),
    _shape(
        "jwt",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+",
    ),
    _shape(
        "private_key",  # with all that follows; the header alone may be talked about
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?=.{0,160}[A-Za-z0-9+/]{24})"
        r"(?:[^-]++|-(?!----END ))*+(?:-----END [A-Z0-9 ]{0,80}-----)?",
    ),
    _shape(
        "authorization_header",
        "authorization",
        rf"(?i:authorization){_IS}(?i:bearer|basic|token)\s{{1,4}}(?=[A-Za-z._~+/-]{{0,200}}[0-9=])([A-Za-z0-9._~+/=-]{{12,}})",
    ),
    _shape(
        "bearer_token",
        "bearer",
        _AT + r"(?i:bearer)\s{1,4}(?=[A-Za-z._~+/-]{0,200}[0-9])([A-Za-z0-9._~+/=-]{20,})",
    ),
    _shape(
        "url_password",  # but no ${VARIABLE}, <placeholder>, {placeholder}, $VARIABLE or ***
        "://",
        r"://[^\s/?#:@\"'<>\[\]]{0,100}:(?!(?:\$?\{{1,2}[^\s@{}]{1,60}\}{1,2}|<[^\s@<>]{1,60}>|\$[A-Za-z_]\w{0,60}|\*{1,60})@)"
        r"([^\s/?#@\"']{1,200})@",
    ),
)


def secrets_in(text: str, name: str = "") -> Iterator[Found]:
    """``name``: the key that the text is the value of, as some secrets are known by their name only."""
    if len(text) < SHORTEST:
        return
    before = f"{name[:MAX_NAME]}: "
    said = before + text
    lower = said.lower()
    for shape in SHAPES:
        for hint in shape.hints:
            if hint in lower:
                break
        else:
            continue
        group = 1 if shape.pattern.groups else 0
        for match in shape.pattern.finditer(said):
            if match.start(group) >= len(before):
                yield Found(shape.name, match.start(group) - len(before), match.end(group) - len(before))


def maskable(text: str, name: str = "", most: int = sys.maxsize) -> list[Found]:
    """In the text's order, apart from each other: all that ``secrets_in`` finds, and what comes to light once that is
    masked, as a mask ends the word that it stands in. The text is looked through once; afterwards only what stands next
    to a mask. At most ``most`` and one more, for telling that there are more."""
    first = apart(secrets_in(text, name))
    before = f"{name[:MAX_NAME]}: "
    said, shift = before + text, len(before)
    found = [Found(each.name, each.start + shift, each.end + shift) for each in first]
    if found:
        borders = [0, *(at for each in found for at in (each.start, each.end)), len(said)]
        for start, end in zip(borders[::2], borders[1::2], strict=True):
            _uncover(said, start, end, shift, found, most)
    return sorted((Found(s.name, s.start - shift, s.end - shift) for s in found), key=lambda each: each.start)


def _uncover(said: str, start: int, end: int, shift: int, found: list[Found], most: int) -> None:
    """What lies between two masks, or between one and an end of the text: a secret may begin where the one before it
    ended, and end where the next one begins."""
    while start > 0 and len(found) <= most and (secret := _at_start(said, start, end)):
        found.append(secret)
        start = secret.end
    while end < len(said) and len(found) <= most and (secret := _at_end(said, start, end)):
        if secret.start < shift:
            return
        found.append(secret)
        end = secret.start


def _at_start(said: str, start: int, end: int) -> Found | None:
    piece = said[start:end]
    if len(piece) < SHORTEST:
        return None
    return _longest([(shape, match) for shape in SHAPES if (match := shape.pattern.match(piece))], start)


def _at_end(said: str, start: int, end: int) -> Found | None:
    """Only secrets of one length know what follows them."""
    piece = said[start:end]
    begin = max(0, len(piece) - _LONGEST_KNOWING_ITS_END)
    matches = [(shape, match) for shape in SHAPES for match in shape.pattern.finditer(piece, begin)]
    return _longest([(shape, match) for shape, match in matches if match.end() == len(piece)], start)


def _longest(matches: Iterable[tuple[Shape, re.Match[str]]], shift: int) -> Found | None:
    spans = [
        Found(shape.name, match.start(group) + shift, match.end(group) + shift)
        for shape, match in matches
        for group in [1 if shape.pattern.groups else 0]
    ]
    return max(spans, key=lambda each: each.end - each.start, default=None)


def apart(secrets: Iterable[Found]) -> list[Found]:
    """In the text's order. Those that overlap become one, named like the one that begins first."""
    found: list[Found] = []
    for secret in sorted(secrets, key=lambda each: each.start):
        if found and secret.start < found[-1].end:
            found[-1] = replace(found[-1], end=max(found[-1].end, secret.end))
        else:
            found.append(secret)
    return found
