"""The environment, read once, typed and frozen. Nothing else reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from baton.domain.task import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConfigError(Exception):
    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The environment variable {name} {problem}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``public_url``: where the API answers, without a slash at the end. ``script``: path of the scripted runner's
    answers, empty for those that are shipped. Functions that don't need a value leave it empty."""

    table: str
    queue_url: str
    dead_letters_url: str
    public_url: str
    log_level: str
    lease_seconds: int
    script: str


def read(environ: Mapping[str, str]) -> Config:
    """Raises ``ConfigError`` naming the variable."""
    if not environ.get("BATON_TABLE"):
        raise ConfigError("BATON_TABLE", "is missing: it names the DynamoDB table")
    lease = environ.get("BATON_LEASE_SECONDS", "150")
    if not lease.isdecimal():
        raise ConfigError("BATON_LEASE_SECONDS", "must be a whole number of seconds")
    if not MIN_LEASE_SECONDS <= int(lease) <= MAX_LEASE_SECONDS:
        raise ConfigError("BATON_LEASE_SECONDS", f"must be from {MIN_LEASE_SECONDS} to {MAX_LEASE_SECONDS}")
    return Config(
        table=environ["BATON_TABLE"],
        queue_url=environ.get("BATON_QUEUE_URL", ""),
        dead_letters_url=environ.get("BATON_DLQ_URL", ""),
        public_url=environ.get("BATON_PUBLIC_URL", "").rstrip("/"),
        log_level=environ.get("BATON_LOG_LEVEL", "INFO"),
        lease_seconds=int(lease),
        script=environ.get("BATON_SCRIPT", ""),
    )


@cache
def load() -> Config:
    return read(os.environ)
