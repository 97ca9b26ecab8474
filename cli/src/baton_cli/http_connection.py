"""The HTTP connection to the API. It sends a request once, without a retry."""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from baton_cli import VERSION
from baton_cli.failures import Unreachable

MAX_ANSWER_BYTES = 64 * 2**20
LOOPBACK = "127.0.0.1"


class ApiReply(NamedTuple):
    """``headers``: their names in lower case. ``json``: None where there is no body, a text where it isn't JSON."""

    status: int
    headers: Mapping[str, str]
    json: Any


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """``path`` begins with a slash and has its query. ``key``: the Idempotency-Key."""

    method: str
    path: str
    body: Any = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes | None:
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body, ensure_ascii=True).encode()


class HttpConnection:
    """A connection to one API, kept open between requests. For one thread."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = urlsplit(url), token
        self._connection: http.client.HTTPConnection | None = None

    def send(self, request: HttpRequest, timeout_seconds: float) -> ApiReply:
        """Returns the answer, whatever its status. Raises ``Unreachable``: then it isn't known whether the request
        took effect."""
        is_fresh = self._connection is None
        try:
            return self._exchange(request, timeout_seconds)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as exc:
            if is_fresh:
                raise self._unreachable(exc) from exc
            return self.send(request, timeout_seconds)  # the server has closed a connection that was idle
        except (OSError, http.client.HTTPException) as exc:
            raise self._unreachable(exc) from exc

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, request: HttpRequest, timeout_seconds: float) -> ApiReply:
        try:
            return self._answer_to(request, self._connected(timeout_seconds))
        except BaseException:  # an interrupt, too, leaves half an answer on the connection
            self.close()
            raise

    def _answer_to(self, request: HttpRequest, connection: http.client.HTTPConnection) -> ApiReply:
        connection.request(request.method, self._url.path + request.path, request.content, self._headers(request))
        response = connection.getresponse()
        content = response.read(MAX_ANSWER_BYTES)
        if response.will_close:
            self.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return ApiReply(response.status, headers, _decoded(content))

    def _connected(self, timeout_seconds: float) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = _connection(self._url)
        self._connection.timeout = timeout_seconds
        if self._connection.sock is not None:
            self._connection.sock.settimeout(timeout_seconds)
        return self._connection

    def _headers(self, request: HttpRequest) -> dict[str, str]:
        headers = {"Host": self._url.netloc, "User-Agent": f"baton-cli/{VERSION}", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        return headers | dict(request.headers)

    def _unreachable(self, exc: Exception) -> Unreachable:
        said = "it didn't answer in time" if isinstance(exc, TimeoutError) else str(exc) or type(exc).__name__
        return Unreachable(f"{self._url.geturl()} doesn't answer", said, "baton doctor")


def _connection(url: SplitResult) -> http.client.HTTPConnection:
    """Not every resolver knows ``*.localhost``, which is this machine."""
    host = url.hostname or ""
    if host.endswith(".localhost"):
        host = LOOPBACK
    if url.scheme != "https":
        return http.client.HTTPConnection(host, url.port)
    context = ssl.create_default_context()
    if (proxy := _proxy(host)) is None:
        return http.client.HTTPSConnection(host, url.port, context=context)
    connection = http.client.HTTPSConnection(proxy.hostname or "", proxy.port or 80, context=context)
    connection.set_tunnel(host, url.port or 443, headers=_proxy_headers(proxy))
    return connection


def _proxy(host: str) -> SplitResult | None:
    """What HTTPS_PROXY names, unless NO_PROXY names the host."""
    if not (os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")):
        return None
    from urllib.request import getproxies, proxy_bypass  # takes long to load

    found = getproxies().get("https", "")
    if not found or proxy_bypass(host):
        return None
    return urlsplit(found if "//" in found else f"//{found}")


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(said.encode()).decode()}"}


def _decoded(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")
