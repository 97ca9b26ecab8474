"""The client's wire for tasks over an httpx2 client, whose other end is a test's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2

from baton_client.core import Answer, Request, answer_of


@dataclass(frozen=True)
class HttpxWires:
    http: httpx2.AsyncClient

    async def send(self, request: Request[Any], seconds: float) -> Answer:
        method, path, headers = request.method, request.path, dict(request.headers)
        url = str(self.http.base_url)
        try:
            found = await self.http.request(method, path, content=request.content, headers=headers, timeout=seconds)
        except httpx2.HTTPError as exc:
            return Answer(why=type(exc).__name__, url=url)
        return answer_of(request, url, found.status_code, dict(found.headers), found.content)
