"""Servers that speak OpenAI's chat completions: OpenAI, Ollama, vLLM, LiteLLM, llama.cpp and others."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from baton.adapters.deadline import Deadline
from baton.adapters.models.http_request import HttpReply, ask
from baton.adapters.models.openai_reply import json_in, reply_in
from baton.adapters.models.openai_request import body_of
from baton.adapters.retry_after import retry_after
from baton.domain import errors
from baton.domain.numbers import dumps
from baton.ports import runs
from baton.ports.system import Clock

_COMPLETIONS = "/chat/completions"
_MAX_MODEL = 200
_KEY = re.compile(r"[\x21-\x7e]*")
_USED_UP = "insufficient_quota"
_SHORT_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_. -]{0,63}")
# OpenAI, vLLM, llama.cpp, llama-cpp-python, LiteLLM and its backends, each in its own wording.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|ContextWindowExceeded|maximum context length|context (size|window)"
    r"|(prompt|input) is too long|too many (input )?tokens",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(r"not supported|unsupported|instead", re.IGNORECASE)


class OpenAICompatibleModel:
    """Calls a server. ``url`` is its versioned address, such as ``https://api.openai.com/v1``; one without a path gets
    the ``/v1`` that all of these servers have. ``key`` is called for every request and returns an empty text if there
    is none.

    If no model is named, the first one that the server lists is used from then on."""

    def __init__(self, url: str, key: Callable[[], str], clock: Clock) -> None:
        self._url, self._key, self._clock = base_of(url), key, clock
        self._first = ""
        # OpenAI's newer models, which have another name for the maximum tokens of a reply.
        self._newer: set[str] = set()

    def converse(self, request: runs.ModelRequest) -> runs.ModelReply:
        deadline = Deadline(request.seconds)
        model = request.model or self._first_model(deadline)
        answer, sent = self._complete(deadline, request, model)
        if model not in self._newer and _wants_another_limit(answer):
            self._newer.add(model)
            answer, sent = self._complete(deadline, request, model)
        if _is_ok(answer):
            return reply_in(answer.body, sent)
        if _is_too_long(answer):
            return runs.ModelReply(blocks=(), stop_reason=runs.StopReason.CONTEXT_WINDOW_EXCEEDED)
        raise self._trouble(answer)

    def _complete(self, deadline: Deadline, request: runs.ModelRequest, model: str) -> tuple[HttpReply, int]:
        limit = "max_completion_tokens" if model in self._newer else "max_tokens"
        content = dumps(body_of(request, model, limit), ensure_ascii=False).encode(errors="replace")
        return self._request(deadline, "POST", _COMPLETIONS, content), len(content)

    def _first_model(self, deadline: Deadline) -> str:
        if not self._first:
            answer = self._request(deadline, "GET", "/models")
            if not _is_ok(answer):
                raise self._trouble(answer)
            self._first = _first_of(json_in(answer.body))
        return self._first

    def _request(self, deadline: Deadline, method: str, path: str, content: bytes | None = None) -> HttpReply:
        key = self._key().strip()
        if not _KEY.fullmatch(key):
            raise errors.ModelRefuses("The model provider's key has characters that no key has: set it again.")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        return ask(
            deadline,
            method,
            self._url + path,
            headers | ({"Authorization": f"Bearer {key}"} if key else {}),
            content,
        )

    def _trouble(self, answer: HttpReply) -> errors.ModelTrouble:
        status = answer.status
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            kind = errors.ModelAway if _is_used_up(answer) else errors.ModelThrottled
            return kind("The model's provider asks to be left alone.", retry_after=self._retry_after(answer))
        if status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return errors.ModelAway(f"The model's provider failed ({status}).", retry_after=self._retry_after(answer))
        return errors.ModelRefuses(
            f"The model's provider refuses ({status}{self._error_code(answer)}).{_what_to_do(status)}"
        )

    def _retry_after(self, answer: HttpReply) -> float | None:
        return retry_after(answer.headers.get("retry-after", ""), self._clock.now())

    def _error_code(self, answer: HttpReply) -> str:
        """Returns the provider's short error code. Its sentences may quote the request, the key included."""
        error = _error(answer)
        key = self._key().strip()
        for code in (error.get("code"), error.get("type")):
            if isinstance(code, str) and _SHORT_WORD.fullmatch(code) and not (key and (key in code or code in key)):
                return f", {code}"
        return ""


def base_of(url: str) -> str:
    url = url.rstrip("/").removesuffix(_COMPLETIONS)
    return url if urlsplit(url).path.strip("/") else f"{url}/v1"


def _is_ok(answer: HttpReply) -> bool:
    return HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES


def _first_of(listed: Any) -> str:
    models = listed.get("data") if isinstance(listed, dict) else None
    for model in models if isinstance(models, list) else ():
        name = model.get("id") if isinstance(model, dict) else None
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _MAX_MODEL:
            return name
    raise errors.ModelRefuses("The model's server lists no models: set BATON_MODEL=openai_compatible:<id>.")


def _wants_another_limit(answer: HttpReply) -> bool:
    """True if the server asks for the other name of the limit. One that names both in a sentence about something else
    doesn't."""
    if answer.status != HTTPStatus.BAD_REQUEST or _is_too_long(answer):
        return False
    message = _message(answer)
    return "max_completion_tokens" in message and _UNSUPPORTED.search(message) is not None


def _is_too_long(answer: HttpReply) -> bool:
    """True if the request exceeds the context. llama.cpp sometimes reports it with a 500."""
    if answer.status < HTTPStatus.BAD_REQUEST or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return False
    error = _error(answer)
    words = (error.get("code"), error.get("type"), _message(answer))
    return any(_TOO_LONG.search(each) for each in words if isinstance(each, str))


def _is_used_up(answer: HttpReply) -> bool:
    """True if a quota is used up, which no pause of a request brings back."""
    error = _error(answer)
    return _USED_UP in (error.get("code"), error.get("type"))


def _error(answer: HttpReply) -> dict[str, Any]:
    """Returns the ``error`` object; some servers send its fields without it."""
    content = json_in(answer.body)
    error = content.get("error", content) if isinstance(content, dict) else None
    return error if isinstance(error, dict) else {"message": error}


def _message(answer: HttpReply) -> str:
    message = _error(answer).get("message")
    return message if isinstance(message, str) else ""


def _what_to_do(status: int) -> str:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return " Look at BATON_MODEL_KEY_SECRET, or BATON_MODEL_KEY."
    if status == HTTPStatus.NOT_FOUND or status < HTTPStatus.BAD_REQUEST:
        return " Look at BATON_MODEL_URL and the model's id."
    return ""


_model: type[runs.Model] = OpenAICompatibleModel
