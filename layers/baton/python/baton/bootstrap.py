"""The only place that wires classes together. Nothing happens at import; each piece is made once per process."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib import parse

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config as ClientConfig

from baton import config
from baton.adapters.dynamodb.concurrent_calls import ConcurrentCalls
from baton.adapters.dynamodb.item_schema import TODAY
from baton.adapters.dynamodb.patience import SECONDS, Patience
from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from baton.adapters.no_search import NoSearch
from baton.adapters.sqs import SqsDeadLetters, SqsDispatchQueue, SqsLooks, SqsTrackerQueue, SqsVisibility
from baton.adapters.system import RandomIds, SystemClock
from baton.domain import times
from baton.domain.access.polls import Room
from baton.ports.deps import Deps

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from baton.adapters.models.bedrock import BedrockClient
    from baton.domain.memory.entry import EntryType
    from baton.domain.memory.entry_index import Question, ScoredEntry, SearchAnswer
    from baton.domain.settings.tracker_settings import TrackerSettings
    from baton.ports import runs
    from baton.ports.bell import Connections
    from baton.ports.events import Bus
    from baton.ports.queues import DeadLetters, Visibility
    from baton.ports.search import Search
    from baton.ports.system import CallbackKey, Workers
    from baton.ports.tracker import Secrets, Tracker, Trackers
    from baton.ports.writes import Write

# The table repeats unclear writes itself, as it knows which may be repeated (adapters/dynamodb/table.py), so the SDK
# doesn't: three tries of at most 6 s each fit into the function's 25 s, with time for an answer.
CLIENT = ClientConfig(
    connect_timeout=2,
    read_timeout=4,
    retries={"mode": "standard", "total_max_attempts": 1},
    tcp_keepalive=True,
    parameter_validation=False,
)
# Seconds for which a call of the table is tried, and that are left to the function afterwards. A caller waits for the
# first; for what a queue or a schedule brings, nobody waits.
FOR_A_CALLER, IN_BACKGROUND = (SECONDS, 1.0), (10.0, 10.0)
# The first items of a new task, or a check and what is read beside it; seldom a chunk.
CALLS_AT_ONCE = 3
# More would wait for the processor, and for one of the ten connections that a client keeps.
WORKERS_AT_ONCE = 8
# A notice and an event may come twice, so the SDK repeats what fails: two attempts of at most 2.5 s and the pause of at
# most 1 s between them take no longer than one attempt at the table.
MESSAGES = CLIENT.merge(
    ClientConfig(connect_timeout=1, read_timeout=1.5, retries={"mode": "standard", "total_max_attempts": 2})
)
# The same for a secret, within the three seconds that a marker may wait for the tracker.
SECRETS = CLIENT.merge(
    ClientConfig(connect_timeout=0.4, read_timeout=0.6, retries={"mode": "standard", "total_max_attempts": 2})
)
# Timeouts of clients for Bedrock: a call gets the longest that fits into its time, so that few clients serve all calls.
BEDROCK_SECONDS = (1, 5, 15, 30, 45, 60, 75, 90, 120)


@cache
def logger() -> Logger:
    """The logger of all of a function's lines; its service name comes from POWERTOOLS_SERVICE_NAME."""
    level = config.load().log_level
    made = Logger(level=level, utc=True, use_rfc3339=True)
    # Powertools prefers the level from which Lambda keeps lines. It is INFO at most, as metrics are lines without one.
    logging.getLogger(made.name).setLevel(level)
    return made


def begin(context: LambdaContext, patience: tuple[float, float] = FOR_A_CALLER) -> None:
    """Begins an invocation, of which a process has one at a time: it waits for the table no longer than it may run."""
    seconds, kept = patience
    _patience().begin(seconds, context.get_remaining_time_in_millis() / 1_000 - kept)


@cache
def wire() -> Deps:
    """Returns all ports, on the real table and queues."""
    settings = config.load()
    clock = SystemClock()
    return Deps(
        store=_store(),
        search=_Search() if settings.searches else NoSearch(),
        dispatch_queue=SqsDispatchQueue(_client("sqs", MESSAGES), settings.queue_url, log_line),
        clock=clock,
        ids=RandomIds(),
        trackers=_Trackers(),
        tracker_queue=SqsTrackerQueue(_client("sqs", MESSAGES), settings.tracker_queue_url, log_line),
        secrets=_Secrets(),
        callback_key=_CallbackKey(),
        looks=SqsLooks(_client("sqs", MESSAGES), settings.bell_queue_url, log_line),
        public_url=settings.public_url,
        bell_url=settings.bell_url,
        release=settings.release,
        room=Room(settings.service, settings.reserve),
        log=log_line,
    )


