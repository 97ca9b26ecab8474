"""ETags of what is read: a caller who has an answer already learns that it still holds, without its body.

A tag is weak, and of one principal's view: another person's is another one, also of the same words. A tag may say
in which edition it was seen, and is then known to hold before the answer is made (``conditional_answers``):
``W/"<digest>.<edition>"``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from baton.domain.access.principal import Principal
from rest import answers
from rest.request import Request

# May be kept by the caller's own browser, and by nobody in between; asked for anew each time.
_KEPT = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}

LENGTH, EDITION_LENGTH = 32, 16
_WITH_EDITION = re.compile(rf'(W/"[0-9a-f]{{{LENGTH}}})\.([0-9a-f]{{{EDITION_LENGTH}}})"\Z')


def digest_of(by: Principal, *parts: str) -> str:
    """Returns a digest of what these parts decide, to this principal."""
    view = "\0".join((by.workspace, by.key, *sorted(by.scopes), "", *parts))
    return hashlib.sha256(view.encode("utf-8", "surrogatepass")).hexdigest()


def tag_of(by: Principal, *parts: str) -> str:
    """Returns the tag of an answer that these parts decide, to this principal."""
    return f'W/"{digest_of(by, *parts)[:LENGTH]}"'


def with_edition(tag: str, edition: str) -> str:
    return f'{tag[:-1]}.{edition}"'


def edition_of(tag: str) -> str | None:
    found = _WITH_EDITION.match(tag)
    return None if found is None else found[2]


def without_edition(tag: str) -> str:
    """Returns the tag of the same answer, whatever its edition."""
    found = _WITH_EDITION.match(tag)
    return tag if found is None else f'{found[1]}"'


def known_to(request: Request) -> frozenset[str]:
    """Returns the tags that the caller shows. A tag of another server's is no harm: it is none of ours."""
    header = request.header("if-none-match") or ""
    return frozenset(each.strip() for each in header.split(",") if each.strip())


def tagged(answer: answers.Answer, by: Principal, request: Request) -> answers.Answer:
    """Returns the answer with its tag, or only that it still holds. The tag is the one that its handler has given it,
    else that of its body. Nothing but a success has one."""
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
