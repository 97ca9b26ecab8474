"""Every key of the table and of its two indexes. No other file spells one. No item is ever found by the beginning of
its key: keys are compared whole, so ``client`` and ``client-repo-auditor`` never see each other's items
(docs/spec/marker.md §4)."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from itertools import takewhile
from typing import NamedTuple
from zlib import crc32

from baton.domain import times
from baton.domain.access.workspace_change import ChangeState, WorkspaceChange
from baton.domain.agents.rule_fit import folded
from baton.domain.alerts.alert import Alert, AlertState, hour_of
from baton.domain.bell.listener import Listener, Topic, place_of
from baton.domain.canonical_json import digest_of
from baton.domain.handoffs.workflow import BackgroundJob, JobKind
from baton.domain.look_alikes import look
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.questions.question import Question
from baton.domain.questions.standing_answer import LastRefusal, StandingAnswer
from baton.domain.stats.day_counts import DayPlace
from baton.domain.stats.decision import Decision
from baton.domain.task_state import State
from baton.domain.tasks.task import Claim, Task
from baton.domain.tracker.page_sync import PageSync, Sync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.queues import ReadyTask

# The indexes that this release reads. A version that is added is queue-2, by the same two attributes
# (docs/decisions/056-an-index-is-never-changed.md).
QUEUE_INDEX = "queue"
WAKE_INDEX = "wake"
# One partition answers 3,000 consistent reads a second, and a handoff makes five.
CONFIG_SHARDS = 4
# One partition takes 1,000 write units a second, and posting a long entry takes ten. The number is part of an entry's
# key: it never changes.
BOARD_SHARDS = 4
# Sorts after every character of an id.
_END = "~"


class Key(NamedTuple):
    pk: str
    sk: str


@cache
def attributes_of(index: str | None) -> Key:
    """Returns the names of the two attributes that an index is by, whichever version of it this is; the table's own for
    None."""
    if index is None:
        return Key("pk", "sk")
    name, _, _version = index.partition("-")
    return Key(f"{name}_pk", f"{name}_sk")


def place(index: str, key: Key | None) -> dict[str, str]:
    """Returns an item's key in an index as attributes of the item; none for None."""
    return {} if key is None else dict(zip(attributes_of(index), key, strict=True))


def of_workspace(workspace: str) -> str:
    """What the partitions of all its items begin with, but those of its tokens: for an operator's scan."""
    return f"WS#{workspace}#"


# A task. Items that are read together share a partition, HEAD among them; the trail has a partition of its own.


def task(workspace: str, task_id: str) -> str:
    return f"WS#{workspace}#TASK#{task_id}"


def head(workspace: str, task_id: str) -> Key:
    return Key(task(workspace, task_id), "HEAD")


BEGINNING = "BEGINNING"  # sorts before BODY, so that reading a task without its body leaves it out too
BODY = "BODY"
BROUGHT = "BROUGHT"
CHECKPOINT = "CHECKPOINT"
FAILURE = "FAILURE"
HEAD = "HEAD"
MIRROR = "MIRROR"
OUTPUT = "OUTPUT"
RETRY = "RETRY"
RUN_STATE = "RUN_STATE"
FOLLOWED = "FOLLOWED"
TOKEN = "TOKEN"  # noqa: S105 - a sort key
_ERRANDS = {"JOIN": JobKind.JOIN, "CASCADE": JobKind.CASCADE}
RECOVERIES = ("RECOVERY#", "RECOVERY#" + _END)


def task_item(workspace: str, task_id: str, what: str) -> Key:
    return Key(task(workspace, task_id), what)


def output(workspace: str, task_id: str, digest: str) -> Key:
    """An output that is too large for HEAD, which names it."""
    return Key(task(workspace, task_id), f"{OUTPUT}#{digest}")


def recovery(workspace: str, task_id: str, number: int) -> Key:
    return Key(task(workspace, task_id), f"RECOVERY#{number:06d}")


def job(workspace: str, kind: JobKind, task_id: str) -> Key:
    return task_item(workspace, task_id, kind.name)