@cache
def wire_dead_letters() -> DeadLetters:
    return SqsDeadLetters(_client("sqs", MESSAGES), config.load().dead_letters_url)


@cache
def wire_tracker_dead_letters() -> DeadLetters:
    return SqsDeadLetters(_client("sqs", MESSAGES), config.load().tracker_dead_letters_url)


@cache
def wire_visibility() -> Visibility:
    return SqsVisibility(_client("sqs", MESSAGES), config.load().queue_url, log_line)


@cache
def wire_tracker_visibility() -> Visibility:
    return SqsVisibility(_client("sqs", MESSAGES), config.load().tracker_queue_url, log_line)


@cache
def wire_bus() -> Bus:
    from baton.adapters.eventbridge import EventBridgeBus, Rules  # only publish-events publishes

    settings, client = config.load(), _client("events", MESSAGES)
    rules = Rules(client, settings.bus, SystemClock().now, log_line)
    is_heard = rules.are_there if settings.events == "auto" else lambda: settings.events == "on"
    return EventBridgeBus(client, settings.bus, log_line, is_heard)


@cache
def wire_connections() -> Connections:
    from baton.adapters.bell import ApiGatewayConnections  # only the bell's functions have any

    return ApiGatewayConnections(_connections_client(config.load().bell_url.replace("ws", "http", 1)), log_line)


@cache
def wire_workers() -> Workers:
    """Returns the workers of what looks every minute, where each thing mostly waits for the table."""
    from baton.adapters.worker_threads import WorkerThreads  # only what looks every minute does several things at once

    return WorkerThreads(WORKERS_AT_ONCE)


@cache
def wire_runner() -> runs.AgentRunner:
    """Returns the runner of the agents that process-task runs."""
    from baton.services.runs.run_agent import AgentLoop  # only process-task runs agents

    return AgentLoop(wire(), wire_models())


@cache
def wire_models() -> runs.Models:
    """Returns the models for agents. ``BATON_MODEL`` names the default for agents that choose none. Bedrock is always
    there, as AWS itself controls access to it."""
    from baton.adapters.models.choice import ModelChoice  # only process-task asks models

    settings = config.load()
    makers: dict[str, Callable[[], runs.Model]] = {"scripted": _scripted_model, "bedrock": _bedrock_model}
    if settings.model_url:
        makers["openai_compatible"] = _openai_compatible_model
    return ModelChoice(settings.model, makers)


def count(metric: str) -> None:
    """Counts one, in CloudWatch's embedded format, without a dimension: for an alarm on all functions together.
    Powertools' metrics are slow to import, and most processes never count anything here."""
    counted = {"Namespace": config.metrics_namespace(), "Dimensions": [[]], "Metrics": [{"Name": metric}]}
    at_ms = times.to_ms(SystemClock().now())
    print(json.dumps({"_aws": {"Timestamp": at_ms, "CloudWatchMetrics": [counted]}, metric: 1}))  # noqa: T201


def log_line(message: str, **fields: object) -> None:
    logger().info(message, extra=fields)


@cache
def _session() -> boto3.session.Session:
    session = boto3.session.Session()
    parse_queries_as_json(session.events)
    return session


@cache
def _client(service: str, settings: ClientConfig = CLIENT) -> Any:
    """A client, typed as the adapters' small protocols: boto3's own types aren't used."""
    clients: Any = _session()
    return clients.client(service, config=settings)


def _connections_client(address: str) -> Any:
    """A resolver knows no names of the local engine's: it is asked by its address, and told the name."""
    url, client = parse.urlsplit(address), cast(Any, _session()).client
    if not (url.hostname or "").endswith(".localhost"):
        return client("apigatewaymanagementapi", config=MESSAGES, endpoint_url=address)
    local = client("apigatewaymanagementapi", config=MESSAGES, endpoint_url=f"http://127.0.0.1:{url.port}{url.path}")
    local.meta.events.register("before-sign", lambda request, **_: request.headers.add_header("Host", url.netloc))
    return local


@cache
def _store() -> DynamoStore:
    return DynamoStore(_table())


@cache
def _table() -> Table:
    settings = config.load()
    client, together = _client("dynamodb"), ConcurrentCalls(CALLS_AT_ONCE - 1)
    layout = Layout(settings.shards, replace(TODAY, noticed=partial(count, "WrittenByNewer")))
    return Table(client, settings.table, _patience(), layout, together)


@cache
def _patience() -> Patience:
    return Patience(SystemClock())


