"""The front door of the servers on this machine: programs that run here may come in, and a server's own pages; no other
page that somebody's browser has open.

    python -P tools/stack/front_door.py    serve the local engine behind it, in one process; the environment says how

The engine runs posted code, answers every origin, and takes "test" for an administrator. So whoever calls its AWS
services shows the stack's key as well (ENGINE_KEY, which AWS clients send at the end of their User-Agent; the functions
inherit it), and the paths by which it is administered are closed to all. The deployed API needs no such key: it has
tokens of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ENGINE_KEY = "AWS_SDK_UA_APP_ID"
READY = ("GET", "/_ministack/ready")
SAVE = ("POST", "/_baton/save")  # tools/stack/keeper.py

Headers = Sequence[tuple[str, str]]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]
# The engine's own: an account, a region, and what is mapped to a function there.
Mapped = tuple[str, str, Mapping[str, Any]]

# The last is what the engine calls a distribution of CloudFront's: tests ask by it.
_THIS_MACHINE = re.compile(r"(127\.0\.0\.1|localhost|[a-z0-9]+\.cloudfront\.localhost)(:[0-9]+)?")
# No more than what the engine itself takes for a deployed API: any other name would reach its AWS services.
_DEPLOYED_API = re.compile(r"([a-f0-9]{8}\.execute-api|[a-z0-9]{32}\.lambda-url\.us-east-1)\.localhost(:[0-9]+)?")
# First segments of paths that the engine answers under any name, so that they never reach the deployed API.
_ENGINES_OWN = re.compile(r"(_|iceberg|v[0-9]|[A-Z]).*|health|oauth2|login|logout|restapis")
# What posts to a connection is a caller of AWS's, which signs there.
_POSTS = re.compile(r"/[^/]*/@connections(/|$)")
# Of API Gateway.
_LARGEST_BODY = 10_000_000


def refusal(method: str, headers: Headers) -> str | None:
    """Why nobody may ask this, or None."""
    named = _Named(headers)
    host = named.host()
    if not (_THIS_MACHINE.fullmatch(host) or _DEPLOYED_API.fullmatch(host)):
        return "This server is asked by a name of this machine only."
    if method == "OPTIONS" or any(origin != f"http://{host}" for origin in named.all("origin")):
        return "No page of another origin may ask here."
    sites = set(named.all("sec-fetch-site"))
    if not sites <= {"same-origin", "none"} and not named.is_followed_link(method):
        return "No page of another site may ask here."
    return None


def engine_refusal(method: str, path: str, headers: Headers, key: str) -> str | None:
    """Why the engine isn't to be asked this, or None. ``path``: without its escapes, as the engine reads it."""
    refused = refusal(method, headers)
    if refused is not None:
        return refused
    named = _Named(headers)
    own = _ENGINES_OWN.fullmatch(path.partition("/")[2].partition("/")[0])
    if _DEPLOYED_API.fullmatch(named.host()) and not _POSTS.match(path):
        return "The API has no such path: the engine's own are closed." if own else None
    if not named.shows(key):
        return f"The stack's key is missing: set {ENGINE_KEY} to the engine_key of .baton/stack.json."
    if (path.startswith("/_") and (method, path) not in {READY, SAVE}) or path == "/health":
        return "The engine is administered by make only."
    return None


def listener_refusal(path: str, headers: Headers) -> str | None:
    """Why no WebSocket may be opened there, or None: programs may, and pages of a deployed API, at a deployed API."""
    named = _Named(headers)
    if not _DEPLOYED_API.fullmatch(named.host()) or _ENGINES_OWN.fullmatch(path.partition("/")[2].partition("/")[0]):
        return "Only a deployed API takes WebSockets."
    if any(not _DEPLOYED_API.fullmatch(origin.removeprefix("http://")) for origin in named.all("origin")):
        return "No page of another origin may listen here."
    return None


def guarded(engine: Asgi, key: str) -> Asgi:
    """The engine, asked only for what ``engine_refusal`` and ``listener_refusal`` let through."""

    async def front_door(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await engine(scope, receive, send)
        elif scope["type"] == "websocket":
            if listener_refusal(scope["path"], _headers(scope["headers"])) is None:
                offered = [(b"sec-websocket-protocol", ", ".join(scope["subprotocols"]).encode())]
                await engine({**scope, "headers": [*scope["headers"], *offered]}, receive, _with_protocol(scope, send))
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
        elif refused := engine_refusal(scope["method"], scope["path"], _headers(scope["headers"]), key):
            await _read_to_the_end(receive)
            body = json.dumps({"message": refused}).encode()
            kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": kind})
            await send({"type": "http.response.body", "body": body})
        else:
            await engine(scope, receive, send)

    return front_door


def _with_protocol(scope: Message, send: Send) -> Send:
    """Names the first protocol that was offered, as the API's function does: the engine leaves its headers out, as the
    server leaves out the one with the offer."""

    async def sent(message: Message) -> None:
        offered = scope["subprotocols"] or [None]
        await send({**message, "subprotocol": offered[0]} if message["type"] == "websocket.accept" else message)

    return sent


async def _read_to_the_end(receive: Receive) -> None:
    """Whoever is answered before their request has arrived loses the connection, and the request that they send next
    over it. No larger one is waited for than the deployed API takes."""
    size, more = 0, True
    while more and size <= _LARGEST_BODY:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)


