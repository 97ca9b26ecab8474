"""What the smoke test's checks act on: callers of a deployment's API, and a cast of their own in the workspace."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx

LONGEST_UNDO_SECONDS = 10
OPEN, ENDED = "needs,delegated,next,claimed,waiting", "done,failed,rejected,cancelled"
TIMEOUT_SECONDS = 40.0  # the longest poll answers within 29
TOKENS_END_AFTER = timedelta(hours=1)  # also those that nobody could revoke
CLEANING_ROUNDS = 5
SHORT = "short"  # the run of every canary: its agents stay, and the next one takes them


class Unfit(Exception):
    """The smoke test can't begin with what it was given."""


class Failed(Exception):
    """The deployment answered otherwise than Baton does."""


@dataclass(frozen=True)
class Caller:
    """One caller of the API. ``token``: None sends no credentials. No message of an error shows it."""

    http: httpx.Client = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def send(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, key: str | None = None
    ) -> httpx.Response:
        """``raw``: sent as it is, in place of ``body``. ``key``: the Idempotency-Key. Raises ``Failed`` if nothing
        answers."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        headers |= {} if raw is None else {"Content-Type": "application/json"}
        try:
            return self.http.request(method, path, json=body, content=raw, headers=headers)
        except httpx.HTTPError as error:
            raise Failed(f"{method} {path}: {type(error).__name__}, {error}") from error

    def ok(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """The answer of a request that has to succeed, None if it is empty. Raises ``Failed``."""
        response = self.send(method, path, body, key=key)
        if not response.is_success:
            raise Failed(f"{method} {path} was answered with {told(response)}")
        answer = _read(response)
        if response.content and not answer:
            raise Failed(f"{method} {path} was answered with something else than a JSON object")
        return answer or None

    def refused(
        self,
        wanted: tuple[int, str],
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """The problem details of a request that has to be refused with this status and code. Raises ``Failed``."""
        response = self.send(method, path, body, raw=raw, key=key)
        problem = _read(response) if response.is_error else {}
        if (response.status_code, problem.get("code")) != wanted:
            raise Failed(f"{method} {path} has to be refused with {wanted[0]} {wanted[1]}, and got {told(response)}")
        return problem


def told(response: httpx.Response) -> str:
    """A refusal in one line; of a success only the status, as it may hold a token."""
    if response.is_success:
        return str(response.status_code)
    problem = _read(response)
    if "code" not in problem:
        return f"{response.status_code} that isn't Baton's: {response.text[:200]}"
    return f"{response.status_code} {problem['code']}: {problem.get('detail')} (request {problem.get('request_id')})"


def _read(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


@contextlib.contextmanager
def as_documented() -> Iterator[None]:
    """Raises ``Failed`` where an answer lacks what docs/openapi.json says."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise Failed(f"an answer isn't as docs/openapi.json says: {error!r}") from error


@contextlib.contextmanager
def connected(api: str) -> Iterator[httpx.Client]:
    """A client of the API at this address. Raises ``Unfit`` if a token would cross a network in the clear."""
    parts = urlsplit(api.rstrip("/"))
    host = parts.hostname or ""
    is_here = host in {"127.0.0.1", "localhost"} or host.endswith(".localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        raise Unfit("API must be https://…, such as the output ApiUrl of the stack")
    base = f"{parts.scheme}://127.0.0.1:{parts.port or 80}" if is_here else f"{parts.scheme}://{parts.netloc}"
    headers = {"Host": parts.netloc}  # not every resolver knows *.localhost
    with httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=not is_here) as http:
        yield http


