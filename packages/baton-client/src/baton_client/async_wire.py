"""The wire of tasks: HTTP by httpx. A request is sent once, follows no redirect, keeps no cookie, and has one deadline
for all its bytes."""

from __future__ import annotations

import asyncio
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx

from baton_client.core import MOST_BYTES, Answer, Request, answer_of, sound
from baton_client.wire import LOOPBACK


class AsyncWires:
    """The connections to one API. For any number of tasks of one event loop."""

    def __init__(self, url: str, token: str, agent: str) -> None:
        self._url, self._token, self._agent = url, sound(token), agent
        parts = urlsplit(url)
        is_here = parts.hostname == LOOPBACK or (parts.hostname or "").endswith(".localhost")
        # Not every resolver knows *.localhost, which is this machine.
        port = f":{parts.port}" if parts.port else ""
        self._sent_to = f"{parts.scheme}://{LOOPBACK}{port}{parts.path}" if is_here else url
        self._host = parts.netloc
        self._http = httpx.AsyncClient(
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            verify=parts.scheme == "https",  # else the system's certificates would be loaded for nothing
            trust_env=parts.scheme == "https" and not is_here,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            timeout=None,  # noqa: S113 - the deadline of ``send``
        )

    async def send(self, request: Request[Any], seconds: float) -> Answer:
        """Returns the answer, or one of status 0: then it isn't known whether the request took effect."""
        begun_at = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                answer = await self._exchanged(request)
            return answer._replace(took=time.monotonic() - begun_at)
        except TimeoutError:
            said = "it didn't answer in time"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as exc:
            said = str(exc) or type(exc).__name__
        return Answer(why=said, took=time.monotonic() - begun_at, url=self._url)

    async def close(self) -> None:
        await self._http.aclose()

    async def _exchanged(self, request: Request[Any]) -> Answer:
        headers = {"Host": self._host} | request.headers_for(self._token, self._agent)
        url, content = self._sent_to + request.path, b""
        async with self._http.stream(request.method, url, content=request.content, headers=headers) as response:
            async for each in response.aiter_raw():
                content += each
                if len(content) > MOST_BYTES:
                    break
            found = {name.lower(): value for name, value in response.headers.items()}
            answer = answer_of(request, self._url, response.status_code, found, content)
            if not answer.status:  # another program's answer may be of any length: the connection isn't kept
                await response.extensions["network_stream"].aclose()
        return answer
