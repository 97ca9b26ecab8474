"""An OpenAI-compatible server for agents on the deployed stack: it plays each by the first word of its prompt."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from support.fakes.fake_openai import FakeOpenAI, completion, refusal, tool_call
from support.fakes.loopback import Canned
from support.http_server import Received


@dataclass
class FakeThinker(FakeOpenAI):
    """``parts``: the first word of a system prompt → the answers in their order, the last one again and again. A list
    of ``(tool, arguments)`` calls tools, a text is the reply, a ``Canned`` is sent as it is."""

    parts: dict[str, list[Any]] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def environment(self) -> dict[str, str]:
        """Returns the environment of a stack whose agents of the provider ``openai_compatible`` ask this server. Other
        agents follow a script."""
        return {"BATON_MODEL": "scripted", "BATON_MODEL_URL": self.url, "BATON_MODEL_KEY": self.key}

    def plays(self, word: str, *answers: Any) -> None:
        with self.turn:
            self.parts[word] = list(answers)

    def seen(self, word: str) -> list[dict[str, Any]]:
        """The requests in which that agent was asked."""
        return [each.body for each in self.received if each.body and _word(each.body) == word]

    def answer(self, request: Received) -> Canned:
        with self.turn:
            self.received.append(request)
            if problem := self.check(request):
                self.wrong.append(problem)
                return refusal(400, problem)
            if request.method == "GET":
                return Canned(body={"object": "list", "data": [{"id": "some-model", "object": "model"}]})
            answers = self.parts.get(_word(request.body)) or ["Nobody told me what to say."]
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Canned):
            return answer
        if isinstance(answer, str):
            return completion(content=answer)
        calls = [tool_call(name, json.dumps(given), f"call_{n}") for n, (name, given) in enumerate(answer)]
        return completion("tool_calls", tool_calls=calls)


def _word(body: dict[str, Any]) -> str:
    first = body["messages"][0]
    return str(first["content"]).split()[0] if first["role"] == "system" else ""
