"""The environment, read once, typed and frozen. Nothing else reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from baton.domain.task import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping


NOTION_URL = "https://api.notion.com"
_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})


class ConfigError(Exception):
    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The environment variable {name} {problem}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``public_url``: where the API answers, ``notion_url``: where Notion's does, both without a slash at the end.
    ``script``: path of the scripted runner's answers, empty for those that are shipped. ``secrets_prefix``: what the
    names of the secrets begin with; ``callbacks_sealed_by``: the ARN of the secret that callbacks' addresses come from.
    Functions that don't need a value leave it empty."""

    table: str
    queue_url: str
    dead_letters_url: str
    tracker_queue_url: str
    tracker_dead_letters_url: str
    bus: str
    secrets_prefix: str
    callbacks_sealed_by: str
    notion_url: str
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
        tracker_queue_url=environ.get("BATON_TRACKER_QUEUE_URL", ""),
        tracker_dead_letters_url=environ.get("BATON_TRACKER_DLQ_URL", ""),
        bus=environ.get("BATON_BUS", ""),
        secrets_prefix=environ.get("BATON_SECRETS_PREFIX") or "baton",
        callbacks_sealed_by=environ.get("BATON_CALLBACKS_SEALED_BY", ""),
        notion_url=notion_url(environ),
        public_url=environ.get("BATON_PUBLIC_URL", "").rstrip("/"),
        log_level=environ.get("BATON_LOG_LEVEL", "INFO"),
        lease_seconds=int(lease),
        script=environ.get("BATON_SCRIPT", ""),
    )


def notion_url(environ: Mapping[str, str]) -> str:
    """Tokens go there: in the clear only to this machine itself. Raises ``ConfigError``."""
    value = environ.get("BATON_NOTION_URL") or NOTION_URL
    try:
        url = urlsplit(value)
        url.port  # noqa: B018 - a wrong one raises
    except ValueError as exc:
        raise ConfigError("BATON_NOTION_URL", "isn't a URL") from exc
    if url.scheme not in {"http", "https"} or not url.hostname or url.username is not None or url.query or url.fragment:
        raise ConfigError("BATON_NOTION_URL", f"must be an address like {NOTION_URL}")
    if url.scheme == "http" and url.hostname not in _THIS_MACHINE:
        raise ConfigError("BATON_NOTION_URL", "must begin with https:// unless it is this machine's own")
    return value.rstrip("/")


@cache
def load() -> Config:
    return read(os.environ)
