"""Bugs of rules that need no race: what is promised of moments, of answers, of lists, and of what is told."""

from __future__ import annotations

from simulation.habits import Focus
from simulation.planted import operators as do
from simulation.planted.bug import bug

_WAITS = {"focus": Focus.WAITS}
_HOT_WAITS = {**_WAITS, "is_hot": True}
_ALERTS = {"focus": Focus.ALERTS}
_BRANCHES = {"focus": Focus.BRANCHES}
_ON_BOARD = {"focus": Focus.BOARD}
_TALKS = {"focus": Focus.TALKS, "has_tracker": False}
_AGENTS = {"raised": ("agent", "agent")}
_ROLLBACKS = {"focus": Focus.RETRIES, "raised": ("roll back", "roll back")}
_STEWARDS = {"has_stewards": True, "crowd": 3}
_IN_VIEW = {"has_readers": True, "is_told": True, "is_hot": False, "lag_ms": 2_000, "skew_ms": 1_000, "crowd": 3}
MOMENTS = (
    bug("work may be claimed while its approval may be undone",
        do.value("transitions:_delegate", "recorder.at", "ready_at", "at")),
    bug("work for later is offered at its approval", do.drop_statement("transitions:_delegate", "not_before")),
    bug("a failed attempt is tried again at once", do.drop_operand("transitions:_fail", "backoff")),
    bug("a lease outlives the deadline on which its task fails",
        do.drop_statement("transitions:_new_claim", "min", "hard_deadline"), habits=_WAITS),
    bug("a heartbeat goes past the deadline on which its task fails",
        do.drop_statement("task:Claim.renewed", "min"), habits={**_WAITS, "is_hot": False, "workers": ("a", "b", "c")},
        steps=100_000),
    bug("a heartbeat for less time shortens the lease",
        do.never("task:Claim.renewed", "self", "expires_at"), do.drop_clause("renewal:EXTENDS_TO", "#expires")),
    bug("every task whose deadline passes is failed", do.always("sweep_rules:_deadline_passed", "fail_on_deadline")),
    bug("lost work goes back to its agent, whatever that wants",
        do.operand("sweep_rules:_sweep_claimed", "False", "requeue")),
    bug("a takeover doesn't ask what the agent wants of lost work",
        do.argument("take_task:_read", "Sweep", "agent", "None")),
    bug("a claim leaves the flags of untaken work", do.drop_argument("transitions:_claim", "record", "flags")),
    bug("urgent work isn't handed out first",
        do.argument("dynamodb/keys:queue_index_key", "_queue_sort_key", 0, "'P9'", "ready_at"),
        habits={"lag_ms": 0, "skew_ms": 0, "focus": Focus.MARKERS}),
)  # fmt: skip
WORDS = (
    bug("a recovery names another fence",
        do.argument("sweep_rules:_sweep_claimed", "Recovery", "prior_fence", "it + 1")),
    bug("a join doesn't tell why a branch has failed",
        do.item("join_branches:_result", "None", "failure"), habits=_BRANCHES),
    bug("a quorum is met by one", do.drop_operand("task:Wait.is_met", "quorum"), habits=_BRANCHES),
    bug("the repeat of an end lacks its output", do.argument("end_claim:_replayed", "TaskDetails", "output", "None")),
    bug("the claim that follows has the default lease",
        do.drop_argument("claim_following:_claimer", "Claimer", "lease_seconds", "1 of 2")),
    bug("a completion leaves criteria out", do.never("transitions:_complete", "CriteriaUnreported"), steps=200_000),
    bug("what was seen isn't compared with what is approved", do.never("transitions:_as_seen", "RevisionChanged")),
    bug("who has no part in a conversation speaks in it",
        do.never("converse:say", "heard"), habits=_TALKS, steps=100_000),
    bug("whoever acts for an agent that is off is let",
        do.never("kill_switch:must_be_let_act", "is_off"), habits={"raised": ("off", "off")}, steps=100_000),
    bug("a run goes on for an agent that is off",
        do.value("kill_switch:is_off", "False", "active"), habits={"focus": Focus.RUNS, "raised": ("off", "off")}),
)  # fmt: skip
ACCEPTED = (
    bug("a callback that meets a conflict is accepted and lost",
        do.statement("wait_for_callback:answer_callback",
            "try:\n    attempt()\nexcept errors.Conflict:\n    pass", "retry_on_conflict"),
        habits=_HOT_WAITS),
    bug("a second, different answer is accepted and lost",
        do.drop_statement("wait_for_callback:_must_be_a_repeat", "CallbackUsed"), habits=_HOT_WAITS),
    bug("an entry posted without a key isn't written",
        do.call("post_entry:post_entry", "commit", "saved and it"), habits=_ON_BOARD),
    bug("an alert raised without a key isn't written",
        do.call("raise_alert:raise_alert", "commit", "saved and it"), habits=_ALERTS),
    bug("an alert that somebody is at is acknowledged and isn't",
        do.statement("handle_alert:_changed",
            "from baton.domain import errors\ntry:\n    it\nexcept errors.Conflict:\n    pass", "commit"),
        habits={**_ALERTS, "raised": ("alert", "alert"), "has_tracker": False}),
    bug("what was acknowledged comes back",
        do.argument("read_inbox:_remove", "acknowledge", 2, "it[1:]", "1 of 2"), habits={"has_readers": True}),
    bug("a key is good for another body", do.never("domain/idempotency:IdempotencyKey.replay", "compare_digest")),
    bug("a change's key is good for another body", do.never("trail_answers:first_receipt", "key_asked")),
    bug("a key isn't its principal's own",
        do.drop_item("domain/idempotency:IdempotencyKey.digest", "principal", "key")),
)  # fmt: skip
_NO_COUNT = do.drop_item("begin_handoff:_handoffs_counted", "max_handoffs")
LIMITS = (
    bug("a budget's handoffs aren't counted by those who hand off at once",
        _NO_COUNT, habits={"focus": Focus.ENDS, "is_hot": True}, steps=200_000),
    bug("a budget has room for one handoff more",
        do.compare("loop_guard:check", ">", "handoffs"), _NO_COUNT, steps=200_000),
    bug("a heartbeat decides by what it has read",
        do.argument("renewal:renew", "update", 2, "CLAIM_IS_CURRENT", "VERSION_UNCHANGED"),
        do.drop_item("renewal:renew", ":seen"), habits={**_HOT_WAITS, "slowness": 40}, steps=200_000),
)  # fmt: skip
LISTS = (
    bug("a process never reads the board again",
        do.drop_statement("lexical_search:_Board.refresh", "_look"), habits=_ON_BOARD),
    bug("a process passes over what came late",
        do.drop_operand("lexical_search:_Board._look", "_LATE", "1 of 2"),
        do.argument("lexical_search:_OVERLAP", "seconds", 0, "0"), habits=_ON_BOARD, steps=100_000),
)  # fmt: skip
SIGHTS = (
    bug("a change isn't counted, and a list is said to hold",
        do.text("dynamodb/events/watches:Watches.note_change", " ADD #changes :one", ""),
        do.drop_item("dynamodb/events/watches:Watches.note_change", ":one"), habits=_IN_VIEW),
    bug("a list from an index that lags is said to hold",
        do.drop_operand("watch:Watch.is_settled", "SETTLED_AFTER"), habits=_IN_VIEW, steps=500_000),
    bug("a conversation is listed for ever as it was first",
        do.drop_operand("conversation_reads:_is_over", "all"), habits=_TALKS),
    bug("of two changes of the settings the later wins whole",
        do.value("change_settings:change_settings.attempt", "read.changed(version=it.version)", "settings"),
        do.statement("change_settings:change_settings",
            "it\nread = deps.store.settings.of(by.workspace)", "must_have"),
        habits={**_STEWARDS, "is_hot": True}),
    bug("nobody is told what has ended since a handoff",
        do.condition("snapshots:_over", "each not in found", "is_active"), habits=_ON_BOARD),
)  # fmt: skip
SESSIONS = (
    bug("a code opens a session after its minute",
        do.drop_operand("session:SessionCode.is_good", "expires_at"),
        habits={"has_stewards": True, "is_hot": False, "skew_ms": 1_000}, steps=300_000),
    bug("a session is renewed beyond the end of its token",
        do.keep_argument("session:renewed", "min", 0), habits=_STEWARDS),
    bug("a token is good after its end",
        do.operand("token:Token.is_active", "True", "now"), habits={**_STEWARDS, "skew_ms": 1_000}),
    bug("a session that was revoked is renewed",
        do.drop_clause("sessions:NOT_REVOKED_AND_SOONER", "#revoked_at"), habits=_STEWARDS, steps=250_000),
    bug("two sessions that are opened at once share a place",
        do.call("sessions:Sessions.add_session", "put_version",
            "put(session_items.open_sessions_item(sessions))"),
        habits=_STEWARDS),
)  # fmt: skip
DECIDED = (
    bug("work is claimed that was approved before a service changed its agent",
        do.never("take_task:_read", "is_approved_for"), habits=_AGENTS),
    bug("an approval doesn't tell what it has seen of the agent",
        do.argument("transitions:_delegate", "_approved_as", 1, "0"), habits=_AGENTS),
    bug("what was read is approved for an agent that a service has changed since",
        do.never("transitions:agent_as_seen", "service_version", "version"),
        habits={"raised": ("agent", "agent", "approve", "approve")}, steps=200_000),
    bug("what a retry has overtaken waits on",
        do.drop_operand("overtaken:overtaken", "_earlier_rollbacks"), habits=_ROLLBACKS),
    bug("a retry that is rolled back itself leaves the rollback before it",
        do.value("overtaken:_earlier_rollbacks", "task.id if task.is_done else None", "review_id"), habits=_ROLLBACKS),
)  # fmt: skip
BROKEN_RULES = (*DECIDED, *MOMENTS, *WORDS, *ACCEPTED, *LIMITS, *LISTS, *SIGHTS, *SESSIONS)