def trail(workspace: str, task_id: str) -> str:
    return f"WS#{workspace}#TRAIL#{task_id}"


def beginning(workspace: str, task_id: str) -> Key:
    """The events that the task began with, and its place in the outbox. Its partition is HEAD's, so that the table's
    stream keeps the order of both."""
    return Key(task(workspace, task_id), BEGINNING)


def chunk(workspace: str, task_id: str, last: int) -> Key:
    """Events that HEAD had before. The key ends with the number of the last one, so the events from any number on are
    one range, and no two states of a task have the same chunk."""
    return Key(trail(workspace, task_id), chunk_name(last))


def chunk_name(last: int) -> str:
    return f"EVENTS#{last:08d}"


def parse_chunk(sort_key: str) -> int:
    """Returns the number of the chunk's last event."""
    return int(sort_key.split("#", 1)[1])


def late_result(workspace: str, task_id: str, fence: int, claim_id: str) -> Key:
    return Key(trail(workspace, task_id), f"LATE#{fence:08d}#{claim_id}")


def late_results_after(fence: int) -> tuple[str, str]:
    return f"LATE#{fence + 1:08d}", "LATE#" + _END


# The slots of an agent with a limit, one item each: which live claim holds it, or that it was given back.


def slots(workspace: str, agent_slug: str) -> str:
    return f"WS#{workspace}#HELD#{agent_slug}"


def slot(workspace: str, agent_slug: str, number: int) -> Key:
    return Key(slots(workspace, agent_slug), f"SLOT#{number:04d}")


# The items of a workflow.


def members(workspace: str, workflow_id: str) -> str:
    return f"WS#{workspace}#WORKFLOW#{workflow_id}"


def parse_members(partition: str) -> str:
    """Returns the workflow's id."""
    return partition.split("#", 3)[3]


def handoff_count(workspace: str, workflow_id: str) -> Key:
    return Key(f"WS#{workspace}#HANDOFFS#{workflow_id}", "COUNT")


def roots(workspace: str, source: str, target: str) -> Key:
    """The latest root handoffs of a direction. The source may be any principal, whose name may have any characters; the
    target is a slug or ``*``."""
    return Key(f"WS#{workspace}#ROOTS#{target}#{source}", "ROOTS")


def checkpoints(workspace: str, workflow_id: str) -> str:
    return f"WS#{workspace}#CHECKPOINTS#{workflow_id}"


# The transcript and the usage of a task's runs.


def run(workspace: str, task_id: str) -> str:
    return f"WS#{workspace}#RUN#{task_id}"


def entry(workspace: str, task_id: str, first: int) -> Key:
    """A transcript entry. Its key ends with the number of its first message, so that two writers who know the same
    transcript have the same key for their next entry, and one of them gets it."""
    return Key(run(workspace, task_id), f"ENTRY#{first:08d}")


def entries_from(workspace: str, task_id: str, number: int) -> tuple[Key, str]:
    """The range of the entries that begin with this message or later."""
    return entry(workspace, task_id, max(number, 0)), "ENTRY#" + _END


def usage_of_task(workspace: str, task_id: str) -> Key:
    return Key(run(workspace, task_id), "USAGE")


def usage_of_workflow(workspace: str, workflow_id: str) -> Key:
    """Its own item, apart from the workflow's count of handoffs: one transaction may count both."""
    return Key(f"WS#{workspace}#USAGE#{workflow_id}", "USAGE")


# The items of a workspace.


def idempotency_key(workspace: str, digest: str) -> Key:
    return Key(f"WS#{workspace}#ONCE#{digest}", "ONCE")


def direction(workspace: str, source: str, target: str) -> Key:
    return Key(f"WS#{workspace}#DIRECTION#{source}#{target}", "DIRECTION")


def question(workspace: str, task_id: str, question_id: str) -> Key:
    return Key(task(workspace, task_id), f"QUESTION#{question_id}")


QUESTIONS = ("QUESTION#", "QUESTION#" + _END)


def standing_answers(workspace: str) -> str:
    return f"WS#{workspace}#STANDING"


