"""Shapes of secrets: a name and a pattern for each kind.

A pattern matches a vendor's prefix or the text beside the secret, never a random look: ids, hashes and encoded files
pass. Every pattern takes time linear in the text: its repetitions are bounded, or start only where no other repetition
of the same characters can and never backtrack.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret. Several shapes may have one name."""

    name: str
    hints: tuple[str, ...]  # in lower case: a text without any of them holds no such secret
    pattern: re.Pattern[str]  # its first group is the secret, else the whole match


@dataclass(frozen=True, slots=True)
class FoundSecret:
    name: str
    start: int
    end: int


# The part of a key that is searched: names of secrets are short, and a list repeats its key for every item.
MAX_NAME = 64
SHORTEST = 8
# The longest secret of a fixed length, with the name and the sign before it.
_LONGEST_FIXED_LENGTH = 160
# Before a prefix: it must not continue a word.
_WORD_START = r"(?<![A-Za-z0-9])"
# Between a name and its value, in settings files, headers, JSON and JSON within JSON.
_SEPARATOR = r"""[\\"'\s]{0,8}[:=>][\\"'\s]{0,8}"""
# A token has a digit. Joined words without one are prose about a token.
_DIGIT_AHEAD = r"(?=[A-Za-z_-]{0,80}[0-9])"


def _shape(name: str, hints: str, pattern: str) -> Shape:
    return Shape(name, tuple(hints.split()), re.compile(pattern, re.DOTALL))