@dataclass
class World:
    """``sender`` hands over, ``worker`` pulls its work, ``runner`` is run by Baton: agents of this run alone.
    ``service`` may speak for agents."""

    nobody: Caller
    human: Caller
    run: str
    undo_seconds: float = 0
    callers: dict[str, Caller] = field(default_factory=dict)
    tasks: list[str] = field(default_factory=list)

    def name(self, part: str) -> str:
        return f"smoke-{self.run}-{part}"

    @property
    def agents(self) -> list[str]:
        return [self.name(part) for part in ("sender", "worker", "runner")]

    @property
    def subjects(self) -> list[str]:
        return [*self.agents, self.name("service")]

    # Before and after

    def admit(self) -> None:
        """Raises ``Unfit`` if the token isn't a human's, or its workspace would make every check wait."""
        if not (answer := self.human.send("GET", "/tokens?limit=1")).is_success:
            raise Unfit(f"TOKEN must be a human's: only humans approve. It got {told(answer)}")
        self.undo_seconds = float(self.human.ok("GET", "/workspace/settings")["dispatch_delay_seconds"])
        if self.undo_seconds > LONGEST_UNDO_SECONDS:
            raise Unfit(
                f"this workspace's dispatch_delay_seconds is {self.undo_seconds:.0f}, and has to be at most "
                f"{LONGEST_UNDO_SECONDS}: take a workspace made for this"
            )

    def prepare(self) -> None:
        """Agents of this run, and tokens that end by themselves; none of these for a short one."""
        for slug in self.agents:
            profile = {"runtime": "run", "model": "scripted"} if slug == self.name("runner") else {}
            self.human.ok("PUT", f"/agents/{slug}", {"name": slug, "description": "Of make smoke", **profile})
        if self.run == SHORT:
            return
        for part, kind in {"sender": "agent", "worker": "agent", "service": "service"}.items():
            self.callers[part] = self._with_token(kind, self.name(part))

    def _with_token(self, kind: str, subject: str) -> Caller:
        ends = (datetime.now(UTC) + TOKENS_END_AFTER).isoformat(timespec="seconds")
        scopes = [] if kind == "agent" else ["act_as"]
        asked = {"kind": kind, "subject": subject, "scopes": scopes, "expires_at": ends}
        made: dict[str, Any] = self.human.ok("POST", "/tokens", asked, key=f"token-{subject}")
        return Caller(self.human.http, made["token"])

    def clean(self) -> str:
        """Ends this run's tasks, switches its agents off and revokes its tokens, whatever was remembered of them:
        each is found by its name. A short run cancels its tasks alone. Returns what is left behind. Raises
        ``Failed``."""
        if self.run == SHORT:
            for task_id in self.tasks:  # one that has ended is refused
                self.human.send("POST", f"/tasks/{task_id}/cancel", {"reason": "make smoke is over"})
            return f"{len(self.tasks)} ended tasks, and agents for the next run (smoke-{self.run}-…)"
        ended = sum(self._ended(slug) for slug in self.agents if self._is_there(slug))
        off = [slug for slug in self.agents if self._is_there(slug) and self._is_switched_off(slug)]
        revoked = [self._is_revoked(each) for each in self._tokens() if each["subject"] in self.subjects]
        return (
            f"{ended} ended tasks, {len(off)} agents switched off (smoke-{self.run}-…), {len(revoked)} revoked tokens"
        )

    def _is_there(self, slug: str) -> bool:
        return self.human.send("GET", f"/agents/{slug}").status_code != httpx.codes.NOT_FOUND

    def _ended(self, slug: str) -> int:
        """How many tasks of the agent are there, all of them ended."""
        for _ in range(CLEANING_ROUNDS):
            left = [each["id"] for each in self._of_agent(slug, OPEN)]
            if not left:
                return len(self._of_agent(slug, ENDED))
            for task_id in left:
                self.human.send("POST", f"/tasks/{task_id}/cancel", {"reason": "make smoke is over"})
        raise Failed(f"tasks of {slug} are still open: {', '.join(left)}")

    def _of_agent(self, slug: str, states: str) -> list[dict[str, Any]]:
        return self._listed(f"/tasks?agent={slug}&state={states}&limit=100")

    def _is_switched_off(self, slug: str) -> bool:
        self.human.ok("PUT", f"/agents/{slug}", {"active": False})
        return True

    def _is_revoked(self, token: dict[str, Any]) -> bool:
        if not token["revoked_at"]:
            self.human.ok("DELETE", f"/tokens/{token['id']}")
        return True

    def _tokens(self) -> list[dict[str, Any]]:
        return self._listed("/tokens?limit=100")

    def _listed(self, path: str) -> list[dict[str, Any]]:
        items, cursor = [], ""
        while True:
            page = self.human.ok("GET", path + (f"&cursor={cursor}" if cursor else ""))
            items += page["items"]
            cursor = page["next_cursor"]
            if not cursor:
                return items

    # Steps that several checks take

    def approved(self, part: str = "worker") -> str:
        """A task that the human asked for. It may be claimed once the undo window is over."""
        asked = self.human.ok("POST", "/handoffs", handoff(self.name("sender"), self.name(part)))
        return self.noted(asked["task"]["id"])

    def ready(self, part: str = "worker") -> str:
        """The same, once it may be claimed."""
        task_id = self.approved(part)
        time.sleep(self.undo_seconds + 0.1)
        return task_id

    def noted(self, task_id: str) -> str:
        self.tasks.append(task_id)
        return task_id

    def claimed(self, lease_seconds: int = 300) -> tuple[str, str]:
        """The worker's claim on a new task: the task's id, and the claim's."""
        task_id = self.ready()
        body = {"worker": "smoke", "lease_seconds": lease_seconds}
        claim = self.callers["worker"].ok("POST", f"/tasks/{task_id}/claim", body)
        return task_id, str(claim["claim_id"])

    def complete(self, task_id: str, claim_id: str) -> dict[str, Any]:
        body = {"claim_id": claim_id, "output": {"smoke": self.run}}
        done: dict[str, Any] = self.callers["worker"].ok("POST", f"/tasks/{task_id}/complete", body)
        must(done["state"] == "done", f"the completed task is {done['state']}")
        return done


def handoff(source: str, target: str) -> dict[str, Any]:
    return {"source": {"agent": source}, "target": {"agent": target, "reason": "make smoke tries this deployment"}}


def must(holds: bool, otherwise: str) -> None:
    """Raises ``Failed``."""
    if not holds:
        raise Failed(otherwise)
