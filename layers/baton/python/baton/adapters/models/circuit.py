"""A circuit breaker around a model provider (Powertools'), shared by all processes through Baton's own table: while a
provider is down, not every task waits for a time-out of its own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
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


class GuardedModel:
    """Calls a model through its circuit. Only ``ModelAway`` counts against the provider: a refusal is an answer."""

    def __init__(
        self,
        model: runs.Model,
        name: str,
        store: CircuitBreakerDynamoDBPersistence,
        log: Callable[..., None],
        thresholds: Thresholds | None = None,
    ) -> None:
        limits = thresholds or Thresholds()
        self._model, self._log, self._recovery_seconds = model, log, limits.recovery_seconds
        config = CircuitBreakerConfig(
            failure_threshold=limits.failures,
            recovery_timeout=limits.recovery_seconds,
            success_threshold=1,
            handled_exceptions=errors.ModelAway,
            local_cache_max_age=limits.cached_seconds,
        )
        guard = circuit_breaker(name, store, self._is_open, self._log_transition, config)
        self._guarded: Callable[[runs.Request], runs.Reply | errors.ModelRefuses] = guard(self._converse)

    def converse(self, request: runs.Request) -> runs.Reply:
        reply = self._guarded(request)
        if isinstance(reply, errors.ModelRefuses):
            raise reply
        return reply

    def _converse(self, request: runs.Request) -> runs.Reply | errors.ModelRefuses:
        """Returns a refusal as a result, so that it ends a row of failures as a reply does."""
        try:
            return self._model.converse(request)
        except errors.ModelRefuses as refusal:
            return refusal

    def _is_open(self, _request: runs.Request, *, circuit: CircuitInfo) -> runs.Reply:
        left = (circuit.opened_at or 0) + self._recovery_seconds - time.time()
        raise errors.ModelAway("The model's provider was out a moment ago.", retry_after=max(left, MIN_RETRY_SECONDS))

    def _log_transition(self, transition: CircuitTransition) -> None:
        self._log(
            "a model provider's circuit changed",
            action="model_circuit",
            circuit=transition.circuit_name,
            state=str(transition.to_state),
        )


def circuit_of(provider: str, endpoint: str) -> str:
    """Returns the circuit's name for a provider at an address, or in a region."""
    return f"{provider}-{hashlib.sha256(endpoint.encode()).hexdigest()[:12]}"


_guarded: type[runs.Model] = GuardedModel
