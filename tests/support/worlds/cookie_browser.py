"""A browser with a page of the console: its cookies, and the page's storage."""

from __future__ import annotations

from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any

from support.gateway import Gateway, Reply, gateway_event, route_of
from support.values.tokens import bearer

PAGE = {"sec-fetch-site": "same-origin"}


@dataclass
class Browser:
    """A browser's request for a page of the console. ``in_headers``: the front door leaves cookies in the headers."""

    gateway: Gateway
    in_headers: bool = False

    def __post_init__(self) -> None:
        self.cookies: dict[str, str] = {}
        self.keys: dict[str, str] = {}  # the page's storage: by session its half of the secret
        self.last: list[str] = []

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        event = gateway_event(None, method, path, body, headers=PAGE | sent)
        shown = [f"{name}={value}" for name, value in self.cookies.items()]
        if self.in_headers:
            event["headers"]["cookie"] = "; ".join(shown)
        else:
            event["cookies"] = shown
        answer = self.gateway.handle(route_of(method, path), event)
        self.last = answer.get("cookies", [])
        for each in self.last:
            for name, morsel in SimpleCookie(each).items():
                self.cookies[name] = morsel.value
                if morsel["max-age"] == "0":
                    del self.cookies[name]
        reply = Reply(answer["statusCode"], answer["headers"], answer.get("body", ""))
        if reply.status == 201 and reply.json.get("session_key"):
            self.keys[reply.json["session_id"]] = reply.json["session_key"]
        return reply

    def named(self, session: str) -> str:
        return f"{session}.{self.keys[session]}" if session in self.keys else session

    def sign_in(self, by: Any) -> str:
        self.gateway.admit(by)
        opened = self.ask("POST", "/sessions", {}, authorization=bearer(by), baton_session="new")
        assert opened.status == 201, opened.text
        return str(opened.json["session_id"])

    def as_session(self, session: str, path: str = "/tokens", method: str = "GET", **headers: str) -> Reply:
        return self.ask(method, path, baton_session=self.named(session), **headers)
