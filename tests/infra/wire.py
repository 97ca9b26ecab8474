"""AWS behind its real clients: what they would send is checked and kept, and answered from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import botocore.session
from botocore.config import Config

Answer = Mapping[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Wire:
    """``answers``: of each operation; one that isn't there is answered with nothing. An answer with ``Error`` is one.
    ``calls``: each operation with its parameters."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def client(self, service: str) -> Any:
        session = botocore.session.Session()
        session.set_credentials("made", "up")
        client = session.create_client(service, region_name="eu-central-1", config=Config(retries={"max_attempts": 0}))
        client.meta.events.register("provide-client-params.*.*", self._keep)
        client.meta.events.register("before-call.*.*", self._answer)
        return client

    def sent(self, operation: str) -> list[dict[str, Any]]:
        return [params for name, params in self.calls if name == operation]

    def _keep(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self.calls.append((model.name, dict(params)))

    def _answer(self, model: Any, **_: Any) -> Any:
        """Stands for the response and what is read in it: nothing is sent then."""
        found = self.answers.get(model.name, {})
        answer = found(self.calls[-1][1]) if callable(found) else found
        return SimpleNamespace(status_code=400 if "Error" in answer else 200), answer
