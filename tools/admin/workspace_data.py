"""A workspace's data in an operator's hands: read out as JSON lines, thinned out, removed. With the operator's own
credentials, as no function's role may scan the table or delete from it. Used by baton_admin.py.

All three scan the whole table, as nothing lists a workspace's items: a read unit for each 4 KB of everything that is in
it, about $0.03 for each GB. Each may be broken off and run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Protocol

from botocore.exceptions import ClientError

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import NUMBER
from baton.adapters.dynamodb.table import from_wire, to_wire
from baton.adapters.dynamodb.trail_items import UNREADABLE
from baton.domain import errors, times
from baton.domain.access.principal import operator
from baton.domain.questions.question import Question
from baton.domain.questions.question_content import content_of
from baton.domain.tasks import trail
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.access.revoke_token import revoke_token

FORMAT = 2  # 2: a task has its questions
DELETED_AT_ONCE = 25  # the most that DynamoDB takes
ATTEMPTS = 8
MAX_PASSES = 20
EVENTS_PER_PAGE = 1_000
SECRET_RECOVERY_DAYS = 7
NAMED = 5  # of the tasks that hold up a removal

# What a line of its own shows beside the tasks. A task's own items are in its line.
EXPORTED = frozenset(
    {
        *("AGENTS/AGENT", "AGENT-VERSIONS/VERSION", "PROFILE/PROFILE", "SETTINGS/SETTINGS", "SETTINGS/VERSION"),
        *("TOOLS/TOOL", "TOOL-VERSIONS/VERSION", "ROUTES/ROUTE", "ROUTE-VERSIONS/VERSION", "TOKENS"),
        *("NOTES", "CHECKPOINTS", "RUN/ENTRY", "RUN/USAGE", "USAGE/USAGE", "WORKFLOW", "PAGE/PAGE"),
        *("ALERTS", "BOARD", "REVIEWS", "REVIEW-REQUEST/REQUEST", "DIRECTION/DIRECTION", "TRAIL/LATE"),
        *("CHANGES", "DECISIONS", "STANDING", "STATS", "VIEWS/WORKSPACE", "VIEWS/OF"),
    }
)
# What isn't: counters, versions, permits and listeners that Baton works with; saved responses, which are forgotten
# after a week; what is secret, as tokens' digests and the key that signs the tracker's deliveries.
LEFT_OUT = frozenset(
    {
        *("AGENTS/ROSTER", "TOOLS/TOOLBOX", "ROUTES/TABLE", "CONFIG/VERSION", "HANDOFFS/COUNT", "HELD/SLOT", "SEEN"),
        *("BOARD-CHANGES", "BOARD-PACKS", "BOARD-PACKS/LIST", "BOARD-ROWS/HUMAN", "BOARD-ROWS/SCOPE"),
        *(
            "BELL/LISTENER",
            "BELL/TICKET",
            "ALERTS-BY/HOUR",
            "ALERTS-OF-TASK",
            "ONCE/ONCE",
            "POLLS/POLLS",
            "ROOM/WINDOW",
        ),
        *("ROOTS/ROOTS", "USE/MINUTE", "LAST-APPROVALS", "LAST-REFUSALS", "LABEL"),
        *(
            "TOKEN/TOKEN",
            "TOKEN/CODE",
            "SESSIONS/SESSIONS",
            "TRACKER/GATE",
            "TRACKER/WEBHOOK",
            "WATCH/WATCH",
            "PEOPLE/PEOPLE",
        ),
    }
)
# Attributes of items that are places in an index, or Baton's own.
_INNER = frozenset({"pk", "sk", "queue_pk", "queue_sk", "wake_pk", "wake_sk", "written_by", NUMBER})

Item = dict[str, Any]
Line = dict[str, Any]


class OperatorsTable(Protocol):
    """The calls that only an operator makes."""

    def scan(self, **request: Any) -> Any: ...
    def batch_write_item(self, **request: Any) -> Any: ...


class SecretsClient(Protocol):
    def delete_secret(self, **request: Any) -> Any: ...


class StillClaimed(Exception):
    def __init__(self, held: list[str]) -> None:
        """``held``: the ids of the tasks."""
        named = ", ".join([*held[:NAMED], *(["…"] if len(held) > NAMED else [])])
        super().__init__(f"Workers hold claims on {len(held)} tasks ({named}): wait, or remove it with --force.")
        self.held = held


class NotEmptied(Exception):
    """Something goes on writing."""


@dataclass(frozen=True)
class WorkspaceData:
    """The data of one workspace."""

    deps: Deps
    table: OperatorsTable
    table_name: str
    workspace: str

    # Reading out

    def export(self) -> Iterator[Line]:
        """Yields a line that says when it began, a line for each task with its trail, one for each other item, and a
        last one that says that this was all. Each task is of one moment, its ``read_at``; one that was made after the
        beginning may be missing."""
        begun_at, counted = self._now(), {"tasks": 0, "items": 0}
        yield {"kind": "workspace", "format": FORMAT, "workspace": self.workspace, "begun_at": begun_at}
        for item in self._scan():
            kind = keys.kind_of_item(item["pk"], item["sk"])
            if kind == "TASK/HEAD":
                counted["tasks"] += 1
                yield self._task_line(keys.parse_task(item["pk"])[1])
            elif kind in EXPORTED:
                counted["items"] += 1
                yield _item_line(kind, item)
        yield {"kind": "end", "workspace": self.workspace, "ended_at": self._now(), **counted}

    def _task_line(self, task_id: str) -> Line:
        """A task that can't be read doesn't keep the others back."""
        try:
            return self._whole_task_line(task_id)
        except (errors.BatonError, *UNREADABLE) as error:
            return {"kind": "unreadable task", "id": task_id, "read_at": self._now(), "error": type(error).__name__}

    def _whole_task_line(self, task_id: str) -> Line:
        """A task that changes while its trail is read is shown as it was before, and the trail to its last event."""
        details, questions = self._of_one_moment(task_id)
        read_at, task = self._now(), details.task
        events = list(islice(self._events(task), task.meta.seq))
        return {
            "kind": "task",
            "id": task_id,
            "read_at": read_at,
            "task": {
                **trail.state_fields(task),
                "version": task.meta.version,
                "updated_at": times.rfc3339(task.meta.updated_at),
            },
            **_papers(details),
            "questions": list(map(_question, questions)),
            "head_hash": task.meta.chain,
            "events": [event.public() for event in events],
        }

    def _of_one_moment(self, task_id: str) -> tuple[TaskDetails, list[Question]]:
        """Returns the task and its questions, which change with it. Raises ``Busy`` if the task never rests."""
        for _ in range(ATTEMPTS):
            details = self.deps.store.tasks.read(self.workspace, task_id, with_body=True)
            questions = self.deps.store.questions.of_task(self.workspace, task_id)
            if self.deps.store.tasks.load(self.workspace, task_id)[0].meta.seq == details.task.meta.seq:
                return details, questions
        raise errors.Busy

    def _events(self, task: Task) -> Iterator[trail.Event]:
        after = 0
        while after < task.meta.seq and (
            page := self.deps.store.trail.events(self.workspace, task.id, after, EVENTS_PER_PAGE)
        ):
            yield from page
            after = page[-1].seq

    # Thinning out

    def prune(self, days: int) -> dict[str, int]:
        """Deletes the transcripts and late results of tasks that ended more than so many days ago. Nothing decides by
        them any more; a conversation that goes on after that doesn't know what was said in these tasks. Returns how
        many items of each it deleted."""
        before = self.deps.clock.now() - times.seconds(days * 86_400)
        known: dict[str, bool] = {}
        counted = {"transcript entries": 0, "late results": 0}

        def old() -> Iterator[keys.Key]:
            for item in self._scan(keys_only=True):
                kind, task_id = keys.kind_of_item(item["pk"], item["sk"]), item["pk"].rpartition("#")[2]
                if kind not in {"RUN/ENTRY", "TRAIL/LATE"}:
                    continue
                if task_id not in known:
                    known[task_id] = self._ended_before(task_id, before)
                if known[task_id]:
                    counted["transcript entries" if kind == "RUN/ENTRY" else "late results"] += 1
                    yield keys.Key(item["pk"], item["sk"])

        self._delete(old())
        return counted

    def _ended_before(self, task_id: str, at: datetime) -> bool:
        task = self.deps.store.tasks.many(self.workspace, [task_id]).get(task_id)
        return task is not None and task.is_ended and task.meta.updated_at < at

    # Removing

    def remove(self, *, force: bool = False) -> int:
        """Deletes everything of the workspace, and returns how many items that were. First it revokes the tokens, so
        that nobody begins anything new. Raises ``StillClaimed`` before anything is changed, unless it is forced: a
        worker that holds a claim then finds nothing at its next call. Raises ``NotEmptied`` if something is still
        written after many passes: run it again later."""
        if not force and (held := self.live_claims()):
            raise StillClaimed(held)
        self._revoke_tokens()
        deleted = 0
        for _ in range(MAX_PASSES):
            found = self._delete(keys.Key(item["pk"], item["sk"]) for item in self._scan(keys_only=True))
            deleted += found
            if not found:
                return deleted
        raise NotEmptied(f"{self.workspace} is still written to: run it again.")

    def live_claims(self) -> list[str]:
        """The ids of the tasks that somebody holds. The marks lag by milliseconds."""
        roster = self.deps.store.agents.roster(self.workspace)
        held = [
            each.task_id for agent in roster.agents for each in self.deps.store.claims.held(self.workspace, agent.slug)
        ]
        tasks = self.deps.store.tasks.many(self.workspace, held) if held else {}
        now = self.deps.clock.now()
        return sorted(task.id for task in tasks.values() if task.claim is not None and not task.claim.is_over(now))

    def _revoke_tokens(self) -> None:
        by = operator(self.workspace)
        cursor: str | None = None
        while True:
            page = self.deps.store.tokens.listed(self.workspace, 100, cursor)
            for token in page.items:
                with suppress(errors.Unknown):  # removed by a run before this one
                    revoke_token(self.deps, by, token.id)
            cursor = page.cursor
            if cursor is None:
                return

    # The table

    def _scan(self, *, keys_only: bool = False) -> Iterator[Item]:
        """Yields the workspace's items, the tokens with their digests too."""
        request: Item = {
            "TableName": self.table_name,
            "ConsistentRead": True,
            "FilterExpression": "begins_with(#pk, :prefix) OR (#sk = :token AND #workspace = :workspace)",
            "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk", "#workspace": "workspace"},
            "ExpressionAttributeValues": to_wire(
                {":prefix": keys.of_workspace(self.workspace), ":token": keys.TOKEN, ":workspace": self.workspace}
            ),
            **({"ProjectionExpression": "#pk, #sk"} if keys_only else {}),
        }
        while True:
            page = self.table.scan(**request)
            yield from map(from_wire, page["Items"])
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _delete(self, wanted: Iterable[keys.Key]) -> int:
        """Returns how many there were."""
        left, count = iter(wanted), 0
        while batch := list(islice(left, DELETED_AT_ONCE)):
            count += len(batch)
            request = [{"DeleteRequest": {"Key": to_wire(key._asdict())}} for key in batch]
            for attempt in range(ATTEMPTS):
                answer = self.table.batch_write_item(RequestItems={self.table_name: request})
                request = answer.get("UnprocessedItems", {}).get(self.table_name, [])
                if not request:
                    break
                self.deps.clock.sleep(0.1 * 2**attempt)
            else:
                raise errors.Busy
        return count

    def _now(self) -> str:
        return times.rfc3339(self.deps.clock.now())


def remove_secret(client: SecretsClient, name: str) -> bool:
    """Deletes a secret; AWS keeps it for a week, in case. False if there is none."""
    try:
        client.delete_secret(SecretId=name, RecoveryWindowInDays=SECRET_RECOVERY_DAYS)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return False
        raise
    return True


def _papers(details: TaskDetails) -> Line:
    """What belongs to the task beside its state."""
    papers = {name: getattr(details, name) for name in ("body", "output", "completion", "failure", "resume_payload")}
    return {
        **papers,
        "recoveries": [
            {"number": each.number, "at": times.rfc3339(each.at), "reason": each.reason} for each in details.recoveries
        ],
    }


def _question(question: Question) -> Line:
    used_at = None if question.used_at is None else times.rfc3339(question.used_at)
    return {**content_of(question), "outcome": str(question.outcome), "used_at": used_at}


def _item_line(kind: str, item: Item) -> Line:
    content = {name: value for name, value in item.items() if name not in _INNER}
    return {
        "kind": "item",
        "of": kind,
        "about": item["pk"].split("#", 3)[3:],
        "id": item["sk"],
        "content": _plain(content),
    }


def _plain(value: Any) -> Any:
    """In JSON's types: numbers of the table are exact decimals, and sets have no order."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
