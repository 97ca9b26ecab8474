"""Bugs of rules that need no race: what is promised of moments, of answers, of lists, and of what is told."""

from __future__ import annotations

from simulation.habits import Focus
from simulation.planted.bug import bug

CALM = {"fault_share": 0, "crash_share": 0}
MOMENTS = (
    bug(
        "work may be claimed while its approval may be undone",
        ("domain/tasks/transitions.py", "    ready_at = recorder.at + undo\n", "    ready_at = recorder.at\n"),
    ),
    bug(
        "work for later is offered at its approval",
        (
            "domain/tasks/transitions.py",
            "        ready_at = max(ready_at, recorder.task.not_before)\n",
            "        pass\n",
        ),
    ),
    bug(
        "a failed attempt is tried again at once",
        ("domain/tasks/transitions.py", "ready_at=at + backoff(task.attempt)", "ready_at=at"),
    ),
    bug(
        "a lease outlives the deadline on which its task fails",
        (
            "domain/tasks/transitions.py",
            "        expires_at = min(expires_at, task.hard_deadline)\n",
            "        pass\n",
        ),
        habits={"focus": Focus.WAITS},
    ),
    bug(
        "a heartbeat goes past the deadline on which its task fails",
        (
            "domain/tasks/task.py",
            "            expires_at = min(expires_at, not_after)\n",
            "            pass\n",
        ),
        habits={"focus": Focus.WAITS, "is_hot": False, "workers": ("a", "b", "c")},
        steps=100_000,
    ),
    bug(
        "a heartbeat for less time shortens the lease",
        ("domain/tasks/task.py", "        if expires_at < self.expires_at:\n", "        if False:\n"),
        ("adapters/dynamodb/claims/renewal.py", '"#claim.#expires <= :until AND ', '"'),
    ),
    bug(
        "every task whose deadline passes is failed",
        ("domain/tasks/sweep_rules.py", "    if task.fail_on_deadline:\n", "    if True:\n"),
    ),
    bug(
        "lost work goes back to its agent, whatever that wants",
        (
            "domain/tasks/sweep_rules.py",
            "gives_up = flag is not None or (command.agent is not None and command.agent.requeue != Requeue.SAME)",
            "gives_up = flag is not None",
        ),
    ),
    bug(
        "a takeover doesn't ask what the agent wants of lost work",
        (
            "steps/claims/take_task.py",
            "swept = transition(task, commands.Sweep(by=sweeper, agent=agent), now)",
            "swept = transition(task, commands.Sweep(by=sweeper, agent=None), now)",
        ),
    ),
    bug(
        "a claim leaves the flags of untaken work",
        (
            "domain/tasks/transitions.py",
            "        attempt=task.attempt + 1,\n        flags=task.flags - UNTAKEN_FLAGS,\n",
            "        attempt=task.attempt + 1,\n",
        ),
    ),
    bug(
        "urgent work isn't handed out first",
        (
            "adapters/dynamodb/keys.py",
            "return Key(queue, _queue_sort_key(of.priority, of.ready_at, of.id))",
            'return Key(queue, _queue_sort_key("P9", of.ready_at, of.id))',
        ),
        habits={"lag_ms": 0, "skew_ms": 0, "focus": Focus.MARKERS},
    ),
)
WORDS = (
    bug(
        "a recovery names another fence",
        ("domain/tasks/sweep_rules.py", "prior_fence=claim.fence,", "prior_fence=claim.fence + 1,"),
    ),
    bug(
        "a join doesn't tell why a branch has failed",
        ("services/claims/join_branches.py", '"failure": None if task.is_done else of.why', '"failure": None'),
        habits={"focus": Focus.BRANCHES},
    ),
    bug(
        "a quorum is met by one",
        ("domain/tasks/task.py", "self.quorum or 1)", "1)"),
        habits={"focus": Focus.BRANCHES},
    ),
    bug(
        "the repeat of an end lacks its output",
        ("steps/claims/end_claim.py", "            output=items.output,\n", "            output=None,\n"),
    ),
    bug(
        "the claim that follows has the default lease",
        (
            "services/claims/claim_following.py",
            "worker=claim.worker, lease_seconds=claim.lease_seconds)",
            "worker=claim.worker)",
        ),
    ),
    bug(
        "a completion leaves criteria out",
        ("domain/tasks/transitions.py", "    if unreported:\n", "    if False:\n"),
    ),
    bug(
        "what was seen isn't compared with what is approved",
        ("domain/tasks/transitions.py", "if was_seen is not None and was_seen != present:", "if False:"),
    ),
    bug(
        "who has no part in a conversation speaks in it",
        ("services/conversations/converse.py", "if heard(deps, by, found) != found.tasks:", "if False:"),
        habits={"focus": Focus.TALKS, "has_tracker": False},
        steps=100_000,
    ),
    bug(
        "whoever acts for an agent that is off is let",
        ("steps/agents/kill_switch.py", "(not found.active) if found is not None else is_off(", "False and is_off("),
        habits={"raised": ("off", "off")},
        steps=100_000,
    ),
    bug(
        "a run goes on for an agent that is off",
        ("steps/agents/kill_switch.py", "return found is not None and not found.active", "return False"),
        habits={"focus": Focus.RUNS, "raised": ("off", "off")},
    ),
)
ACCEPTED = (
    bug(
        "a callback that meets a conflict is accepted and lost",
        (
            "services/claims/wait_for_callback.py",
            "    retry_on_conflict(deps, attempt)\n",
            "    try:\n        attempt()\n    except errors.Conflict:\n        pass\n",
        ),
        habits={"focus": Focus.WAITS, "is_hot": True},
    ),
    bug(
        "a second, different answer is accepted and lost",
        ("services/claims/wait_for_callback.py", "        raise errors.CallbackUsed\n", "        pass\n"),
        habits={"focus": Focus.WAITS, "is_hot": True},
    ),
    bug(
        "an entry posted without a key isn't written",
        (
            "services/memory/post_entry.py",
            "        deps.store.commit(by.workspace, *saved, Insert(entry), ",
            "        saved and deps.store.commit(by.workspace, *saved, Insert(entry), ",
        ),
        habits={"focus": Focus.BOARD},
    ),
    bug(
        "an alert raised without a key isn't written",
        (
            "services/alerts/raise_alert.py",
            "        deps.store.commit(by.workspace, *saved, Add(",
            "        saved and deps.store.commit(by.workspace, *saved, Add(",
        ),
        habits={"focus": Focus.ALERTS},
    ),
    bug(
        "an alert that somebody is at is acknowledged and isn't",
        (
            "services/alerts/handle_alert.py",
            "        if writes:\n            deps.store.commit(by.workspace, *writes)\n",
            "        with suppress(errors.Conflict):\n            deps.store.commit(by.workspace, *writes)\n",
        ),
        (
            "services/alerts/handle_alert.py",
            "from datetime import datetime\n",
            "from contextlib import suppress\nfrom datetime import datetime\nfrom baton.domain import errors\n",
        ),
        habits={"focus": Focus.ALERTS, "raised": ("alert", "alert"), "has_tracker": False},
    ),
    bug(
        "what was acknowledged comes back",
        (
            "services/handoffs/read_inbox.py",
            "    left, pause = deps.store.acknowledge(workspace, slug, ids), FIRST_PAUSE_SECONDS\n",
            "    left, pause = deps.store.acknowledge(workspace, slug, ids[1:]), FIRST_PAUSE_SECONDS\n",
        ),
        habits={"has_readers": True},
    ),
    bug(
        "a key is good for another body",
        ("domain/idempotency.py", "if not hmac.compare_digest(saved_response.body_hash, self.body_hash):", "if False:"),
    ),
    bug(
        "a change's key is good for another body",
        (
            "steps/tasks/trail_answers.py",
            "if receipt.key_asked != receipts.asked(idempotency_key.body_hash, command_name):",
            "if False:",
        ),
    ),
    bug(
        "a key isn't its principal's own",
        (
            "domain/idempotency.py",
            "parts = [self.principal.workspace, self.principal.key, self.route, self.key]",
            "parts = [self.principal.workspace, self.route, self.key]",
        ),
    ),
)
LIMITS = (
    bug(
        "a budget's handoffs aren't counted by those who hand off at once",
        (
            "steps/handoffs/begin_handoff.py",
            "if settings.loop_guard else None, draft.budget.max_handoffs]",
            "if settings.loop_guard else None]",
        ),
        habits={"focus": Focus.ENDS, "is_hot": True},
        steps=100_000,
    ),
    bug(
        "a budget has room for one handoff more",
        (
            "domain/handoffs/loop_guard.py",
            "if most is not None and attempt.handoffs >= most:",
            "if most is not None and attempt.handoffs > most:",
        ),
        (
            "steps/handoffs/begin_handoff.py",
            "if settings.loop_guard else None, draft.budget.max_handoffs]",
            "if settings.loop_guard else None]",
        ),
        steps=200_000,
    ),
    bug(
        "a heartbeat decides by what it has read",
        ("adapters/dynamodb/claims/renewal.py", 'f"{CLAIM_IS_CURRENT} AND {VERSION_UNCHANGED}"', "CLAIM_IS_CURRENT"),
        ("adapters/dynamodb/claims/renewal.py", ', ":seen": task.version}', "}"),
        habits={"focus": Focus.WAITS, "is_hot": True, "slowness": 40},
        steps=200_000,
    ),
)
LISTS = (
    bug(
        "a process never reads the board again",
        (
            "adapters/lexical_search.py",
            "            self._look(now, self._looked_back, packs=may_go_on is None)\n",
            "            pass\n",
        ),
        habits={"focus": Focus.BOARD},
    ),
    bug(
        "a process passes over what came late",
        ("adapters/lexical_search.py", "        begin = looked_back - _LATE\n", "        begin = looked_back\n"),
        ("adapters/lexical_search.py", "_OVERLAP = seconds(2)", "_OVERLAP = seconds(0)"),
        habits={"focus": Focus.BOARD},
        steps=100_000,
    ),
)
IN_VIEW = {"has_readers": True, "is_told": True, "is_hot": False, "lag_ms": 2_000, "skew_ms": 1_000, "crowd": 3}
SIGHTS = (
    bug(
        "a change isn't counted, and a list is said to hold",
        ("adapters/dynamodb/events/watches.py", "SET #changed = :now ADD #changes :one", "SET #changed = :now"),
        (
            "adapters/dynamodb/events/watches.py",
            '{":now": times.to_ms(at), ":one": 1}',
            '{":now": times.to_ms(at)}',
        ),
        habits=IN_VIEW,
    ),
    bug(
        "a list from an index that lags is said to hold",
        ("domain/tasks/watch.py", "return self.holds(now) and now - latest >= SETTLED_AFTER", "return self.holds(now)"),
        habits=IN_VIEW,
    ),
    bug(
        "a conversation is listed for ever as it was first",
        (
            "adapters/dynamodb/conversations/conversation_reads.py",
            "is_whole and len(members) <= MAX_KEPT_TASKS and all(task.is_ended for task in talk.tasks.values())",
            "is_whole and len(members) <= MAX_KEPT_TASKS",
        ),
        habits={"focus": Focus.TALKS, "has_tracker": False},
    ),
    bug(
        "of two changes of the settings the later wins whole",
        (
            "services/access/change_settings.py",
            "    def attempt() -> Settings:\n        before = deps.store.settings(by.workspace)\n",
            (
                "    read = deps.store.settings(by.workspace)\n\n    def attempt() -> Settings:\n"
                "        before = read.changed(version=deps.store.settings(by.workspace).version)\n"
            ),
        ),
        habits={"has_stewards": True, "crowd": 3, "is_hot": True},
    ),
    bug(
        "nobody is told what has ended since a handoff",
        ("steps/memory/snapshots.py", "each in found and not found[each].is_active]", "each not in found]"),
        habits={"focus": Focus.BOARD},
    ),
)
SESSIONS = (
    bug(
        "a code opens a session after its minute",
        (
            "domain/access/session.py",
            "return self.session_id is None and now < self.expires_at",
            "return self.session_id is None",
        ),
        habits={"has_stewards": True, "is_hot": False, "skew_ms": 1_000},
        steps=100_000,
    ),
    bug(
        "a session is renewed beyond the end of its token",
        ("domain/access/session.py", "max(expires_at, min(wanted, ends_at))", "max(expires_at, wanted)"),
        habits={"has_stewards": True, "crowd": 3},
    ),
    bug(
        "a token is good after its end",
        (
            "domain/access/token.py",
            "return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)",
            "return self.revoked_at is None",
        ),
        habits={"has_stewards": True, "crowd": 3, "skew_ms": 1_000},
    ),
    bug(
        "a session that was revoked is renewed",
        (
            "adapters/dynamodb/access/sessions.py",
            "attribute_exists(#pk) AND attribute_not_exists(#revoked_at) AND #expires_at",
            "attribute_exists(#pk) AND #expires_at",
        ),
        (
            "adapters/dynamodb/access/sessions.py",
            'ExpressionAttributeNames={"#expires_at": "expires_at", "#revoked_at": "revoked_at", "#pk": "pk"}',
            'ExpressionAttributeNames={"#expires_at": "expires_at", "#pk": "pk"}',
        ),
        habits={"has_stewards": True, "crowd": 3},
        steps=250_000,
    ),
    bug(
        "two sessions that are opened at once share a place",
        (
            "adapters/dynamodb/access/sessions.py",
            'put_version(session_items.open_sessions_item(sessions), sessions.version, "sessions")',
            "put(session_items.open_sessions_item(sessions))",
        ),
        habits={"has_stewards": True, "crowd": 3},
    ),
)
DECIDED = (
    bug(
        "work is claimed that was approved before a service changed its agent",
        ("steps/claims/take_task.py", "if agent is not None and not task.is_approved_for(agent):", "if False:"),
        habits={"raised": ("agent", "agent")},
    ),
    bug(
        "an approval doesn't tell what it has seen of the agent",
        (
            "domain/tasks/transitions.py",
            "approved_as=_changed_as(agent),\n        rings=0,",
            "approved_as=0,\n        rings=0,",
        ),
        habits={"raised": ("agent", "agent")},
    ),
    bug(
        "what was read is approved for an agent that a service has changed since",
        ("domain/tasks/transitions.py", "if not agent.service_version <= known <= agent.version:", "if False:"),
        habits={"raised": ("agent", "agent", "approve", "approve")},
    ),
    bug(
        "what a retry has overtaken waits on",
        (
            "steps/tasks/overtaken.py",
            "return closed + (_earlier_rollbacks(deps, change) if task.retry_of is not None else [])",
            "return closed",
        ),
        habits={"focus": Focus.RETRIES, "raised": ("roll back", "roll back")},
    ),
    bug(
        "a retry that is rolled back itself leaves the rollback before it",
        (
            "steps/tasks/overtaken.py",
            'by = task.id if task.is_done else back.get("task_id") or back.get("review_id")',
            "by = task.id if task.is_done else None",
        ),
        habits={"focus": Focus.RETRIES, "raised": ("roll back", "roll back")},
    ),
)
BROKEN_RULES = (*DECIDED, *MOMENTS, *WORDS, *ACCEPTED, *LIMITS, *LISTS, *SIGHTS, *SESSIONS)