class _Named:
    """Headers by their names. One that came twice counts twice: what is refused once is refused."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def all(self, name: str) -> list[str]:
        return [value for given, value in self._headers if given.lower() == name]

    def host(self) -> str:
        return ", ".join(self.all("host"))

    def is_followed_link(self, method: str) -> bool:
        """A person has followed a link in another page, such as one in Notion: it only opens what they ask to see."""
        mode, dest = self.all("sec-fetch-mode"), self.all("sec-fetch-dest")
        return method in {"GET", "HEAD"} and (mode, dest) == (["navigate"], ["document"])

    def shows(self, key: str) -> bool:
        words = " ".join(self.all("user-agent")).encode().split()
        return bool(key) and any(hmac.compare_digest(word, f"app/{key}".encode()) for word in words)


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]


class SharedArchive(zipfile.ZipFile):
    """An archive that is unpacked once; its members are links to what lies there. The engine unpacks a function's
    package and layers anew for each of its processes, after a look at where each path would lead: 3,000 files, and most
    of a cold start."""

    _one_at_a_time = threading.Lock()

    def namelist(self) -> list[str]:
        return [part.name for part in self._unpacked().iterdir()]

    def extractall(self, path: Any = None, members: Any = None, pwd: bytes | None = None) -> None:  # noqa: ARG002
        for part in self._unpacked().iterdir():
            Path(path or ".", part.name).symlink_to(part)

    def _unpacked(self) -> Path:
        archive = Path(self.filename or "")
        folder = Path(tempfile.gettempdir()) / "unpacked" / hashlib.sha256(archive.read_bytes()).hexdigest()
        with self._one_at_a_time:
            if not folder.exists():
                folder.parent.mkdir(exist_ok=True)
                unfinished = tempfile.mkdtemp(dir=folder.parent)
                with zipfile.ZipFile(archive) as whole:
                    whole.extractall(unfinished)
                Path(unfinished).rename(folder)
        return folder


class Windowed:
    """The mappings of a poll of streams: one that asks for a window is left out until that is over, as the engine knows
    no window and calls the function for each write."""

    def __init__(self, mappings: Callable[[], Iterable[Mapped]], now: Callable[[], float]) -> None:
        self._mappings, self._now = mappings, now
        self._next: dict[str, float] = {}

    def __call__(self) -> Iterator[Mapped]:
        for account, region, mapping in self._mappings():
            window, now = _window(mapping), self._now()
            if now >= self._next.get(mapping["UUID"], now):
                self._next[mapping["UUID"]] = now + window
                yield account, region, mapping


def _window(mapping: Mapping[str, Any]) -> float:
    """In seconds."""
    is_of_stream = "/stream/" in mapping.get("EventSourceArn", "")
    return float(mapping.get("MaximumBatchingWindowInSeconds") or 0) if is_of_stream else 0.0


def with_values(template: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The template, with the texts that its parameters are given as their defaults: the engine lets SAM see defaults
    alone, and SAM names a function's version after a parameter."""
    parameters = {
        name: {**rule, "Default": values[name]} if rule.get("Type") == "String" and name in values else rule
        for name, rule in template.get("Parameters", {}).items()
    }
    return {**template, "Parameters": parameters}


def without_slash(matched: Callable[[str, str], Any]) -> Callable[[str, str], Any]:
    """The engine's match of a route and a path, where a slash at the end makes no other path, as at AWS's gateway."""

    def match(route: str, path: str) -> Any:
        found = matched(route, path)
        return matched(route, path[:-1]) if found is None and path.endswith("/") else found

    return match


def main() -> None:
    """As the engine's own program does it, in the engine's environment."""
    import resource

    import uvicorn
    from ministack import app as program
    from ministack.core import lambda_runtime, persistence
    from ministack.services import apigateway, dynamodb, lambda_svc
    from ministack.services.cloudformation import changesets, engine, handlers

    sys.path.append(str(Path(__file__).parents[2]))  # behind all others: the engine's modules come first
    from tools.stack import engine_queries
    from tools.stack.forked import Forks, marked
    from tools.stack.keeper import RUN, SAVES, Keeper, files_of
    from tools.stack.saves import Saves

    engine_queries.install(dynamodb)
    lambda_runtime.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": Forks()})
    lambda_runtime.Worker = marked(lambda_runtime.Worker)
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": SharedArchive})
    translate = engine._apply_transforms

    def translate_with_values(template: dict[str, Any], *given: Any) -> Any:
        values = engine._transform_parameters(template, *(*given, None, None)[:2])
        return translate(with_values(template, values), *given)

    changesets._apply_transforms = handlers._apply_transforms = translate_with_values
    apigateway._extract_path_params = without_slash(apigateway._extract_path_params)
    poll, mappings = lambda_svc._poll_dynamodb_streams, lambda_svc._iter_all_esms
    windowed = Windowed(mappings, time.monotonic)

    def poll_in_windows() -> bool:
        """In the engine's one thread that polls."""
        lambda_svc._iter_all_esms = windowed
        try:
            return bool(poll())
        finally:
            lambda_svc._iter_all_esms = mappings

    lambda_svc._poll_dynamodb_streams = poll_in_windows

    app: Asgi = program.app
    if persistence.PERSIST_STATE:
        services = program._build_persistence_save_dict
        saves, work = Saves(Path(os.environ[SAVES])), Path(persistence.STATE_DIR)
        keeper = Keeper(saves, work, os.environ[RUN], lambda: files_of(services(), persistence))
        program.save_all = lambda _: keeper.save(is_last=True)
        app = keeper.around(app)

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    uvicorn.run(
        guarded(app, os.environ[ENGINE_KEY]),
        host="127.0.0.1",
        port=int(os.environ["GATEWAY_PORT"]),
        http="httptools",
        loop="uvloop",
        ws="wsproto",
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
        access_log=False,
        server_header=False,
        date_header=False,
    )


if __name__ == "__main__":
    main()
