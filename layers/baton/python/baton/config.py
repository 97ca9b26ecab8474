"""The environment, read once, typed and frozen. Nothing else reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

from baton.adapters.dynamodb.shards import MAX_SHARDS, Shards, Spread
from baton.domain.tasks.task import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS

NOTION_URL = "https://api.notion.com"
_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})
_KEY = re.compile(r"[\x21-\x7e]*")


class ConfigError(Exception):
    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The environment variable {name} {problem}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings from the environment. Functions leave the values empty that they don't need."""

    table: str
    queue_url: str
    dead_letters_url: str
    tracker_queue_url: str
    tracker_dead_letters_url: str
    bus: str
    events: str  # whether they are sent to the bus: ``on``, ``off``, or ``auto`` for while a rule is there
    secrets_prefix: str  # the start of the secrets' names
    secrets_kms: str  # the ARN of the KMS key of secrets that are made; empty for the account's own of Secrets Manager
    callbacks_sealed_by: str  # the ARN of the secret that callbacks' addresses are derived from
    notion_url: str  # of Notion's API, without a slash at the end
    bell_url: str  # where connections that listen come to; empty without a bell
    bell_queue_url: str
    public_url: str  # of Baton's API, without a slash at the end
    release: str  # what is deployed
    log_level: str
    service: str  # the function's name in logs
    reserve: int  # how many of this function may run at once, which no other takes; 0 for no reserve
    lease_seconds: int
    searches: bool  # False: this function is too small for the index of a search
    shards: Shards
    model: str  # ``<provider>[:<id>]``, for agents that name none
    model_url: str  # of a server with OpenAI's chat completions
    model_key: str = field(repr=False)
    model_key_secret: str  # the secret that holds the model's key; wins over ``model_key``
    # the answers of the scripted model: a path, or the name of a built-in script; empty: the shipped answers
    script: str


def read(environ: Mapping[str, str]) -> Config:
    """Raises ``ConfigError``, which names the variable."""
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
        events=events(environ),
        secrets_prefix=environ.get("BATON_SECRETS_PREFIX") or "baton",
        secrets_kms=environ.get("BATON_SECRETS_KMS", ""),
        callbacks_sealed_by=environ.get("BATON_CALLBACKS_SEALED_BY", ""),
        notion_url=notion_url(environ),
        bell_url=environ.get("BATON_BELL_URL", ""),
        bell_queue_url=environ.get("BATON_BELL_QUEUE_URL", ""),
        public_url=environ.get("BATON_PUBLIC_URL", "").rstrip("/"),
        release=environ.get("BATON_RELEASE", ""),
        log_level=environ.get("BATON_LOG_LEVEL", "INFO"),
        service=environ.get("POWERTOOLS_SERVICE_NAME", ""),
        reserve=reserve(environ),
        lease_seconds=int(lease),
        searches=environ.get("BATON_SEARCHES", "yes") != "no",
        shards=shards(environ),
        model=model(environ),
        model_url=model_url(environ),
        model_key=model_key(environ),
        model_key_secret=environ.get("BATON_MODEL_KEY_SECRET", ""),
        script=environ.get("BATON_SCRIPT", ""),
    )


def events(environ: Mapping[str, str]) -> str:
    """Raises ``ConfigError``."""
    value = environ.get("BATON_EVENTS") or "auto"
    if value not in {"auto", "on", "off"}:
        raise ConfigError("BATON_EVENTS", "must be auto, on or off")
    return value


def shards(environ: Mapping[str, str]) -> Shards:
    """A name that is missing or empty has its default. Raises ``ConfigError``."""
    wake = Spread(
        _count(environ, "BATON_WAKE_SHARDS", Shards().wake.written), _count(environ, "BATON_WAKE_SHARDS_READ")
    )
    lists = Spread(
        _count(environ, "BATON_LIST_SHARDS", Shards().lists.written), _count(environ, "BATON_LIST_SHARDS_READ")
    )
    return Shards(wake, lists)


def _count(environ: Mapping[str, str], name: str, default: int = 0) -> int:
    value = environ.get(name) or str(default)
    if not value.isdecimal() or not min(default, 1) <= int(value) <= MAX_SHARDS:
        raise ConfigError(name, f"must be a whole number from {min(default, 1)} to {MAX_SHARDS}")
    return int(value)


def reserve(environ: Mapping[str, str]) -> int:
    """Raises ``ConfigError``."""
    value = environ.get("BATON_RESERVE") or "0"
    if not value.isdecimal():
        raise ConfigError("BATON_RESERVE", "must be a whole number of executions")
    return int(value)


def notion_url(environ: Mapping[str, str]) -> str:
    """Tokens are sent there. Raises ``ConfigError``."""
    return _address("BATON_NOTION_URL", environ.get("BATON_NOTION_URL") or NOTION_URL, NOTION_URL)


def model(environ: Mapping[str, str]) -> str:
    """A configured server's model, else the scripted one."""
    return environ.get("BATON_MODEL") or ("openai_compatible" if environ.get("BATON_MODEL_URL") else "scripted")


def model_url(environ: Mapping[str, str]) -> str:
    """Keys and the agents' prompts are sent there; empty for none. Raises ``ConfigError``."""
    value = environ.get("BATON_MODEL_URL", "")
    return _address("BATON_MODEL_URL", value, "https://api.openai.com/v1") if value else ""


def model_key(environ: Mapping[str, str]) -> str:
    """Raises ``ConfigError``, which doesn't show the key."""
    value = environ.get("BATON_MODEL_KEY", "").strip()
    if not _KEY.fullmatch(value):
        raise ConfigError("BATON_MODEL_KEY", "has characters that no key has")
    return value


def _address(name: str, value: str, example: str) -> str:
    """Plain HTTP is allowed only to this machine."""
    try:
        url = urlsplit(value)
        url.port  # noqa: B018 - a wrong one raises
    except ValueError as exc:
        raise ConfigError(name, "isn't a URL") from exc
    if url.scheme not in {"http", "https"} or not url.hostname or url.username is not None or url.query or url.fragment:
        raise ConfigError(name, f"must be an address like {example}")
    if url.scheme == "http" and url.hostname not in _THIS_MACHINE:
        raise ConfigError(name, "must begin with https:// unless it is this machine's own")
    return value.rstrip("/")


@cache
def metrics_namespace() -> str:
    """Apart from the rest, as a process whose configuration is wrong has to count that too."""
    return os.environ.get("POWERTOOLS_METRICS_NAMESPACE") or "Baton"


@cache
def load() -> Config:
    return read(os.environ)