def standing_answers_of(agent: str, tool: str) -> tuple[str, str]:
    """The first and the last sort key of those of an agent's tool, in any spelling that approval rules take for it."""
    return _pair_of(agent, folded(tool))


def _pair_of(agent: str, tool: str) -> tuple[str, str]:
    pair = digest_of([agent, tool])[:16]
    return f"{pair}#", f"{pair}#{_END}"


def standing_answer(of: StandingAnswer) -> Key:
    return Key(standing_answers(of.workspace), standing_answers_of(of.agent, of.tool)[0] + of.id)


def last_refusal(workspace: str, of: LastRefusal) -> Key:
    scope = "TOOL" if of.digest is None else of.digest
    return Key(f"WS#{workspace}#LAST-REFUSALS", standing_answers_of(of.agent, of.tool)[0] + scope)


def last_approvals(workspace: str) -> str:
    return f"WS#{workspace}#LAST-APPROVALS"


def last_approvals_of(agent: str, tool: str) -> tuple[str, str]:
    """The first and the last sort key of approvals of an agent's tool, and of the tools that look like it."""
    return _pair_of(agent, look(tool))


def last_approval(workspace: str, agent: str, tool: str, question_id: str) -> Key:
    """In the order of asking. An older item has no question in its key and comes first."""
    return Key(last_approvals(workspace), last_approvals_of(agent, tool)[0] + question_id)


def before_last_approval(sort_key: str, question_id: str) -> str:
    """Returns a sort key of the same agent and tool that comes before the keys of this question and of later ones."""
    return f"{sort_key.partition('#')[0]}#{question_id}"


def open_questions(workspace: str) -> str:
    """In the queue index."""
    return f"WS#{workspace}#QUESTIONS"


def reviews(workspace: str) -> str:
    return f"WS#{workspace}#REVIEWS"


def review_request(workspace: str, review_id: str) -> Key:
    return Key(f"WS#{workspace}#REVIEW-REQUEST#{review_id}", "REQUEST")


def notes(workspace: str, about: str) -> str:
    return f"WS#{workspace}#NOTES#{about}"


def agents(workspace: str) -> str:
    return f"WS#{workspace}#AGENTS"


def agent(workspace: str, slug: str) -> Key:
    return Key(agents(workspace), f"AGENT#{slug}")


def agent_version(workspace: str, slug: str, version: int) -> Key:
    return Key(f"WS#{workspace}#AGENT-VERSIONS#{slug}", f"VERSION#{version:08d}")


def roster(workspace: str) -> Key:
    return Key(agents(workspace), "ROSTER")


def config_version(workspace: str, shard: int) -> Key:
    """The version of what a process keeps of a workspace: agents, settings, tokens. Every request reads one of these
    items, so that there are several, each in a partition of its own; all say the same."""
    return Key(f"WS#{workspace}#CONFIG#{shard}", "VERSION")


def people(workspace: str) -> Key:
    return Key(f"WS#{workspace}#PEOPLE", "PEOPLE")


def changes(workspace: str) -> str:
    """The changes of the workspace itself, by their ids."""
    return f"WS#{workspace}#CHANGES"


def waiting_changes(workspace: str) -> str:
    """In the queue index."""
    return f"WS#{workspace}#CHANGES-WAITING"


def change_index_key(of: WorkspaceChange) -> Key | None:
    """Returns the key of a change that waits in the queue index; None once it is decided."""
    waits = of.state in {ChangeState.PENDING, ChangeState.APPROVED}
    return Key(waiting_changes(of.workspace), of.id) if waits else None


def profile(workspace: str, slug: str) -> Key:
    """Its own partition, as prompts are long and all agents are read together."""
    return Key(f"WS#{workspace}#PROFILE#{slug}", "PROFILE")


def tools(workspace: str) -> str:
    return f"WS#{workspace}#TOOLS"


def tool(workspace: str, name: str) -> Key:
    return Key(tools(workspace), f"TOOL#{name}")


