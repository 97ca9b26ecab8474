"""One HTTP request that ends in time, whatever the server does.

httpx and httpcore have a timeout per step: a server that sends a byte now and then, of its headers or of its body,
stretches a request without end. Here every single read and write of the socket gets the time that is left of the whole,
and no more of an answer is read than the limit allows. Only resolving the host name takes the system's own time."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpcore
import httpx

from baton.adapters.deadline import Deadline
from baton.domain import errors

MAX_ANSWER_BYTES = 4 * 2**20
CONNECT_SECONDS = 5.0
_WRITTEN_AT_ONCE = 16_384


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    headers: httpx.Headers
    body: bytes


def ask(
    deadline: Deadline, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
) -> HttpReply:
    """Sends one request. Follows no redirect and uses no proxy of the environment: the headers carry a key. Raises
    ``ModelAway`` if no whole answer came in time, ``ModelRefuses`` if the answer is too long."""
    try:
        with (
            httpx.Client(transport=_Transport(deadline, url), trust_env=False, follow_redirects=False) as client,
            # A compressed answer can't be measured before it is unpacked.
            client.stream(method, url, headers={"Accept-Encoding": "identity", **headers}, content=content) as response,
        ):
            return HttpReply(response.status_code, response.headers, _read(response))
    except httpcore.TimeoutException as exc:
        raise errors.ModelAway("The model's provider didn't answer in time.") from exc
    except (httpcore.ConnectError, UnicodeError) as exc:  # UnicodeError: a host name that no resolver takes
        raise errors.ModelAway("The model's provider can't be reached.") from exc
    except (httpcore.NetworkError, httpcore.ProtocolError) as exc:
        raise errors.ModelAway("The model's provider broke off its answer.") from exc


def _left(deadline: Deadline) -> float:
    """Returns the seconds left. Raises ``httpcore.TimeoutException`` if there are none."""
    left = deadline.left
    if left <= 0:
        raise httpcore.ReadTimeout("the time is over")
    return left


def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise errors.ModelRefuses(f"The model's reply is longer than {MAX_ANSWER_BYTES} bytes.", type="validation")
    return bytes(body)


class _Transport(httpx.BaseTransport):
    """One connection for one request: it costs little next to a model's time, and no other request shares its
    deadline."""

    def __init__(self, deadline: Deadline, url: str) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=_certificates() if url.startswith("https:") else None,
            max_connections=1,
            network_backend=_TimedBackend(deadline),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _TimedBackend(httpcore.NetworkBackend):
    def __init__(self, deadline: Deadline) -> None:
        self._plain, self._deadline = httpcore.SyncBackend(), deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's, per step; here all steps share the deadline
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        seconds = min(_left(self._deadline), CONNECT_SECONDS)
        return _TimedStream(self._plain.connect_tcp(host, port, seconds, local_address, socket_options), self._deadline)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, plain: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._plain, self._deadline = plain, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._plain.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        for start in range(0, len(buffer), _WRITTEN_AT_ONCE):
            self._plain.write(buffer[start : start + _WRITTEN_AT_ONCE], _left(self._deadline))

    def close(self) -> None:
        self._plain.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        seconds = min(_left(self._deadline), CONNECT_SECONDS)
        secured = self._plain.start_tls(ssl_context, server_hostname, seconds)
        return _TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)


@cache
def _certificates() -> ssl.SSLContext:
    """Returns the usual certificates, or those that SSL_CERT_FILE or SSL_CERT_DIR name."""
    return httpx.create_ssl_context()