SHAPES = (
    _shape("aws_access_key", "akia asia abia acca", _WORD_START + r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape(
        "aws_secret_key",
        "secret",
        rf"(?i:secret[_-]?(?:access[_-]?)?key){_SEPARATOR}(?![0-9a-f]{{40}})([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
    ),
    _shape("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _WORD_START + r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("github_token", "github_pat_", rf"{_WORD_START}github_pat_{_DIGIT_AHEAD}[A-Za-z0-9_]{{22,}}"),
    _shape(
        "gitlab_token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent-",
        rf"{_WORD_START}gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-{_DIGIT_AHEAD}[A-Za-z0-9_-]{{20,}}",
    ),
    _shape("slack_token", "xox", rf"{_WORD_START}xox[abeoprs](?:\.xox[bp])?-{_DIGIT_AHEAD}[A-Za-z0-9-]{{10,}}"),
    _shape("slack_token", "xapp-", _WORD_START + r"xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    _shape(
        "slack_webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    _shape("anthropic_key", "sk-ant-", rf"{_WORD_START}sk-ant-{_DIGIT_AHEAD}[A-Za-z0-9_-]{{20,}}"),
    _shape(
        "openai_key",
        "sk-",
        rf"{_WORD_START}sk-(?:(?:proj|svcacct|admin)-{_DIGIT_AHEAD}[A-Za-z0-9_-]{{20,}}|{_DIGIT_AHEAD}[A-Za-z0-9]{{32,}})",
    ),
    _shape("google_key", "aiza", _WORD_START + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("google_key", "gocspx- ya29.", rf"{_WORD_START}(?:GOCSPX-|ya29\.){_DIGIT_AHEAD}[A-Za-z0-9_-]{{20,}}"),
    _shape("stripe_key", "k_live_ k_test_", _WORD_START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("stripe_key", "whsec_", rf"{_WORD_START}whsec_{_DIGIT_AHEAD}[A-Za-z0-9+/=]{{24,}}"),
    _shape("notion_token", "ntn_", _WORD_START + r"ntn_[A-Za-z0-9]{40,}"),
    _shape("notion_token", "secret_", rf"{_WORD_START}secret_{_DIGIT_AHEAD}[A-Za-z0-9]{{43}}(?![A-Za-z0-9_])"),
    _shape("npm_token", "npm_", _WORD_START + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])"),
    _shape("pypi_token", "pypi-age", _WORD_START + r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _shape("baton_token", "baton_", _WORD_START + r"baton_[0-9a-z]{8,40}_[0-9a-f]{64}"),
    _shape("claim_id", "clm_", _WORD_START + r"clm_[0-9a-hjkmnp-tv-z]{26}(?![A-Za-z0-9])"),
    _shape(
        "jwt",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+",
    ),
    _shape(
        "private_key",  # the header with its content; the header alone is no secret
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?=.{0,160}[A-Za-z0-9+/]{24})"
        r"(?:[^-]++|-(?!----END ))*+(?:-----END [A-Z0-9 ]{0,80}-----)?",
    ),
    _shape(
        "authorization_header",
        "authorization",
        rf"(?i:authorization){_SEPARATOR}(?i:bearer|basic|token)\s{{1,4}}(?=[A-Za-z._~+/-]{{0,200}}[0-9=])([A-Za-z0-9._~+/=-]{{12,}})",
    ),
    _shape(
        "bearer_token",
        "bearer",
        _WORD_START + r"(?i:bearer)\s{1,4}(?=[A-Za-z._~+/-]{0,200}[0-9])([A-Za-z0-9._~+/=-]{20,})",
    ),
    _shape(
        "url_password",  # except ${VARIABLE}, <placeholder>, {placeholder}, $VARIABLE and ***
        "://",
        r"://[^\s/?#:@\"'<>\[\]]{0,100}:(?!(?:\$?\{{1,2}[^\s@{}]{1,60}\}{1,2}|<[^\s@<>]{1,60}>|\$[A-Za-z_]\w{0,60}|\*{1,60})@)"
        r"([^\s/?#@\"']{1,200})@",
    ),
)


def secrets_in(text: str, name: str = "") -> Iterator[FoundSecret]:
    """Yields the secrets in a text. ``name``: the key of the text, as some kinds are recognised by their name only."""
    if len(text) < SHORTEST:
        return
    prefix = f"{name[:MAX_NAME]}: "
    searched = prefix + text
    lower = searched.lower()
    for shape in SHAPES:
        for hint in shape.hints:  # `any` takes twice the time for the whole of many short texts
            if hint in lower:
                break
        else:
            continue
        group = 1 if shape.pattern.groups else 0
        for match in shape.pattern.finditer(searched):
            if match.start(group) >= len(prefix):
                yield FoundSecret(shape.name, match.start(group) - len(prefix), match.end(group) - len(prefix))


def maskable(text: str, name: str = "", most: int = sys.maxsize) -> list[FoundSecret]:
    """Returns the secrets to mask, in order and without overlaps: all that ``secrets_in`` finds, and those that become
    secrets beside a mask, because a mask ends the word around it. Reads the text once, then only the pieces beside
    masks. Stops at ``most`` and one more, by which the caller sees that there are more."""
    first = apart(secrets_in(text, name))
    prefix = f"{name[:MAX_NAME]}: "
    searched, offset = prefix + text, len(prefix)
    found = [FoundSecret(each.name, each.start + offset, each.end + offset) for each in first]
    if found:
        borders = [0, *(at for each in found for at in (each.start, each.end)), len(searched)]
        for start, end in zip(borders[::2], borders[1::2], strict=True):
            _add_beside_masks(searched, (start, end), offset, found, most)
    return sorted((FoundSecret(s.name, s.start - offset, s.end - offset) for s in found), key=lambda each: each.start)


def _add_beside_masks(searched: str, piece: tuple[int, int], offset: int, found: list[FoundSecret], most: int) -> None:
    """Adds the secrets at both ends of a piece between two masks, or between a mask and an end of the text: one may
    begin right after a mask or end right before one."""
    start, end = piece
    while start > 0 and len(found) <= most and (secret := _at_start(searched, start, end)):
        found.append(secret)
        start = secret.end
    while end < len(searched) and len(found) <= most and (secret := _at_end(searched, start, end)):
        if secret.start < offset:
            return
        found.append(secret)
        end = secret.start


def _at_start(searched: str, start: int, end: int) -> FoundSecret | None:
    piece = searched[start:end]
    if len(piece) < SHORTEST:
        return None
    return _longest([(shape, match) for shape in SHAPES if (match := shape.pattern.match(piece))], start)


def _at_end(searched: str, start: int, end: int) -> FoundSecret | None:
    """Returns a secret that ends with the piece: only those of a fixed length depend on what follows them."""
    piece = searched[start:end]
    begin = max(0, len(piece) - _LONGEST_FIXED_LENGTH)
    matches = [(shape, match) for shape in SHAPES for match in shape.pattern.finditer(piece, begin)]
    return _longest([(shape, match) for shape, match in matches if match.end() == len(piece)], start)


def _longest(matches: Iterable[tuple[Shape, re.Match[str]]], offset: int) -> FoundSecret | None:
    spans = [
        FoundSecret(shape.name, match.start(group) + offset, match.end(group) + offset)
        for shape, match in matches
        for group in [1 if shape.pattern.groups else 0]
    ]
    return max(spans, key=lambda each: each.end - each.start, default=None)


def apart(secrets: Iterable[FoundSecret]) -> list[FoundSecret]:
    """Returns the secrets in order. Overlapping ones become one, with the name of the first."""
    found: list[FoundSecret] = []
    for secret in sorted(secrets, key=lambda each: each.start):
        if found and secret.start < found[-1].end:
            found[-1] = replace(found[-1], end=max(found[-1].end, secret.end))
        else:
            found.append(secret)
    return found
