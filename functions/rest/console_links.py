"""Links that lead into the console.

Events, marker answers and pages of the tracker name what they are about by its address in the API; a person who follows
one is led to the page that shows it, and a program is answered as ever.

Nothing is looked up for that, so nobody learns what there is: the page asks, with the rights of who is signed in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from rest import answers
from rest.request import Request
from rest.routing import PATTERNS, Endpoint

VARY = "Accept, Authorization, Baton-Session"
_HTML, _JSON = ("text/html", "text/*", "*/*"), ("application/json", "application/*", "*/*")


def page_asked_for(request: Request, route: Endpoint, params: Mapping[str, str]) -> answers.Answer | None:
    """Returns the way to the console for a browser that follows a link to what the route answers; None for others."""
    if not _is_browser(request) or any(not re.fullmatch(PATTERNS[name], value) for name, value in params.items()):
        return None
    # From the address that the browser knows: a front door may have taken the beginning of the path away.
    up = "../" * (request.path.count("/") - 1)
    to = f"{up}console/#{(route.page or '').format(**params)}"
    return answers.Answer(HTTPStatus.SEE_OTHER, headers={"Location": to, "Vary": VARY})


def _is_browser(request: Request) -> bool:
    shows_a_token = request.header("authorization") or request.header("baton-session")
    accepted = _accepted(request.header("accept") or "")
    return not shows_a_token and "text/html" in accepted and _weight(accepted, _HTML) > _weight(accepted, _JSON)


def _accepted(header: str) -> Mapping[str, float]:
    """Returns how much each type is wanted: 1 where nothing is said, 0 for what can't be read."""
    found = {}
    for each in header.lower().split(","):
        name, *options = (part.strip() for part in each.split(";"))
        weight = next((option[2:] for option in options if option.startswith("q=")), "1")
        found[name] = float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight) else 0.0
    return found


def _weight(accepted: Mapping[str, float], names: tuple[str, ...]) -> float:
    """The most exact name has the say."""
    return next((accepted[name] for name in names if name in accepted), 0.0)