def tools_after(workspace: str, name: str | None) -> tuple[Key, str]:
    """Returns the range of the tools after this name. A space sorts before every character that could continue the
    name."""
    return tool(workspace, "" if name is None else name + " "), "TOOL#" + _END


def tool_version(workspace: str, name: str, version: int) -> Key:
    return Key(f"WS#{workspace}#TOOL-VERSIONS#{name}", f"VERSION#{version:08d}")


def toolbox(workspace: str) -> Key:
    return Key(tools(workspace), "TOOLBOX")


def routes(workspace: str) -> str:
    return f"WS#{workspace}#ROUTES"


def route(workspace: str, work_type: str) -> Key:
    return Key(routes(workspace), f"ROUTE#{work_type}")


def route_version(workspace: str, work_type: str, version: int) -> Key:
    return Key(f"WS#{workspace}#ROUTE-VERSIONS#{work_type}", f"VERSION#{version:08d}")


def routing_table(workspace: str) -> Key:
    return Key(routes(workspace), "TABLE")


def alerts(workspace: str) -> str:
    return f"WS#{workspace}#ALERTS"


def alert(workspace: str, alert_id: str) -> Key:
    return Key(alerts(workspace), alert_id)


def alerts_of_task(workspace: str, task_id: str | None) -> str:
    """The alerts about a task, or with None those about no task."""
    return f"WS#{workspace}#ALERTS-OF-TASK#{task_id or ''}"


def alert_count(workspace: str, by: str, at: datetime) -> Key:
    return Key(f"WS#{workspace}#ALERTS-BY#{by}", f"HOUR#{hour_of(at):08d}")


# The blackboard. An entry has no partition of its own: a reader that knows all of them reads on from the last id.


def board(workspace: str, shard: int) -> str:
    return f"WS#{workspace}#BOARD#{shard}"


def board_shards(workspace: str) -> tuple[str, ...]:
    return tuple(board(workspace, shard) for shard in range(BOARD_SHARDS))


def board_entry(workspace: str, entry_id: str) -> Key:
    return Key(board(workspace, crc32(entry_id.encode()) % BOARD_SHARDS), entry_id)


def board_row(workspace: str, entry_id: str, depth: int) -> Key:
    """The entry's row for the scope of so many segments that is above it, or its own."""
    return Key(f"WS#{workspace}#BOARD-ROWS#{entry_id}", f"SCOPE#{depth}")


def board_row_by_human(workspace: str, entry_id: str, depth: int) -> Key:
    """The second row of an entry that a human posted, for the same scope; the root's has the depth 0."""
    return Key(f"WS#{workspace}#BOARD-ROWS#{entry_id}", f"HUMAN#{depth}")


def board_changes(workspace: str) -> str:
    return f"WS#{workspace}#BOARD-CHANGES"


def board_packs(workspace: str) -> str:
    return f"WS#{workspace}#BOARD-PACKS"


def board_pack(workspace: str, last_id: str) -> Key:
    return Key(board_packs(workspace), last_id)


def board_pack_list(workspace: str) -> Key:
    """Sorts before every pack."""
    return Key(board_packs(workspace), "LIST")


def view_of(workspace: str, entry_type: EntryType, scope: str) -> str:
    """The active entries of a type that were posted in the scope or below it, in the queue index."""
    return f"WS#{workspace}#VIEW#{entry_type}#{scope}"


# In a view: what was posted in exactly its scope, which the scopes below see too, and what was posted below it.
HERE, BELOW = "HERE#", "BELOW#"
# Before the id in the second place of what a human posted: it sorts after every id, so that whoever reads newest first
# finds these first, however much was posted since.
BY_HUMAN = _END


def view_index_key(of: Entry, scope: str, shelf: str = "") -> Key:
    """Returns the entry's key in the view of its own scope, or of one above it. ``shelf``: ``BY_HUMAN`` for the second
    place of what a human posted."""
    where = HERE if of.scope == scope else BELOW
    return Key(view_of(of.workspace, of.entry_type, scope), where + shelf + of.id)


class Shown(NamedTuple):
    """What a place in a view says."""

    entry_id: str
    is_by_human: bool  # the second place of what a human posted


