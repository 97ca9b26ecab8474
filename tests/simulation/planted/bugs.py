"""The bugs: each is one thing that somebody could get wrong, in a place that looks harmless."""

from __future__ import annotations

from simulation.habits import Focus, NoticeFate
from simulation.planted import operators as do
from simulation.planted.bug import bug
from simulation.planted.product_rules import BROKEN_RULES

_CALM = {"fault_share": 0, "crash_share": 0}
_ENDS = {"focus": Focus.ENDS}
_RUNS = {"focus": Focus.RUNS}
_STEWARDS = {"has_stewards": True}
_DOUBLED = {"doubled_share": 0.8}
_DOUBLED_ENDS = {**_DOUBLED, **_ENDS}
_ON_BOARD = {"focus": Focus.BOARD}
_IN_NOTION = {"has_tracker": True, "skew_ms": 5_000, "stall_ms": 5_000}
# Whoever ends a task often dies between its output and HEAD, and somebody else has the time to end it in another way.
_LOST_ENDS = {**_ENDS, "is_hot": False, "crash_share": 0.03, "fault_share": 0.08}
_AT_ONCE = {**_CALM, "is_hot": True, "slowness": 1, "has_tracker": False, "steps": 2_000}

_SWEEPS_LIVE_CLAIMS = (
    do.never("sweep_rules:sweep", "is_early"),
    do.drop_operand("sweep_rules:_sweep_claimed", "is_over"),
)
CLAIMS = (
    bug("HEAD's version isn't compared", do.text("puts:VERSION_UNCHANGED", "=", ">=")),
    bug("a claim doesn't raise the fence", do.argument("transitions:_new_claim", "Claim", "fence", "max(it - 1, 1)")),
    bug("a claimed task isn't marked in its queue", do.never("dynamodb/keys:queue_index_key", "claim")),
    bug("a mark stands in the target's queue, not in the holder's",
        do.argument("dynamodb/keys:queue_index_key", "ready_queue", 1, "of.target_agent or 'nobody'", "claim")),
    bug("a change leaves the sweeper's entry where it is, however late that is",
        do.value("wake:_stays", "True", "wake_at")),
    bug("the early look at ready work is after what is due", do.keep_argument("wake:wake_entry", "min", 0)),
    bug("a sweep ends live claims", *_SWEEPS_LIVE_CLAIMS),
    bug("a heartbeat keeps the version",
        do.text("renewal:_BEAT", ", #version = #version + :one", ""), do.drop_item("renewal:renew", ":one", "2 of 2"),
        do.drop_item("renewal:renew", ":one")),
    bug("a repeat claims one more task",
        do.drop_argument("claim_following:claim_following", "claim_if_any", 2), steps=200_000),
    bug("one attempt too many", do.compare("sweep_rules:_used_up", ">", "max_attempts")),
    bug("a claim is resumed whichever was seen", do.never("transitions:_claim_seen", "ClaimChanged"), steps=200_000),
    bug("a claim that nobody took up is an attempt", do.never("sweep_rules:_counts_after", "is_unconfirmed")),
    bug("fenced by owner, not by claim", do.drop_operand("task:Task.current_claim", "claim_id")),
    bug("fenced by claim, not by owner", do.drop_operand("task:Task.current_claim", "principal")),
    bug("a permit may be taken twice", do.drop_operand("change_writes:_slot_writes", "SLOT_IS_FREE")),
    bug("a claim that is over keeps its slot", do.drop_statement("change_writes:_slot_writes", "free_slot_item")),
    bug("a claimer takes a task whose lease was extended",
        do.drop_operand("task:Task.is_lapsed", "is_over"), *_SWEEPS_LIVE_CLAIMS,
        do.statement("sweep:_sweep_task",
            "if task.claim and not task.claim.is_over(now):\n    return\nit", "_measure")),
    bug("a claimer takes another agent's task whose lease is over",
        do.drop_operand("task:Task.is_lapsed", "agent"), habits={**_CALM, "focus": Focus.WAITS, "is_hot": False},
        steps=200_000),
    bug("a takeover leaves no recovery record", do.drop_operand("change:Change.followed_by", "self", "recovery")),
    bug("a takeover counts no attempt",
        do.operand("take_task:_Candidate.task", "it.changed(attempt=max(0, it.attempt - 1))", "swept")),
    bug("a takeover keeps the fence",
        do.argument("change:Change.followed_by", "replace", "task", "it.changed(fence=self.task.fence)")),
    bug("a takeover's events are the claim's alone", do.drop_item("change:Change.followed_by", "self", "events")),
    bug("a claim that was taken over isn't kept for what comes too late",
        do.drop_operand("change:Change.ended_claim", "claim_id")),
    bug("who ends another's claim passes for its holder", do.drop_item("tail:ended_part", "ended_by")),
    bug("a claim that was taken over gets the fence of the one after it",
        do.drop_item("tail:ended_part", "ended_fence")),
    bug("open work's ended claim is anybody's", do.drop_item("tail:ended_part", "ended_agent")),
    bug("a takeover forgets the slot of the lost claim",
        do.operand("change_writes:_slot_writes", "taken is None", "freed", "taken"),
        do.never("take_task:_slot", "slot"), steps=200_000),
    bug("what a sweep leaves to nobody isn't swept", do.drop_statement("take_task:take_task", "commit", "swept")),
    bug("a mark is moved too far",
        do.argument("marks:move_mark", "claim_mark", 1, "claim.renewed(it, None, None).expires_at")),
    bug("a lost heartbeat leaves no recovery record",
        do.drop_statement("sweep_rules:_sweep_claimed", "extras", "recovery")),
    bug("a task is claimed before it is due",
        do.argument("transitions:_claim", "must_be_claimable", 0, "it + times.seconds(60)")),
    bug("a claim may be made for another's task", do.never("transitions:_claim", "target_agent", "1 of 2")),
    bug("a lost notice is sent no more", do.value("wake:_of_state", "alert", "alert", "min")),
)  # fmt: skip
CALLERS = (
    bug("a known token is believed",
        do.always("access/tokens:Tokens.present_token", "2 of 3"), habits=_STEWARDS),
    bug("nobody judges the token that was read", do.drop_operand("authenticate:admit", "admits"), habits=_STEWARDS),
    bug("a revocation raises no version",
        do.drop_item("tokens:Tokens.save_revocation", "config_raises"), habits=_STEWARDS),
    bug("a token is judged by the version of an earlier request",
        do.statement("workspace_configs:WorkspaceConfigs.at_one_version",
            "self._at = self._at or {}\nconfigs._at = self._at", "_at"),
        habits=_STEWARDS),
    bug("a session goes on without its token", do.always("token:Token.under", "revoked_at"), habits=_STEWARDS,
        steps=200_000),
    bug("a code opens two sessions",
        do.drop_operand("session:SessionCode.is_good", "session_id"),
        do.drop_clause("sessions:NOT_USED", "#session_id"), habits=_STEWARDS),
)  # fmt: skip
REPEATS = (
    bug("the commit proof isn't looked at",
        do.call("table:Table._is_ours", "get", "None", "commit_proof"),
        habits={"fault_share": 0.1, "knows_tokens": False}),
    bug("any witness is ours", do.drop_operand("table:Table._is_ours", "written_by")),
    bug("an unclear attempt isn't barred",
        do.never("table:Table.write", "_was_applied"),
        habits={"focus": Focus.ALERTS, "fault_share": 0.1, "knows_tokens": False, "has_tracker": False}),
    bug("a token of its own for each attempt",
        do.call("table:Table.write", "partial", "lambda: it(ClientRequestToken=uuid4().hex)",
            "transact_write_items"),
        habits={**_RUNS, "fault_share": 0.15, "knows_tokens": True},
        harmless="each transaction has an item whose condition fails once it was applied, but a revocation's, and "
            "that sets the same again; in every fourth seed the table knows no tokens at all"),
    bug("a batch read forgets what wasn't processed", do.value("table:Table.get_many", "{}", "UnprocessedKeys")),
    bug("a partition is read to its first page only", do.always("table:Table._answers", "LastEvaluatedKey")),
    bug("a key is remembered after the effect",
        do.statement("save_checkpoint:save_checkpoint",
            "commit(deps, change, Put(checkpoint))\n"
            "if idempotency_key:\n"
            "    deps.store.commit(by.workspace, *idempotency.save_response(idempotency_key, answer))",
            "save_response")),
    bug("a key may be taken twice",
        do.call("idempotency_writes:response_put", "put",
            "put(item, fitness=Fitness.LASTING, bar=Exclusive())", "1 of 2"),
        do.text("idempotency_writes:NOT_THERE_OR_OVER", "#ttl <=", "#ttl > :now OR #ttl <="), habits=_DOUBLED),
    bug("a handoff's key isn't remembered", do.value("create_handoff:_hand_off", "()", "save_response")),
    bug("the last word of a claim isn't kept", do.argument("end_claim:_asked_for", "AskedRequest", "digest", "''")),
    bug("a change under a key keeps no receipt",
        do.call("change_task:change_task", "asked_under", "None"), habits=_DOUBLED),
    bug("another word under a claim that is over gets the first one's answer",
        do.drop_operand("end_claim:_replay_or_stale", "asked")),
    bug("a repeat is answered with the task as it is now",
        do.always("trail_answers:task_after", "seq", "1 of 2"), habits=_DOUBLED_ENDS),
    bug("a repeat is answered in the version of its last event alone",
        do.drop_argument("trail_answers:task_after", "changed", "version", "1 of 2"),
        do.argument("trail_answers:task_after", "changed", "version", "receipt.seq", "mirrored"), habits=_DOUBLED_ENDS),
    # A tail of any length moves into a chunk then, which breaks no rule: two chunks after a receipt are rare otherwise.
    bug("receipts are looked for in the latest chunk alone",
        do.always("dynamodb/tasks/trail:TrailReads.receipt", "is_before"), do.value("tail:MAX_TAIL_BYTES", "1"),
        habits=_DOUBLED_ENDS),
    bug("receipts are looked for in HEAD alone",
        do.always("dynamodb/tasks/trail:TrailReads.receipt", "has_chunks"), habits=_DOUBLED_ENDS),
    bug("a task forgets that it has chunks",
        do.drop_operand("trail_items:appended", "has_chunks"), habits=_DOUBLED_ENDS, steps=200_000),
    bug("another's key is told before a used one",
        do.call("table:_refusal", "min", "refused[0]"), steps=30_000,
        harmless="whatever is tried after another refusal carries the same key, and is refused by it or reads the "
            "first answer before it decides; and whoever gives up looks for that answer first"),
)  # fmt: skip
DIRECTIONS = (
    bug("the cap lets one more through", do.compare("direction:Direction.decide", ">", "escalation_cap")),
    bug("a direction's version isn't compared",
        do.value("marker_writes:_next_version",
            "'attribute_not_exists(#version) OR #version >= :zero'", "VERSION_UNCHANGED"),
        do.value("marker_writes:_next_version", "{':zero': 0}", ":seen")),
    bug("nobody looks whether a direction's tasks have ended", do.always("look_at_ends:with_ends", "in_question")),
    bug("a task at work counts as ended in its direction",
        do.condition("look_at_ends:with_ends", "it or task.fence", "is_ended")),
    bug("a direction remembers its open tasks as ended",
        do.always("marker_writes:_next_version", "closed"), steps=200_000),
)  # fmt: skip
OUTPUTS = (
    bug("all large outputs of a task have one place",
        do.argument("output_items:output_parts", "output", 2, "'0'"), habits=_LOST_ENDS, steps=200_000),
    bug("an output's place follows from the fence, not from its content",
        do.argument("output_items:output_parts", "output", 2, "str(task.fence)"), habits=_LOST_ENDS, steps=200_000),
    bug("a large output is put after HEAD, if at all",
        do.drop_statement("change_writes:change_writes", "put_first", "1 of 3")),
    bug("a small output isn't put with HEAD", do.drop_item("change_writes:change_writes", "in_head", "2 of 2")),
    bug("outputs are read as they were found, though HEAD names one",
        do.value("task_reads:_may_be_older", "False", "named", "None"), steps=100_000),
)  # fmt: skip
INBOXES = (
    bug("an end is in no inbox", do.never("change_task:_with_required_writes", "is_slug")),
    bug("an acknowledged item comes back while the index lags",
        do.condition("inboxes:Inboxes._ended", "head", "queue_pk"),
        habits={**_ENDS, "has_readers": True, "lag_ms": 600_000}),
    bug("an acknowledgement takes along what lies between",
        do.always("inboxes:Inboxes.acknowledge", "_take_out"),
        habits={**_AT_ONCE, **_ENDS, "has_readers": True, "workers": ("a",)}),
    bug("a page of an inbox goes on behind its neighbour",
        do.argument("inboxes:Inboxes.inbox", "Page", 0, "it[:-1]"), steps=200_000),
)  # fmt: skip
FAMILIES = (
    bug("a join is one branch short",
        do.condition("task:Wait.is_met", "ended >= max(1, len(self.branches) - 1)", "branches")),
    bug("no errand for the join", do.never("change_task:_end_writes", "has_branch_ended")),
    bug("a join's errand is read after its branches",
        do.later("join_branches:join_branches", "job", "JOIN"), habits={"focus": Focus.BRANCHES}),
    bug("a new errand is taken for the old",
        do.text("dynamodb/store:STILL_THE_SAME", "= :stamp", "= :stamp OR #stamp <> :stamp"),
        habits={**_AT_ONCE, "focus": Focus.BRANCHES, "notices": NoticeFate.KEPT, "lag_ms": 0, "doubled_share": 0},
        steps=300_000),
    bug("a cascade looks once",
        do.condition("cancel_descendants:cancel_descendants", "not found or below", "found", "below")),
    bug("a cancel has no cascade", do.never("change_task:_end_writes", "CANCELLED")),
    bug("children without a live claim", do.value("create_handoff:_under", "[]", "Require"), habits=_ENDS),
    bug("a callback answers another wait",
        do.drop_operand("wait_for_callback:answer_callback", "number"),
        do.drop_operand("transitions:_resume", "number")),
    bug("a callback is given up too early",
        do.drop_operand("sweep_rules:_sweep_waiting", "until", "at"), habits={"focus": Focus.WAITS, "is_hot": False}),
    bug("two retries at once",
        do.text("dynamodb/writes:IS_AS_READ", "= :seen", "= :seen OR #{0} <> :seen"),
        do.call("dynamodb/writes:_replaced", "put", "put(item, fitness=stored.fitness)", "1 of 2"),
        habits={"focus": Focus.RETRIES}),
    bug("a retry isn't looked for", do.never("retry_handoff:_latest", "is_ended")),
    bug("a workflow's first handoff isn't counted", do.value("begin_handoff:_ROOT_ALONE", "0")),
)  # fmt: skip
RUNS = (
    bug("a budget of calls is only read",
        do.never("run_writes:_limit_conditions", "calls", "None"),
        do.item("run_writes:_limit_values", "None", ":most_calls"), habits=_RUNS, steps=400_000),
    # A run looks at its claim before each entry. What keeps it out in the moment after that is found without the look.
    bug("a run adds to a transcript that a later one has taken",
        do.drop_statement("transcript_writer:TranscriptWriter._keep", "current_claim"),
        do.text("run_writes:PLACE_IS_FREE_OR_OURS", "=", ">="), habits=_RUNS, steps=400_000),
    bug("a run takes the transcript back from a later one",
        do.condition("dynamodb/runs/runs:Runs.take_transcript", "not fence", "any"), habits=_RUNS,
        harmless="its seal is refused; a first run, which seals nothing, can't count any more once a later one has "
            "begun"),
    bug("a step of a run counts again when it arrives again",
        do.text("run_writes:ACCOUNT_IS_AS_READ", "#step =", "#step >="), habits={**_RUNS, "fault_share": 0.1},
        steps=200_000),
    bug("the first step of a run counts again when it arrives again",
        do.drop_clause("run_writes:HAS_NO_ACCOUNT", "#accounts"), do.text("run_writes:HAS_NO_ACCOUNT", "=", ">="),
        habits={**_RUNS, "fault_share": 0.1}, steps=400_000),
    bug("an account moves away without a copy",
        do.condition("dynamodb/runs/runs:Runs.count", "it and not workflow.moved", "to_move"), habits=_RUNS,
        steps=200_000),
    bug("a reply that came when a later run has counted isn't counted",
        do.drop_statement("run_account:RunAccount.count_reply", "_count_late"),
        habits={**_RUNS, "is_hot": True, "skew_ms": 300_000, "stall_ms": 200_000, "fault_share": 0.08}, steps=400_000),
    bug("an event is marked before the bus has it",
        do.argument("publish_events:_told", "takewhile", 0, "lambda each: True")),
)  # fmt: skip
TRAILS = (
    bug("a change forgets the events before it", do.drop_operand("trail_items:appended", "tail", "2 of 2")),
    bug("events leave HEAD without a copy", do.never("change_writes:change_writes", "has_moved")),
    bug("a chunk takes the place of the one before", do.argument("trail_items:chunk_item", "chunk", 2, "1")),
    bug("HEAD goes first, its copy after", do.drop_statement("table:Table.write", "_together")),
    bug("a task is told of before it is there",
        do.argument("event_outbox:EventOutbox._waiting", "_pending", 2,
            "it or {**found[first], 'sk': keys.HEAD, 'seq': len(found[first]['events'])}")),
    bug("a task that may still come is given up", do.argument("bus_events:GIVEN_UP_AFTER", "seconds", 0, "0")),
    bug("what never came to be stays in the outbox",
        do.drop_statement("publish_events:_settle_absent", "leave_outbox")),
    bug("a put that was heard of late is anybody's",
        do.value("table:Table._is_ours", "int(item['seq']) >= event.seq", "_writer_of")),
    bug("the publisher passes over what the bus refused",
        do.text("event_outbox:FOLLOWS_WHAT_WAS_TOLD", "#told >=", ":before >=")),
    bug("a task leaves the outbox with its first event", do.always("event_outbox:EventOutbox.mark_told", "is_over")),
    bug("a task that begins isn't in the outbox",
        do.drop_item("trail_items:beginning_item", "wake_pk"), do.drop_item("trail_items:beginning_item", "wake_sk")),
)  # fmt: skip
MEMBERS = (
    bug("a root is taken for the one that its workflow's id tells",
        do.call("change_writes:_member", "begins_its_workflow", "task.is_root")),
    bug("a workflow's root is forgotten", do.never("workflows:Workflows.members", "_table")),
)  # fmt: skip
ENTRIES = (
    bug("a decision is replaced twice", do.drop_operand("entry:Entry.replaced_by", "STANDING"), habits=_ON_BOARD),
    bug("what was replaced stays in the views of its scope",
        do.drop_operand("entry_items:_place", "is_active"), habits=_ON_BOARD),
    bug("an agent replaces what a human decided",
        do.drop_statement("entry:Entry.replaced_by", "must_be_human"), habits=_ON_BOARD),
    bug("the words of what is deleted stay in a pack",
        do.drop_operand("end_entry:delete_entry", "forgetting"), habits=_ON_BOARD, steps=200_000),
    bug("who begins with packs hears of no change since",
        do.never("lexical_search:_Board._begin", "contents"), habits=_ON_BOARD),
)  # fmt: skip
SHARDS = (
    bug("readers look at no more shards than are written", do.keep_argument("shards:Spread.looked_at", "max", 0)),
    bug("every entry goes to one shard more than readers look at",
        do.operand("shards:Shards.shard_of", "it + (it > 1)", "written")),
    bug("an event is recognised in the outbox by another place than its own",
        do.text("event_outbox:STILL_WAITING", "begins_with(#wake_pk, :outbox)", "#wake_pk = :outbox"), steps=200_000),
)  # fmt: skip
PAGES = (
    bug("a page is looked for only if a notice tells of it",
        do.drop_operand("sync_tracker:sync_tracker", "_overtaken"), habits=_IN_NOTION),
    bug("a page whose sender died stays with it",
        do.drop_operand("page_sync:PageSync.is_due", "sender"), habits={**_IN_NOTION, "crash_share": 0.03}),
    bug("a page isn't behind when its task has changed",
        do.value("page_sync:PageSync.is_overtaken", "self.wanted == 0", "wanted"), habits=_IN_NOTION),
    bug("a page is looked at no more once it was sent",
        do.argument("page_sync:PageSync.sent", "replace", "look_at", "None"), habits=_IN_NOTION),
    bug("a page is looked at for ever",
        do.argument("page_sync:PageSync.sent", "replace", "look_at", "self.look_at"), habits=_IN_NOTION),
    bug("a page at rest leaves the list",
        do.argument("page_sync:PageSync.rested", "replace", "look_at", "None"), habits=_IN_NOTION),
)  # fmt: skip
BUGS = (
    *(*CLAIMS, *CALLERS, *REPEATS, *DIRECTIONS, *OUTPUTS, *INBOXES, *FAMILIES, *RUNS, *TRAILS),
    *(*MEMBERS, *ENTRIES, *SHARDS, *PAGES, *BROKEN_RULES),
)
