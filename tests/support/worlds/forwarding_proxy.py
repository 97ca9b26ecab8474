"""A proxy on loopback before the deployed API, for programs that can't send its host name or a token. It can be
shut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from threading import Event
from urllib.parse import urlsplit

from support.http_server import Received, Sent, served
from tools.stack.stack import Stack

# Headers of one connection, and headers that this server sets itself.
_HOPS = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
_OWN = {"date", "server"}


@dataclass
class ForwardingProxy:
    """``token``: is added to requests that have none."""

    api_url: str
    token: str | None = field(repr=False)
    url: str = ""
    closed: Event = field(default_factory=Event, repr=False)

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Within it, nobody gets an answer."""
        self.closed.set()
        try:
            yield
        finally:
            self.closed.clear()

    def answer(self, request: Received) -> Sent | None:
        """Passes the request and its answer on as they are."""
        if self.closed.is_set():
            return None
        api = urlsplit(self.api_url)
        with closing(HTTPConnection("127.0.0.1", api.port or 80, timeout=60)) as connection:
            headers = self._passed(request.headers) | {"Host": api.netloc}
            connection.request(request.method, request.path, request.content, headers)
            told = connection.getresponse()
            content = told.read()
        return Sent(told.status, [each for each in told.getheaders() if each[0].lower() not in _HOPS | _OWN], content)

    def _passed(self, headers: dict[str, str]) -> dict[str, str]:
        """Returns the headers to pass on. The origin of a page of this proxy becomes the API's own."""
        passed = {name: value for name, value in headers.items() if name not in _HOPS}
        if passed.get("origin") in (self.url, self.url.replace("127.0.0.1", "localhost")):
            passed["origin"] = f"http://{urlsplit(self.api_url).netloc}"
        return ({"authorization": f"Bearer {self.token}"} if self.token else {}) | passed


@contextmanager
def forwarding_proxy(stack: Stack, token: str | None = None) -> Iterator[ForwardingProxy]:
    made = ForwardingProxy(stack.api_url, token)
    with served(made.answer) as made.url:
        yield made
