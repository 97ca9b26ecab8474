"""Sends the console's pages. It knows no data and checks no token: the pages ask the API, as any other client."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from console.console_files import ROOT, ConsoleFile, console_files
from rest import edge

METHODS = ("GET", "HEAD")
# What a page may do, said to the browser: it loads and asks nothing but its own origin, listens to the bell alone, is
# in nobody's frame, and makes no markup of a text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'{bell}; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
GUARDS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_for_console(event: Mapping[str, Any]) -> bool:
    """True for the console's paths, whatever the method. Never raises."""
    path = event.get("rawPath")
    return isinstance(path, str) and (path == ROOT or path.startswith(f"{ROOT}/"))


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    if edge.came_around(event):
        return _text(HTTPStatus.FORBIDDEN, "Nobody is answered at this address.\n", {})
    method = _method(event)
    if method not in METHODS:
        return _text(HTTPStatus.METHOD_NOT_ALLOWED, "Pages are only read.\n", {"Allow": ", ".join(METHODS)})
    page = _pages().get(str(event.get("rawPath")))
    if page is None:
        return _text(HTTPStatus.NOT_FOUND, "There is no such page. The console begins at /console/.\n", {})
    answer = _page(page, event.get("headers") or {})
    return answer if method == "GET" else answer | {"body": "", "isBase64Encoded": False}


@cache
def _guards(bell_url: str) -> Mapping[str, str]:
    """Returns the guards, with the bell's origin in the policy; with none for no address, or for one that isn't a
    bell's."""
    origin = re.match(r"wss?://[\w.:-]+(?=/)", bell_url, re.ASCII)
    return GUARDS | {"Content-Security-Policy": POLICY.format(bell=f" {origin[0]}" if origin else "")}


@cache
def _pages() -> Mapping[str, ConsoleFile]:
    return console_files()


def _method(event: Mapping[str, Any]) -> str | None:
    try:
        return str(event["requestContext"]["http"]["method"]).upper()
    except (KeyError, TypeError):
        return None


def _page(page: ConsoleFile, headers: Mapping[str, Any]) -> dict[str, Any]:
    is_zipped = _takes_gzip(str(headers.get("accept-encoding", "")))
    tag = page.tag(is_zipped=is_zipped)
    told = {"Cache-Control": page.cache, "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in _tags(str(headers.get("if-none-match", ""))):
        return _answer(HTTPStatus.NOT_MODIFIED, told, "", is_base64=False)
    told |= {"Content-Type": page.media_type} | ({"Content-Encoding": "gzip"} if is_zipped else {})
    return _answer(HTTPStatus.OK, told, page.zipped if is_zipped else page.plain, is_base64=True)


def _text(status: HTTPStatus, text: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Bytes too, as a page is: the gateway adds nothing to their type."""
    told = {"Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8", **headers}
    return _answer(status, told, base64.b64encode(text.encode()).decode(), is_base64=True)


def _answer(status: HTTPStatus, headers: Mapping[str, str], body: str, *, is_base64: bool) -> dict[str, Any]:
    return {
        "statusCode": int(status),
        "headers": {**_guards(os.environ.get("BATON_BELL_URL", "")), **headers},
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _takes_gzip(header: str) -> bool:
    """True unless gzip isn't named, or is with the weight 0."""
    for each in header.lower().split(","):
        coding, _, weight = (part.strip() for part in each.partition(";"))
        if coding == "gzip":
            return not re.fullmatch(r"q=0(\.0*)?", weight)
    return False


def _tags(header: str) -> set[str]:
    """The tags that a browser has, strong or weak: for a comparison before a GET both are the same."""
    return {each.strip().removeprefix("W/") for each in header.split(",")}