def parse_view_sort_key(sort_key: str) -> Shown:
    said = sort_key.split("#", 1)[1]
    return Shown(said.removeprefix(BY_HUMAN), said.startswith(BY_HUMAN))


def contacts(workspace: str) -> str:
    return f"WS#{workspace}#SEEN"


def contact(workspace: str, slug: str) -> Key:
    return Key(contacts(workspace), slug)


def polls(workspace: str, by: str) -> Key:
    """The long polls of one principal; ``by`` is its key."""
    return Key(f"WS#{workspace}#POLLS#{by}", "POLLS")


def room(function: str, window: int) -> Key:
    """How many long polls of a deployment's function began in one window, and wait."""
    return Key(f"ROOM#{function}", f"WINDOW#{window:012d}")


def watch(workspace: str) -> Key:
    """The watch of the workspace's tasks. Its partition is built as a task's is: a release that knows no watches takes
    it for the HEAD of a task that isn't there."""
    return Key(f"WS#{workspace}#WATCH#TASKS", "WATCH")


def is_watch(partition: str) -> bool:
    return kind_of(partition) == "WATCH"


def parse_watch(partition: str) -> str:
    """Returns the workspace."""
    return parse_task(partition)[0]


# Counts of what ended on a day (UTC), and what people decided then.


def day_of_counts(workspace: str, day: date) -> str:
    return f"WS#{workspace}#STATS#{day.isoformat()}"


def day_counts(place: DayPlace) -> Key:
    """The target comes first: it is a slug or ``*``, and the source's name may have any characters."""
    return Key(day_of_counts(place.workspace, place.day), f"{place.target}#{place.source}")


def parse_day_counts(key: Key) -> DayPlace:
    _, workspace, _, day = key.pk.split("#", 3)
    target, _, source = key.sk.partition("#")
    return DayPlace(workspace, date.fromisoformat(day), source, target)


def day_of_decisions(workspace: str, day: date) -> str:
    return f"WS#{workspace}#DECISIONS#{day.isoformat()}"


def decision(of: Decision) -> Key:
    """Follows from the entry of the trail, so that telling it twice puts one item."""
    return Key(day_of_decisions(of.workspace, of.at.date()), f"{due_sort_key(of.at, of.about)}#{of.seq:08d}")


def parse_decision(key: Key) -> tuple[str, datetime, str, int]:
    """Returns workspace, time, task or review, and the number of the entry in the trail."""
    at_ms, about, seq = key.sk.split("#")
    return key.pk.split("#", 2)[1], times.from_ms(int(at_ms)), about, int(seq)


# The bell. A connection and a ticket are found by what is shown alone: whose they are, is in the item.


def listener(connection_id: str) -> Key:
    return Key(f"BELL#{connection_id}", "LISTENER")


def parse_connection(partition: str) -> str:
    return partition.split("#", 1)[1]


def ticket(digest: str) -> Key:
    return Key(f"BELL#TICKET-{digest}", "TICKET")


def topic(of: Topic) -> str:
    """The connections that listen to it, in the queue index."""
    return f"WS#{of.workspace}#BELL#{of}"


def topic_index_key(of: Listener) -> Key:
    return Key(topic(of.topic), place_of(of.connection_id))


def listeners(workspace: str) -> str:
    """All connections of a workspace, in the wake index: by principal, then by token."""
    return f"WS#{workspace}#LISTENERS"


def listener_index_key(of: Listener) -> Key:
    return Key(listeners(of.topic.workspace), f"{of.by}#{of.token_id}#{of.connection_id}")


def listeners_of(by: str) -> tuple[str, str]:
    """Returns the first and the last sort key that a connection of the principal's can have. No token's id begins with
    a character after the last one."""
    return f"{by}#", f"{by}#{_END}"


def parse_listener(sort_key: str) -> tuple[str, str]:
    """Returns the connection, and the id of the token that it was opened with."""
    _, token_id, connection_id = sort_key.rsplit("#", 2)
    return connection_id, token_id


