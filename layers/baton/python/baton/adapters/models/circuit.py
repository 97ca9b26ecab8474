"""A circuit breaker around each model of a provider (Powertools'), so that not every task waits for a time-out while a
model is down. A circuit is of one workspace, as one workspace's requests may be what a model fails at. Its state is in
Baton's table, for all processes.

A model that throttles isn't down. The process then leaves it alone for as long as it says, for all workspaces, as the
provider counts by the deployment's key.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from aws_lambda_powertools.utilities.circuit_breaker import (
    CircuitBreakerConfig,
    CircuitInfo,
    CircuitTransition,
    circuit_breaker,
)
from aws_lambda_powertools.utilities.circuit_breaker.persistence import CircuitBreakerDynamoDBPersistence
from botocore import exceptions

from baton.domain import errors
from baton.ports import runs

CIRCUITS = "CIRCUITS"
FAILURES_IN_A_ROW = 5
RECOVERY_SECONDS = 30
# The wait while another process tests the provider, which takes as long as a model's answer.
MIN_RETRY_SECONDS = 5.0
# The longest time for which a throttled model is left alone, whatever it says.
MAX_THROTTLE_SECONDS = 300.0
# The most circuits whose failures in a row a process counts.
_MAX_CIRCUITS = 1_000


class CircuitStore(CircuitBreakerDynamoDBPersistence):
    """Circuits in Baton's table, under one partition; TTL deletes unused ones."""

    def __init__(self, client: Any, table: str) -> None:
        super().__init__(
            table_name=table,
            key_attr="pk",
            sort_key_attr="sk",
            static_pk_value=CIRCUITS,
            expiry_attr="ttl",
            boto3_client=client,
        )

    def try_acquire_half_open(self, name: str, owner: str, opened_at: int) -> bool:
        """Powertools lets calls pass if the store can't be read, or a state can't be saved. Only here would an error of
        the store end a call."""
        try:
            return super().try_acquire_half_open(name, owner, opened_at)
        except (exceptions.ClientError, exceptions.BotoCoreError):
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The failures after which a circuit opens, and how long it stays open."""

    failures: int = FAILURES_IN_A_ROW
    recovery_seconds: int = RECOVERY_SECONDS
    cached_seconds: int = 5  # the greatest age of a circuit's state in this process's cache
    now: Callable[[], float] = time.monotonic  # the clock of the pauses of throttled models


class GuardedModel:
    """Calls a provider's models, each through its circuit. Only ``ModelAway`` counts against a model: a refusal and a
    throttle are answers. ``named``: workspace and model id → name of the circuit."""

    def __init__(
        self,
        model: runs.Model,
        named: Callable[[str, str], str],
        store: CircuitBreakerDynamoDBPersistence,
        log: Callable[..., None],
        thresholds: Thresholds | None = None,
    ) -> None:
        self._model, self._named, self._store, self._log = model, named, store, log
        self._limits = thresholds or Thresholds()
        self._guard_of = lru_cache(_MAX_CIRCUITS)(self._guard)
        self._free_at: dict[str, float] = {}

    def converse(self, request: runs.ModelRequest) -> runs.ModelReply:
        self._must_be_free(request.model)
        reply = self._guard_of(request.workspace, request.model)(request)
        if isinstance(reply, errors.ModelThrottled):
            self._free_at[request.model] = self._limits.now() + min(reply.retry_after or 0, MAX_THROTTLE_SECONDS)
        if isinstance(reply, errors.ModelTrouble):
            raise reply
        return reply

    def _must_be_free(self, model: str) -> None:
        """Raises ``ModelThrottled`` while the model is to be left alone."""
        left = self._free_at.get(model, 0.0) - self._limits.now()
        if left > 0:
            raise errors.ModelThrottled("The model wanted to be left alone a moment ago.", retry_after=left)
        self._free_at.pop(model, None)

    def _guard(
        self, workspace: str, model: str
    ) -> Callable[[runs.ModelRequest], runs.ModelReply | errors.ModelTrouble]:
        config = CircuitBreakerConfig(
            failure_threshold=self._limits.failures,
            recovery_timeout=self._limits.recovery_seconds,
            success_threshold=1,
            handled_exceptions=errors.ModelAway,
            local_cache_max_age=self._limits.cached_seconds,
        )
        log = partial(self._log_transition, model)
        guard = circuit_breaker(self._named(workspace, model), self._store, self._is_open, log, config)
        guarded: Callable[[runs.ModelRequest], runs.ModelReply | errors.ModelTrouble] = guard(self._converse)
        return guarded

    def _converse(self, request: runs.ModelRequest) -> runs.ModelReply | errors.ModelTrouble:
        """Returns a refusal or a throttle as a result: like a reply, it ends the row of failures that is counted."""
        try:
            return self._model.converse(request)
        except (errors.ModelRefuses, errors.ModelThrottled) as answer:
            return answer

    def _is_open(self, _request: runs.ModelRequest, *, circuit: CircuitInfo) -> runs.ModelReply:
        left = (circuit.opened_at or 0) + self._limits.recovery_seconds - time.time()
        raise errors.ModelAway("The model was out a moment ago.", retry_after=max(left, MIN_RETRY_SECONDS))

    def _log_transition(self, model: str, transition: CircuitTransition) -> None:
        self._log(
            "a model's circuit changed",
            action="model_circuit",
            model=model,
            circuit=transition.circuit_name,
            state=str(transition.to_state),
        )


def circuit_of(provider: str, endpoint: str, workspace: str, model: str) -> str:
    """Returns the name of a model's circuit for a workspace. ``endpoint``: the provider's address, or the region."""
    return f"{provider}-{hashlib.sha256(f'{endpoint} {workspace} {model}'.encode()).hexdigest()[:12]}"


_guarded: type[runs.Model] = GuardedModel
