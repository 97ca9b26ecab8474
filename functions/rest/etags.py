"""ETags of answers to reads: a caller who has the answer already learns that it still holds, and gets no body.

A tag is weak, and belongs to one principal's view: for another principal the same answer has another tag. A tag may
name the edition in which it was given. It is then known to hold before the answer is made (``conditional_answers``):
``W/"<digest>.<edition>"``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from baton.domain.access.principal import Principal
from rest import answers, console_links
from rest.request import Request

# Only the caller's own browser may keep the answer, and it asks each time whether it still holds.
_KEPT = {"Cache-Control": "private, no-cache", "Vary": console_links.VARY}

LENGTH, EDITION_LENGTH = 32, 16
_OF_A_PROXY = re.compile(r'[-;](gzip|br|deflate|zstd)"\Z')
_WITH_EDITION = re.compile(rf'(W/"[0-9a-f]{{{LENGTH}}})\.([0-9a-f]{{{EDITION_LENGTH}}})"\Z')


def digest_of(by: Principal, *parts: str) -> str:
    """Returns a digest of the parts and of the principal who sees them."""
    view = "\0".join((by.workspace, by.key, *sorted(by.scopes), "", *parts))
    return hashlib.sha256(view.encode("utf-8", "surrogatepass")).hexdigest()


def tag_of(by: Principal, *parts: str) -> str:
    """Returns the tag of an answer that follows from the parts, for this principal."""
    return f'W/"{digest_of(by, *parts)[:LENGTH]}"'


def with_edition(tag: str, edition: str) -> str:
    return f'{tag[:-1]}.{edition}"'


def edition_of(tag: str) -> str | None:
    found = _WITH_EDITION.match(tag)
    return None if found is None else found[2]


def without_edition(tag: str) -> str:
    """Returns the tag of the answer alone."""
    found = _WITH_EDITION.match(tag)
    return tag if found is None else f'{found[1]}"'


def known_to(request: Request) -> frozenset[str]:
    """Returns the tags that the caller shows, those of other servers too, as Baton writes them: the comparison ignores
    the mark of weakness (RFC 9110 §8.8.3.2), and the suffix of a proxy that compresses."""
    header = request.header("if-none-match") or ""
    shown = (each.strip().removeprefix("W/") for each in header.split(","))
    return frozenset(f"W/{_OF_A_PROXY.sub(chr(34), each)}" for each in shown if each)


def tagged(answer: answers.Answer, by: Principal, request: Request) -> answers.Answer:
    """Returns the answer with its tag, or 304 if the caller shows that tag. The tag is the one that the handler has
    set, or else that of the body. Only a 200 gets a tag."""
    if answer.status != HTTPStatus.OK:
        return answer
    text = answers.text_of(answer)
    tag = answer.headers.get("ETag") or tag_of(by, text or "")
    if without_edition(tag) in map(without_edition, known_to(request)):
        return unchanged(tag)
    return replace(answer, body=None, text=text, headers=_headers(answer.headers, tag))


def unchanged(tag: str) -> answers.Answer:
    return answers.Answer(HTTPStatus.NOT_MODIFIED, headers=_headers({}, tag))


def _headers(given: Mapping[str, str], tag: str) -> dict[str, str]:
    return {**given, **_KEPT, "ETag": tag}