def parse_workspace(partition: str) -> str:
    return partition.split("#", 2)[1]


def use(workspace: str, by: str, minute: int) -> Key:
    return Key(f"WS#{workspace}#USE#{by}", f"MINUTE#{minute:012d}")


def settings(workspace: str) -> Key:
    return Key(f"WS#{workspace}#SETTINGS", "SETTINGS")


def settings_version(workspace: str, version: int) -> Key:
    return Key(f"WS#{workspace}#SETTINGS", f"VERSION#{version:08d}")


def saved_views(workspace: str, owner: str | None) -> Key:
    """``owner``: a principal's key; None: the workspace."""
    return Key(f"WS#{workspace}#VIEWS", "WORKSPACE" if owner is None else f"OF#{owner}")


def page(workspace: str, page_id: str) -> Key:
    """The task that a tracker page belongs to. Dashes and case of the page's id don't count."""
    return Key(f"WS#{workspace}#PAGE#{page_id.replace('-', '').lower()}", "PAGE")


def tracker_circuit(workspace: str) -> Key:
    return Key(f"WS#{workspace}#TRACKER", "GATE")


def webhook(workspace: str) -> Key:
    return Key(f"WS#{workspace}#TRACKER", "WEBHOOK")


def tokens(workspace: str) -> str:
    return f"WS#{workspace}#TOKENS"


def token(token_id: str) -> Key:
    """A token, found by its id alone. The workspace in the item is the one that counts."""
    return Key(f"TOKEN#{token_id}", TOKEN)


def session_code(digest: str) -> Key:
    """Found by its digest alone, as a token is by its id. No token's id has a capital letter."""
    return Key(f"TOKEN#CODE-{digest}", "CODE")


def open_sessions(workspace: str, token_id: str) -> Key:
    return Key(f"WS#{workspace}#SESSIONS#{token_id}", "SESSIONS")


# Listings in the queue index, as places of items that never change: the day's is BEGINNING's, the agent's BODY's, that
# of conversations their roots' entries in the workflow.


def tasks_of_agent(workspace: str, slug: str) -> str:
    return f"WS#{workspace}#TASKS-OF-AGENT#{slug}"


def tasks_of_day(workspace: str, day: date) -> str:
    return f"WS#{workspace}#TASKS-OF-DAY#{day.isoformat()}"


def agent_list_index_key(of: Task) -> Key | None:
    """Returns the place in the list of the task's agent; None for open work, which has none."""
    return None if of.target_agent is None else Key(tasks_of_agent(of.workspace, of.target_agent), of.id)


def day_list_index_key(of: Task) -> Key:
    return Key(tasks_of_day(of.workspace, of.created_at.date()), of.id)


def conversations(workspace: str) -> str:
    return f"WS#{workspace}#CONVERSATIONS"


def conversation_index_key(workspace: str, root_id: str) -> Key:
    return Key(conversations(workspace), root_id)


def tasks_of_label(workspace: str, label: str) -> str:
    """Its partition in the table: a place for each task, under the task's id. By a digest, as a label may be long, and
    is found whatever its case."""
    return f"WS#{workspace}#LABEL#{digest_of(label.casefold())[:32]}"


# Every task of a workspace may be in some of these, so they are spread over shards (shards.py).
LISTS_OF_ALL_TASKS = frozenset({"CONVERSATIONS", "NEEDS", "OPEN", "TASKS-OF-DAY"})

# The queue index: work to claim, and work that waits for a human.


def needs_queue(workspace: str) -> str:
    return f"WS#{workspace}#NEEDS"


def ready_queue(workspace: str, agent_slug: str) -> str:
    return f"WS#{workspace}#READY#{agent_slug}"


def open_queue(workspace: str) -> str:
    return f"WS#{workspace}#OPEN"


# An agent's own entry sorts before all of its work, so one read finds both its skills and its queue.
AGENT_PLACE = "!AGENT"
QUEUE_START = "!"


def agent_index_key(workspace: str, agent_slug: str) -> Key:
    return Key(ready_queue(workspace, agent_slug), AGENT_PLACE)