class _Search:
    """Made at the first use: most calls search for nothing."""

    def find(self, workspace: str, question: Question, until: datetime | None = None) -> SearchAnswer[ScoredEntry]:
        return _search().find(workspace, question, until)

    def about(self, workspace: str, path: str, entry_types: frozenset[EntryType]) -> SearchAnswer[str]:
        return _search().about(workspace, path, entry_types)

    def forgetting(self, workspace: str, entry_id: str) -> list[Write]:
        return _search().forgetting(workspace, entry_id)


class _Trackers:
    """Made at the first use: most calls need no tracker, and an HTTP client is slow to import."""

    name = "Notion"

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
        return _notion().of(workspace, settings, budget_seconds)


class _Secrets:
    """Made at the first use."""

    def put(self, workspace: str, token: str) -> None:
        _secrets_manager().put(workspace, token)

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        return _secrets_manager().get(workspace, afresh=afresh)


class _CallbackKey:
    """Made at the first use."""

    def get(self) -> bytes:
        return _callback_key().get()


@cache
def _search() -> Search:
    from baton.adapters.lexical_search import LexicalSearch
    from baton.adapters.prefetch import prefetched

    return LexicalSearch(_store(), SystemClock(), through=prefetched)


@cache
def _notion() -> Trackers:
    from baton.adapters.notion import NotionTrackers

    return NotionTrackers(_Secrets(), config.load().notion_url, clock=SystemClock())


@cache
def _secrets_manager() -> Secrets:
    from baton.adapters.secrets import SecretsManagerSecrets

    settings = config.load()
    client = _client("secretsmanager", SECRETS)
    return SecretsManagerSecrets(client, settings.secrets_prefix, log_line, settings.secrets_kms)


@cache
def _callback_key() -> CallbackKey:
    from baton.adapters.secrets import SecretsManagerCallbackKey

    return SecretsManagerCallbackKey(_client("secretsmanager", SECRETS), config.load().callbacks_sealed_by, log_line)


def _scripted_model() -> runs.Model:
    """Returns the model with the answers that ``BATON_SCRIPT`` names, or else the shipped ones. Raises ``ModelRefuses``
    for a script that doesn't exist or is invalid."""
    from baton.adapters.models.script import script_at
    from baton.adapters.models.scripted import ScriptedModel

    shipped = Path(str(files("baton.adapters.models")))
    path = Path(config.load().script or "answers.yaml")
    # A bare name is that of a built-in script, wherever the function runs.
    return ScriptedModel(script_at(shipped / path if path.name == str(path) else path), SystemClock())


def _openai_compatible_model() -> runs.Model:
    from baton.adapters.models.openai_compatible import OpenAICompatibleModel

    url = config.load().model_url
    return _guarded(OpenAICompatibleModel(url, _model_key(), SystemClock()), "openai_compatible", url)


def _bedrock_model() -> runs.Model:
    from baton.adapters.models.bedrock import BedrockModel

    return _guarded(BedrockModel(_bedrock_for, SystemClock()), "bedrock", _session().region_name or "")


def _guarded(model: runs.Model, provider: str, endpoint: str) -> runs.Model:
    from baton.adapters.models.circuit import CircuitStore, GuardedModel, circuit_of

    store = CircuitStore(_client("dynamodb"), config.load().table)
    return GuardedModel(model, partial(circuit_of, provider, endpoint), store, log_line)


def _model_key() -> Callable[[], str]:
    from baton.adapters.models.provider_keys import SecretKey

    settings = config.load()
    if not settings.model_key_secret:
        return lambda: settings.model_key
    return SecretKey(_client("secretsmanager", SECRETS), settings.model_key_secret, log_line).get


def _bedrock_for(seconds: float) -> BedrockClient:
    client: BedrockClient = _bedrock_client(max((each for each in BEDROCK_SECONDS if each <= seconds), default=1))
    return client


@cache
def _bedrock_client(seconds: int) -> Any:
    """boto3 takes a timeout per client only."""
    settings = CLIENT.merge(ClientConfig(connect_timeout=min(5, seconds), read_timeout=seconds))
    clients: Any = _session()
    return clients.client("bedrock-runtime", config=settings)


def forget_all() -> None:
    """Clears every cache, for tests that change the environment."""
    parts: list[Callable[..., object]] = [
        *(logger, wire, wire_dead_letters, wire_tracker_dead_letters, wire_visibility, wire_tracker_visibility),
        *(wire_bus, wire_connections, wire_workers, wire_runner, wire_models),
        *(
            _bedrock_client,
            _client,
            _session,
            _store,
            _table,
            _patience,
            _search,
            _notion,
            _secrets_manager,
            _callback_key,
        ),
    ]
    for part in [*parts, config.load, config.metrics_namespace]:
        part.cache_clear()  # type: ignore[attr-defined]
