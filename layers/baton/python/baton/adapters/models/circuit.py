"""A circuit breaker around each model of a provider (Powertools'), for each workspace that asks it, shared by all
processes through Baton's own table: while a model is down, not every task waits for a time-out of its own. What one
workspace asks may be what a model fails at, so it opens no other workspace's circuit. A model that wants to be asked
less often isn't down: this process leaves it alone for as long as it says, whoever asks, as the provider counts by the
deployment's key."""

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
# While another process tests the provider, which takes as long as a model does.
MIN_RETRY_SECONDS = 5.0
# The longest that a process believes a provider that wants to be left alone.
MAX_THROTTLE_SECONDS = 300.0
# The circuits whose failures in a row this process counts, at most.
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
    """When a circuit opens, and for how long."""

    failures: int = FAILURES_IN_A_ROW
    recovery_seconds: int = RECOVERY_SECONDS
    cached_seconds: int = 5  # the state's age at most, in this process
    now: Callable[[], float] = time.monotonic  # by which a throttled model is left alone


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
        """Raises ``ModelThrottled`` while the model wants to be left alone."""
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
        """Returns a refusal or a throttle as a result, so that it ends a row of failures as a reply does."""
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