def queue_index_key(of: Task) -> Key | None:
    """Returns a task's key in the queue index: highest priority first, then first in, first out. A claimed task is
    marked in the queue of the agent that holds it. None: not listed."""
    if of.claim is not None:
        return Key(ready_queue(of.workspace, of.claim.agent), claim_mark(of.claim))
    if of.meta.parked:
        return None
    if of.state is State.NEEDS:
        return Key(needs_queue(of.workspace), _queue_sort_key(of.priority, of.created_at, of.id))
    if of.state is State.DELEGATED and of.ready_at is not None:
        queue = open_queue(of.workspace) if of.target_agent is None else ready_queue(of.workspace, of.target_agent)
        return Key(queue, _queue_sort_key(of.priority, of.ready_at, of.id))
    return None


# The marks of claimed tasks sort after all work of their agent's queue, by the end of the lease.
MARKS = _END


def claim_mark(of: Claim, at: datetime | None = None) -> str:
    """``at``: until when it says that the lease lasts; left out, as long as it was said before."""
    return f"{MARKS}{_moment(at or of.marked_at or of.expires_at)}#{of.claim_id}"


def is_claim_mark(sort_key: str) -> bool:
    return sort_key.startswith(MARKS)


def parse_claim_mark(sort_key: str) -> tuple[datetime, str]:
    """Returns the end of the lease, as far as the mark knows, and the claim's id."""
    ends_ms, claim_id = sort_key.removeprefix(MARKS).split("#", 1)
    return times.from_ms(int(ends_ms)), claim_id


def marked_at(sort_key: str, claim_id: str) -> datetime | None:
    """Returns the end of the lease, as far as the claim's mark knows; None for a place that isn't its mark."""
    if not sort_key.endswith(f"#{claim_id}"):
        return None
    return parse_claim_mark(sort_key)[0]


def lapsed_marks_until(now: datetime) -> str:
    """Returns a sort key after all work of a queue and after every mark that is over at ``now``, before all others."""
    return f"{MARKS}{_moment(now)}#{_END}"


def inbox(workspace: str, agent_slug: str) -> str:
    """The ended tasks that the agent handed off and hasn't acknowledged, each under the id of its inbox item."""
    return f"WS#{workspace}#INBOX#{agent_slug}"


def inbox_index_key(of: Task, item_id: str) -> Key:
    return Key(inbox(of.workspace, of.source_agent), item_id)


def unresolved_alerts(workspace: str, state: AlertState) -> str:
    return f"WS#{workspace}#ALERTS-{state.upper()}"


def question_index_key(of: Question) -> Key | None:
    """Returns the question's key in the queue index, by its age; None once it is closed."""
    return Key(open_questions(of.workspace), f"{of.id}#{of.task_id}") if of.is_open else None


def parse_question(sort_key: str) -> tuple[str, str]:
    """Returns its id and its task's."""
    question_id, _, task_id = sort_key.partition("#")
    return question_id, task_id


def alert_index_key(of: Alert) -> Key | None:
    """Returns the alert's key in the queue index; None if it is resolved, so that listing open alerts never reads
    resolved ones."""
    if of.state is AlertState.RESOLVED:
        return None
    return Key(unresolved_alerts(of.workspace, of.state), of.id)


def page_sync_queue(workspace: str) -> str:
    return f"WS#{workspace}#MIRRORS"


def dead_page_syncs(workspace: str) -> str:
    return f"WS#{workspace}#MIRRORS-DEAD"


def page_sync_index_key(of: PageSync) -> Key | None:
    """Pages that need synchronisation are listed longest due first; those that were given up have a list of their
    own."""
    if of.due_at is not None:
        return Key(page_sync_queue(of.workspace), due_sort_key(of.due_at, of.task_id))
    if of.status is Sync.DEAD:
        return Key(dead_page_syncs(of.workspace), due_sort_key(of.since, of.task_id))
    return None


def open_pages(workspace: str) -> str:
    return f"WS#{workspace}#MIRRORS-OPEN"


def page_look_index_key(of: PageSync) -> Key | None:
    """Returns the page's key in the wake index, where it stays while its task may change: a change writes HEAD alone,
    so that a lost notice of it is found here."""
    return None if of.look_at is None else Key(open_pages(of.workspace), due_sort_key(of.look_at, of.task_id))


def due_sort_key(at: datetime, task_id: str) -> str:
    return f"{_moment(at)}#{task_id}"


def parse_due(sort_key: str) -> str:
    """Returns the task's id."""
    return sort_key.split("#", 1)[1]


def parse_due_at(sort_key: str) -> datetime:
    return times.from_ms(int(sort_key.split("#", 1)[0]))


def parse_queue_sort_key(sort_key: str) -> tuple[str, ReadyTask]:
    """Returns the priority, and the task with the time from which it is ready."""
    priority, ready_ms, task_id = sort_key.split("#", 2)
    return priority, ReadyTask(task_id, times.from_ms(int(ready_ms)), priority=priority)


def _queue_sort_key(priority: str, at: datetime, task_id: str) -> str:
    return f"{priority}#{_moment(at)}#{task_id}"


# The wake index, spread over shards (shards.py). Claims, and work that was just approved, have partitions of their own
# and come first.
WAKE_DUE = ("WAKE#CLAIMED", "WAKE#ERRANDS", "WAKE#OTHER")
_CLAIMED, _ERRAND, _OTHER = WAKE_DUE
# Events that the bus hasn't accepted yet.
OUTBOX = "WAKE#EVENTS"
WAKE_PARTITIONS = frozenset({*WAKE_DUE, OUTBOX})

# One partition is enough: each workspace has one entry, which moves every few minutes.
WAKE_TRACKERS = "WAKE#TRACKERS"


def tracker_circuit_index_key(of: TrackerCircuit) -> Key | None:
    return Key(WAKE_TRACKERS, due_sort_key(of.wake_at, of.workspace)) if of.wake_at is not None else None


def wake_index_key(of: Task) -> Key | None:
    if of.meta.wake_at is None:
        return None
    return Key(_CLAIMED if of.meta.wakes_first else _OTHER, due_sort_key(of.meta.wake_at, of.id))


def wakes_first(partition: str) -> bool:
    return partition.startswith(_CLAIMED)


def job_index_key(of: BackgroundJob) -> Key:
    return Key(_ERRAND, due_sort_key(of.at, of.task_id))


# Sorts before every moment, also before moments that an older version wrote with a sign.
EARLIEST = "!"


def wake_until(now: datetime) -> str:
    """Returns a sort key after every entry that is due at ``now`` and before every later one."""
    return _moment(now) + "#" + _END


def outbox_index_key(task_id: str, due_at: datetime) -> Key:
    return Key(OUTBOX, due_sort_key(due_at, task_id))


def parse_task(partition: str) -> tuple[str, str]:
    """Returns workspace and task id from the partition of a HEAD or of a trail, as an index shows it."""
    _, workspace, _, task_id = partition.split("#", 3)
    return workspace, task_id


def kind_of(partition: str) -> str:
    """Returns the entity of a workspace's partition: ``TASK``, ``NOTES`` …; empty for any other."""
    return partition.split("#", 3)[2] if partition.count("#") >= 2 else ""


def kind_of_item(pk: str, sk: str) -> str:
    """Returns an item's entity and part: ``TASK/HEAD``, ``TRAIL/EVENTS``; the entity alone where the sort key is an id
    or a slug."""
    part = "".join(takewhile(lambda char: char.isupper() or char == "-", sk))
    entity = kind_of(pk) or pk.partition("#")[0]
    return f"{entity}/{part}" if part else entity


def parse_job(sort_key: str) -> JobKind | None:
    """Returns the background job that an index entry's sort key stands for; None for the task itself."""
    return _ERRANDS.get(sort_key)


def _moment(at: datetime) -> str:
    """Returns a text that sorts like the time. Times before 1970 count as 1970, as a sign would break the order."""
    return f"{max(0, times.to_ms(at)):015d}"
