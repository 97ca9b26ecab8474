"""The bugs: each is one thing that somebody could get wrong, in a place that looks harmless."""

from __future__ import annotations

from simulation.habits import Focus, NoticeFate
from simulation.planted.bug import Bug, bug
from simulation.planted.product_rules import BROKEN_RULES

__all__ = ["BUGS", "Bug"]

CLAIMS = (
    bug(
        "HEAD's version isn't compared",
        (
            "adapters/dynamodb/puts.py",
            'VERSION_UNCHANGED = "#version = :seen"',
            'VERSION_UNCHANGED = "#version >= :seen"',
        ),
    ),
    bug(
        "a claim doesn't raise the fence",
        ("domain/tasks/transitions.py", "fence=task.fence + 1", "fence=max(task.fence, 1)"),
    ),
    bug(
        "a claimed task isn't marked in its queue",
        ("adapters/dynamodb/keys.py", "    if of.claim is not None:\n", "    if False:\n"),
    ),
    bug(
        "a mark stands in the target's queue, not in the holder's",
        (
            "adapters/dynamodb/keys.py",
            "ready_queue(of.workspace, of.claim.agent)",
            "ready_queue(of.workspace, of.target_agent or 'nobody')",
        ),
    ),
    bug(
        "a change leaves the sweeper's entry where it is, however late that is",
        ("domain/tasks/wake.py", "return before.wake_at <= due_at - margin", "return True"),
    ),
    bug(
        "the early look at ready work is after what is due",
        ("domain/tasks/wake.py", "return min(early, due_at), True", "return early, True"),
    ),
    bug(
        "a sweep ends live claims",
        ("domain/tasks/sweep_rules.py", "    if is_early(task, at):\n", "    if False:\n"),
        ("domain/tasks/sweep_rules.py", "if claim is None or not claim.is_over(recorder.at):", "if claim is None:"),
    ),
    bug(
        "a heartbeat keeps the version",
        ("adapters/dynamodb/claims/renewal.py", ", #version = #version + :one", ""),
        ("adapters/dynamodb/claims/renewal.py", '":now": now_ms, ":one": 1}\n    if', '":now": now_ms}\n    if'),
        ("adapters/dynamodb/claims/renewal.py", '":now": now_ms, ":one": 1, ":seen"', '":now": now_ms, ":seen"'),
    ),
    bug(
        "a repeat claims one more task",
        (
            "services/claims/claim_following.py",
            "claim_if_any(deps, claimer, idempotency_key)",
            "claim_if_any(deps, claimer)",
        ),
        steps=200_000,
    ),
    bug(
        "one attempt too many",
        (
            "domain/tasks/sweep_rules.py",
            "if task.attempt >= task.max_attempts else None",
            "if task.attempt > task.max_attempts else None",
        ),
    ),
    bug(
        "a claim is resumed whichever was seen",
        ("domain/tasks/transitions.py", "    if task.claim.fence != fence:\n", "    if False:\n"),
        steps=200_000,
    ),
    bug(
        "a claim that nobody took up is an attempt",
        ("domain/tasks/sweep_rules.py", "+ 1} if claim.is_unconfirmed else {}", "+ 1} if False else {}"),
    ),
    bug(
        "fenced by owner, not by claim",
        ("domain/tasks/task.py", "claim.claim_id != claim_id or ", ""),
    ),
    bug(
        "fenced by claim, not by owner",
        (
            "domain/tasks/task.py",
            "claim.claim_id != claim_id or claim.principal != by.key",
            "claim.claim_id != claim_id",
        ),
    ),
    bug(
        "a permit may be taken twice",
        (
            "adapters/dynamodb/tasks/change_writes.py",
            "put(slot) if taken == freed else put(slot, SLOT_IS_FREE, errors.SlotTaken, free=True)",
            "put(slot)",
        ),
    ),
    bug(
        "a claim that is over keeps its slot",
        (
            "adapters/dynamodb/tasks/change_writes.py",
            "        writes.append(put(handoff_items.free_slot_item(freed)))\n    return writes",
            "        pass\n    return writes",
        ),
    ),
    bug(
        "a claimer takes a task whose lease was extended",
        ("domain/tasks/task.py", "self.claim.agent == agent and self.claim.is_over(now)", "self.claim.agent == agent"),
        ("domain/tasks/sweep_rules.py", "    if is_early(task, at):\n", "    if False:\n"),
        ("domain/tasks/sweep_rules.py", "if claim is None or not claim.is_over(recorder.at):", "if claim is None:"),
        (
            "services/tasks/sweep.py",
            "    _measure(look, task, now)\n",
            "    if task.claim and not task.claim.is_over(now):\n        return\n    _measure(look, task, now)\n",
        ),
    ),
    bug(
        "a claimer takes another agent's task whose lease is over",
        (
            "domain/tasks/task.py",
            "self.claim is not None and self.claim.agent == agent and",
            "self.claim is not None and",
        ),
        habits={"focus": Focus.WAITS, "is_hot": False, "fault_share": 0, "crash_share": 0},
        steps=200_000,
    ),
    bug(
        "a takeover leaves no recovery record",
        ("domain/tasks/change.py", "recovery=later.recovery or self.recovery,", "recovery=later.recovery,"),
    ),
    bug(
        "a takeover counts no attempt",
        (
            "steps/claims/take_task.py",
            "        return self.details.task if self.swept is None else self.swept.task\n",
            "        if self.swept is None:\n            return self.details.task\n"
            "        return self.swept.task.changed(attempt=max(0, self.swept.task.attempt - 1))\n",
        ),
    ),
    bug(
        "a takeover keeps the fence",
        (
            "domain/tasks/change.py",
            "task=later.task.changed(version=self.task.version),",
            "task=later.task.changed(version=self.task.version, fence=self.task.fence),",
        ),
    ),
    bug(
        "a takeover's events are the claim's alone",
        ("domain/tasks/change.py", "events=(*self.events, *later.events),", "events=later.events,"),
    ),
    bug(
        "a claim that was taken over isn't kept for what comes too late",
        (
            "domain/tasks/change.py",
            "if before is not None and (now is None or now.claim_id != before.claim_id)",
            "if before is not None and now is None",
        ),
    ),
    bug(
        "who ends another's claim passes for its holder",
        ("domain/tasks/tail.py", '**({} if by_holder else {"ended_by": claim.principal}),', ""),
    ),
    bug(
        "a claim that was taken over gets the fence of the one after it",
        ("domain/tasks/tail.py", '**({} if after.fence == claim.fence else {"ended_fence": claim.fence}),', ""),
    ),
    bug(
        "open work's ended claim is anybody's",
        ("domain/tasks/tail.py", '**({} if after.target_agent == claim.agent else {"ended_agent": claim.agent}),', ""),
    ),
    bug(
        "a takeover forgets the slot of the lost claim",
        (
            "adapters/dynamodb/tasks/change_writes.py",
            "if freed is not None and freed != taken:",
            "if freed is not None and taken is None:",
        ),
        (
            "steps/claims/take_task.py",
            "if lost is not None and lost.slot is not None and lost.slot < agent.max_concurrent:",
            "if lost is None:",
        ),
        ("steps/claims/take_task.py", "        return lost.slot\n", "        pass\n"),
        steps=200_000,
    ),
    bug(
        "what a sweep leaves to nobody isn't swept",
        (
            "steps/claims/take_task.py",
            "        if found.swept is not None:\n            commit(deps, found.swept)\n",
            "",
        ),
    ),
    bug(
        "a mark is moved too far",
        (
            "adapters/dynamodb/claims/marks.py",
            '":mark": keys.claim_mark(claim, claim.expires_at),',
            '":mark": keys.claim_mark(claim, claim.renewed(claim.expires_at, None, None).expires_at),',
        ),
    ),
    bug(
        "a lost heartbeat leaves no recovery record",
        ("domain/tasks/sweep_rules.py", '    recorder.extras["recovery"] = recovery\n', ""),
    ),
    bug(
        "a task is claimed before it is due",
        (
            "domain/tasks/transitions.py",
            "    task.must_be_claimable(at)\n",
            "    task.must_be_claimable(at + times.seconds(60))\n",
        ),
    ),
    bug(
        "a claim may be made for another's task",
        (
            "domain/tasks/transitions.py",
            "if task.target_agent is not None and command.agent != task.target_agent:",
            "if False:",
        ),
    ),
    bug(
        "a lost notice is sent no more",
        (
            "domain/tasks/wake.py",
            "    return notice_at if alert is None else min(notice_at, alert)",
            "    return alert",
        ),
    ),
)
CALLERS = (
    bug(
        "a known token is believed",
        ("adapters/dynamodb/access/token_checks.py", "if read_under == version:", "if True:"),
        habits={"has_stewards": True},
    ),
    bug(
        "nobody judges the token that was read",
        (
            "services/access/authenticate.py",
            "token is None or not token.admits(shown, deps.clock.now())",
            "token is None",
        ),
        habits={"has_stewards": True},
    ),
    bug(
        "a revocation raises no version",
        (
            "adapters/dynamodb/access/tokens.py",
            "self._table.write([*revoked, *config_raises(token.workspace)])",
            "self._table.write(revoked)",
        ),
        habits={"has_stewards": True},
    ),
    bug(
        "a token is judged by the version of an earlier request",
        (
            "adapters/dynamodb/agents/workspace_configs.py",
            "        store._at = {}\n",
            "        store._at = self._at = self._at or {}\n",
        ),
        habits={"has_stewards": True},
    ),
    bug(
        "a session goes on without its token",
        (
            "domain/access/token.py",
            "if self.revoked_at is not None or parent.revoked_at is None:",
            "if True:",
        ),
        habits={"has_stewards": True},
    ),
    bug(
        "a code opens two sessions",
        (
            "domain/access/session.py",
            "return self.session_id is None and now < self.expires_at",
            "return now < self.expires_at",
        ),
        (
            "adapters/dynamodb/access/sessions.py",
            'NOT_USED = "attribute_exists(#pk) AND attribute_not_exists(#session_id)"',
            'NOT_USED = "attribute_exists(#pk)"',
        ),
        habits={"has_stewards": True},
    ),
)
REPEATS = (
    bug(
        "the commit proof isn't looked at",
        (
            "adapters/dynamodb/table.py",
            "        item, event = self.get(commit_proof.key), commit_proof.event\n",
            "        item, event = None, commit_proof.event\n",
        ),
        habits={"fault_share": 0.1, "knows_tokens": False},
    ),
    bug(
        "any witness is ours",
        (
            "adapters/dynamodb/table.py",
            'item is not None and item.get("written_by") == token',
            "item is not None",
        ),
    ),
    bug(
        "an unclear attempt isn't barred",
        ("adapters/dynamodb/table.py", "if may_arrive and bar is not None and", "if False and"),
        habits={"focus": Focus.ALERTS, "fault_share": 0.1, "knows_tokens": False, "has_tracker": False},
    ),
    bug(
        "a token of its own for each attempt",
        (
            "adapters/dynamodb/table.py",
            "send = partial(self._client.transact_write_items, TransactItems=items, ClientRequestToken=token)",
            "send = lambda: self._client.transact_write_items(TransactItems=items, ClientRequestToken=uuid4().hex)",
        ),
        habits={"focus": Focus.RUNS, "fault_share": 0.15, "knows_tokens": True},
        harmless="each transaction has an item whose condition fails once it was applied, but a revocation's, and that "
        "sets the same again; in every fourth seed the table knows no tokens at all",
    ),
    bug(
        "a batch read forgets what wasn't processed",
        (
            "adapters/dynamodb/table.py",
            '            request = answer.get("UnprocessedKeys") or {}\n',
            "            request = {}\n",
        ),
    ),
    bug(
        "a partition is read to its first page only",
        (
            "adapters/dynamodb/table.py",
            '            yield from self._items(answer["Items"])\n            if "LastEvaluatedKey" not in answer:\n',
            '            yield from self._items(answer["Items"])\n            if True:\n',
        ),
    ),
    bug(
        "a key is remembered after the effect",
        (
            "services/claims/save_checkpoint.py",
            "        commit(deps, change, Put(checkpoint), *idempotency.save_response(idempotency_key, answer))\n",
            "        commit(deps, change, Put(checkpoint))\n        if idempotency_key:\n"
            "            deps.store.commit(by.workspace, *idempotency.save_response(idempotency_key, answer))\n",
        ),
    ),
    bug(
        "a key may be taken twice",
        (
            "adapters/dynamodb/access/idempotency_writes.py",
            "return put(item, NOT_THERE_YET, errors.KeyTaken, Fitness.LASTING, Exclusive())",
            "return put(item, fitness=Fitness.LASTING, bar=Exclusive())",
        ),
        (
            "adapters/dynamodb/access/idempotency_writes.py",
            'NOT_THERE_OR_OVER = f"{NOT_THERE_YET} OR #ttl <= :now"',
            'NOT_THERE_OR_OVER = f"{NOT_THERE_YET} OR #ttl > :now OR #ttl <= :now"',
        ),
        habits={"doubled_share": 0.8},
    ),
    bug(
        "a handoff's key isn't remembered",
        (
            "services/handoffs/create_handoff.py",
            "    saved = idempotency.save_response(idempotency_key, trail.snapshot(begun.only.task))\n",
            "    saved = ()\n",
        ),
    ),
    bug(
        "the last word of a claim isn't kept",
        (
            "steps/claims/end_claim.py",
            "digest=request.digest, key=",
            "digest='', key=",
        ),
    ),
    bug(
        "a change under a key keeps no receipt",
        ("steps/tasks/change_task.py", "asked=answers.asked_under(idempotency_key)", "asked=None"),
        habits={"doubled_share": 0.8},
    ),
    bug(
        "another word under a claim that is over gets the first one's answer",
        ("steps/claims/end_claim.py", " or receipt.asked != request.digest or ", " or "),
    ),
    bug(
        "a repeat is answered with the task as it is now",
        ("steps/tasks/trail_answers.py", "    if receipt.seq == task.seq:\n", "    if True:\n"),
        habits={"doubled_share": 0.8, "focus": Focus.ENDS},
    ),
    bug(
        "a repeat is answered in the version of its last event alone",
        ("steps/tasks/trail_answers.py", "return task.changed(version=receipt.version)", "return task"),
        ("steps/tasks/trail_answers.py", "then.changed(version=receipt.version,", "then.changed(version=receipt.seq,"),
        habits={"doubled_share": 0.8, "focus": Focus.ENDS},
    ),
    bug(
        "receipts are looked for in the latest chunk alone",
        (
            "adapters/dynamodb/tasks/task_reads.py",
            "if found is not None or (since is not None and trail_items.is_before(chunk, since)):",
            "if True:",
        ),
        habits={"doubled_share": 0.8, "focus": Focus.ENDS},
        steps=200_000,
    ),
    bug(
        "receipts are looked for in HEAD alone",
        (
            "adapters/dynamodb/tasks/task_reads.py",
            "if found is not None or not task.has_chunks:",
            "if True:",
        ),
        habits={"doubled_share": 0.8, "focus": Focus.ENDS},
    ),
    bug(
        "a task forgets that it has chunks",
        (
            "adapters/dynamodb/trail_items.py",
            "has_chunks=before.has_chunks or has_moved",
            "has_chunks=has_moved",
        ),
        habits={"doubled_share": 0.8, "focus": Focus.ENDS},
        steps=200_000,
    ),
    bug(
        "another's key is told before a used one",
        (
            "adapters/dynamodb/table.py",
            'return min(refused, key=lambda error: error.code != "key_taken")',
            "return refused[0]",
        ),
        steps=30_000,
        harmless="whatever is tried after another refusal carries the same key, and is refused by it or reads the first "
        "answer before it decides; and whoever gives up looks for that answer first",
    ),
)
DIRECTIONS = (
    bug(
        "the cap lets one more through",
        (
            "domain/escalations/direction.py",
            "if len(recent) >= settings.escalation_cap",
            "if len(recent) > settings.escalation_cap",
        ),
    ),
    bug(
        "a direction's version isn't compared",
        (
            "adapters/dynamodb/escalations/marker_writes.py",
            "VERSION_NOT_SET if is_new else VERSION_UNCHANGED",
            '"attribute_not_exists(#version) OR #version >= :zero"',
        ),
        (
            "adapters/dynamodb/escalations/marker_writes.py",
            'seen = {} if is_new else {":seen": direction.version}',
            'seen = {":zero": 0}',
        ),
    ),
    bug(
        "nobody looks whether a direction's tasks have ended",
        ("steps/escalations/look_at_ends.py", "if not in_question:", "if True:"),
    ),
    bug(
        "a task at work counts as ended in its direction",
        ("steps/escalations/look_at_ends.py", "if task.is_ended}", "if task.is_ended or task.fence}"),
    ),
    bug(
        "a direction remembers its open tasks as ended",
        (
            "adapters/dynamodb/escalations/marker_writes.py",
            "for e in direction.escalations if e.closed)",
            "for e in direction.escalations)",
        ),
        steps=200_000,
    ),
)
# Whoever ends a task often dies between its output and HEAD, and somebody else has the time to end it in another way.
_LOST_ENDS = {"focus": Focus.ENDS, "is_hot": False, "crash_share": 0.03, "fault_share": 0.08}
OUTPUTS = (
    bug(
        "all large outputs of a task have one place",
        (
            "adapters/dynamodb/tasks/output_items.py",
            "key = keys.output(task.workspace, task.id, digest)",
            'key = keys.output(task.workspace, task.id, "0")',
        ),
        habits=_LOST_ENDS,
        steps=200_000,
    ),
    bug(
        "an output's place follows from the fence, not from its content",
        (
            "adapters/dynamodb/tasks/output_items.py",
            "key = keys.output(task.workspace, task.id, digest)",
            "key = keys.output(task.workspace, task.id, str(task.fence))",
        ),
        habits=_LOST_ENDS,
        steps=200_000,
    ),
    bug(
        "a large output is put after HEAD, if at all",
        ("adapters/dynamodb/tasks/change_writes.py", "writes.append(put_first(beside))", "pass"),
    ),
    bug(
        "a small output isn't put with HEAD",
        (
            "adapters/dynamodb/tasks/change_writes.py",
            "**items.head_item(task, len(change.events)), **more}",
            "**items.head_item(task, len(change.events))}",
        ),
    ),
    bug(
        "outputs are read as they were found, though HEAD names one",
        (
            "adapters/dynamodb/tasks/task_reads.py",
            "return named is not None and named not in here",
            "return False",
        ),
        steps=100_000,
    ),
)
INBOXES = (
    bug(
        "an end is in no inbox",
        ("steps/tasks/change_task.py", "if is_slug(change.task.source_agent):", "if False:"),
    ),
    bug(
        "an acknowledged item comes back while the index lags",
        (
            "adapters/dynamodb/handoffs/inboxes.py",
            'if (head.get("queue_pk"), head.get("queue_sk")) == (entry["queue_pk"], entry["queue_sk"]):',
            "if head:",
        ),
        habits={"has_readers": True, "focus": Focus.ENDS, "lag_ms": 600_000},
    ),
    bug(
        "an acknowledgement takes along what lies between",
        ("adapters/dynamodb/handoffs/inboxes.py", 'if entry["queue_sk"] in wanted:', "if True:"),
        habits={
            "has_readers": True,
            "focus": Focus.ENDS,
            "workers": ("a",),
            "is_hot": True,
            "slowness": 1,
            "fault_share": 0,
            "crash_share": 0,
            "has_tracker": False,
            "steps": 2_000,
        },
    ),
    bug(
        "a page of an inbox goes on behind its neighbour",
        (
            "adapters/dynamodb/handoffs/inboxes.py",
            'Page(found, shown[-1]["queue_sk"] if',
            'Page(found[:-1], shown[-1]["queue_sk"] if',
        ),
        steps=200_000,
    ),
)
FAMILIES = (
    bug(
        "a join is one branch short",
        ("domain/tasks/task.py", "if ended == len(self.branches):", "if ended >= max(1, len(self.branches) - 1):"),
    ),
    bug(
        "no errand for the join",
        (
            "steps/tasks/change_task.py",
            "if task.has_branch_ended and task.join_parent is not None and task.join_parent not in changed:",
            "if False and task.join_parent:",
        ),
    ),
    bug(
        "a join's errand is read after its branches",
        (
            "services/claims/join_branches.py",
            "        job = deps.store.job(workspace, JobKind.JOIN, task_id)\n"
            "        joined = _join(deps, workspace, task_id)\n",
            "        joined = _join(deps, workspace, task_id)\n"
            "        job = deps.store.job(workspace, JobKind.JOIN, task_id)\n",
        ),
        habits={"focus": Focus.BRANCHES},
    ),
    bug(
        "a new errand is taken for the old",
        (
            "adapters/dynamodb/store.py",
            'STILL_THE_SAME = "#stamp = :stamp"',
            'STILL_THE_SAME = "#stamp = :stamp OR #stamp <> :stamp"',
        ),
        habits={
            "focus": Focus.BRANCHES,
            "is_hot": True,
            "slowness": 1,
            "notices": NoticeFate.KEPT,
            "fault_share": 0,
            "crash_share": 0,
            "lag_ms": 0,
            "doubled_share": 0,
            "has_tracker": False,
            "steps": 2_000,
        },
        steps=100_000,
    ),
    bug(
        "a cascade looks once",
        ("services/tasks/cancel_descendants.py", "if not found and below == seen:", "if not found or below:"),
    ),
    bug(
        "a cancel has no cascade",
        (
            "steps/tasks/change_task.py",
            "if task.state is State.CANCELLED and task.fence > 0",
            "if False and task.fence > 0",
        ),
    ),
    bug(
        "children without a live claim",
        (
            "services/handoffs/create_handoff.py",
            "    return [Require(UnderClaim(parent.id, request.claim_id, extended=extended))]\n",
            "    return []\n",
        ),
        habits={"focus": Focus.ENDS},
    ),
    bug(
        "a callback answers another wait",
        ("services/claims/wait_for_callback.py", " or task.wait.number != callback.wait:", ":"),
        (
            "domain/tasks/transitions.py",
            "if task.wait is None or task.wait.number != command.wait:",
            "if task.wait is None:",
        ),
    ),
    bug(
        "a callback is given up too early",
        (
            "domain/tasks/sweep_rules.py",
            "if wait.until is not None and recorder.at >= wait.until:",
            "if wait.until is not None:",
        ),
        habits={"focus": Focus.WAITS, "is_hot": False},
    ),
    bug(
        "two retries at once",
        (
            "adapters/dynamodb/writes.py",
            'IS_AS_READ = "#{0} = :seen"',
            'IS_AS_READ = "#{0} = :seen OR #{0} <> :seen"',
        ),
        (
            "adapters/dynamodb/writes.py",
            "return put(item, NOT_THERE_YET, lambda: errors.Conflict(stored.name), stored.fitness)",
            "return put(item, fitness=stored.fitness)",
        ),
        habits={"focus": Focus.RETRIES},
    ),
    bug(
        "a retry isn't looked for",
        ("services/handoffs/retry_handoff.py", "if latest is not None and not latest.is_ended:", "if False:"),
    ),
    bug(
        "a workflow's first handoff isn't counted",
        (
            "steps/handoffs/begin_handoff.py",
            "_ROOT_ALONE = 1",
            "_ROOT_ALONE = 0",
        ),
    ),
)
RUNS = (
    bug(
        "a budget of calls is only read",
        (
            "adapters/dynamodb/runs/run_writes.py",
            "    if limits.calls is not None:\n        conditions",
            "    if False:\n        conditions",
        ),
        ("adapters/dynamodb/runs/run_writes.py", '":most_calls": limits.calls', '":most_calls": None'),
        habits={"focus": Focus.RUNS},
        steps=400_000,
    ),
    # A run looks at its claim before each entry. What keeps it out in the moment after that is found without the look.
    bug(
        "a run adds to a transcript that a later one has taken",
        (
            "steps/runs/transcript_writer.py",
            "        now.current_claim(work.claim_id, work.by)\n",
            "",
        ),
        (
            "adapters/dynamodb/runs/run_writes.py",
            'PLACE_IS_FREE_OR_OURS = "attribute_not_exists(#pk) OR #fence = :fence"',
            'PLACE_IS_FREE_OR_OURS = "attribute_not_exists(#pk) OR #fence >= :fence"',
        ),
        habits={"focus": Focus.RUNS},
        steps=400_000,
    ),
    bug(
        "a run takes the transcript back from a later one",
        (
            "adapters/dynamodb/runs/runs.py",
            'if any(int(item.get("fence", 0)) > fence for item in found):',
            "if not fence:",
        ),
        habits={"focus": Focus.RUNS},
        harmless="its seal is refused; a first run, which seals nothing, can't count any more once a later one has begun",
    ),
    bug(
        "a step of a run counts again when it arrives again",
        (
            "adapters/dynamodb/runs/run_writes.py",
            'ACCOUNT_IS_AS_READ = "#accounts.#task.#fence = :fence AND #accounts.#task.#step = :step"',
            'ACCOUNT_IS_AS_READ = "#accounts.#task.#fence = :fence AND #accounts.#task.#step >= :step"',
        ),
        habits={"focus": Focus.RUNS, "fault_share": 0.1},
        steps=200_000,
    ),
    bug(
        "the first step of a run counts again when it arrives again",
        (
            "adapters/dynamodb/runs/run_writes.py",
            'HAS_NO_ACCOUNT = "attribute_not_exists(#accounts.#task) AND #moved = :moved"',
            'HAS_NO_ACCOUNT = "#moved >= :moved"',
        ),
        habits={"focus": Focus.RUNS, "fault_share": 0.1},
        steps=400_000,
    ),
    bug(
        "an account moves away without a copy",
        (
            "adapters/dynamodb/runs/runs.py",
            "if old := workflow.to_move(spending.task_id):",
            "if (old := workflow.to_move(spending.task_id)) and not workflow.moved:",
        ),
        habits={"focus": Focus.RUNS},
        steps=200_000,
    ),
    bug(
        "a reply that came when a later run has counted isn't counted",
        ("steps/runs/run_account.py", "            self._count_late(used)\n", ""),
        habits={"focus": Focus.RUNS, "is_hot": True, "skew_ms": 300_000, "stall_ms": 200_000, "fault_share": 0.08},
        steps=400_000,
    ),
    bug(
        "an event is marked before the bus has it",
        ("services/events/publish_events.py", "_id(each) in delivery.accepted, events", "True, events"),
    ),
)
TRAILS = (
    bug(
        "a change forgets the events before it",
        ("adapters/dynamodb/trail_items.py", "kept = () if has_moved else before.tail", "kept = ()"),
    ),
    bug(
        "events leave HEAD without a copy",
        ("adapters/dynamodb/tasks/change_writes.py", "    elif trail.has_moved:\n", "    elif False:\n"),
    ),
    bug(
        "a chunk takes the place of the one before",
        (
            "adapters/dynamodb/trail_items.py",
            "keys.chunk(before.workspace, before.id, before.seq)",
            "keys.chunk(before.workspace, before.id, 1)",
        ),
    ),
    bug(
        "HEAD goes first, its copy after",
        (
            "adapters/dynamodb/table.py",
            "        self._together([partial(self._put_first, each, token) for each in first])\n        if len(rest)",
            "        if len(rest)",
        ),
    ),
    bug(
        "a task is told of before it is there",
        (
            "adapters/dynamodb/events/event_outbox.py",
            "        if head is None:\n",
            "        head = head or {**first, 'sk': keys.HEAD, 'seq': len(first['events'])}\n        if False:\n",
        ),
    ),
    bug(
        "a task that may still come is given up",
        (
            "domain/events/bus_events.py",
            "GIVEN_UP_AFTER = times.seconds(1_800)",
            "GIVEN_UP_AFTER = times.seconds(0)",
        ),
    ),
    bug(
        "what never came to be stays in the outbox",
        (
            "services/events/publish_events.py",
            "        deps.store.leave_outbox(waiting.workspace, waiting.task_id)\n    else:",
            "        pass\n    else:",
        ),
    ),
    bug(
        "a put that was heard of late is anybody's",
        (
            "adapters/dynamodb/table.py",
            "return bool(self._writer_of(event, item) == short(token))",
            "return int(item['seq']) >= event.seq",
        ),
    ),
    bug(
        "the publisher passes over what the bus refused",
        (
            "adapters/dynamodb/events/event_outbox.py",
            'FOLLOWS_WHAT_WAS_TOLD = "#told >= :before AND #told < :told"',
            'FOLLOWS_WHAT_WAS_TOLD = "#told < :told AND :before >= :before"',
        ),
    ),
    bug(
        "a task leaves the outbox with its first event",
        (
            "adapters/dynamodb/events/event_outbox.py",
            'if is_over else "SET #told = :told"',
            'if True else "SET #told = :told"',
        ),
    ),
    bug(
        "a task that begins isn't in the outbox",
        ("adapters/dynamodb/trail_items.py", 'places = {"wake_pk": place.pk, "wake_sk": place.sk, ', "places = {"),
    ),
)
MEMBERS = (
    bug(
        "a root is taken for the one that its workflow's id tells",
        (
            "adapters/dynamodb/tasks/change_writes.py",
            "if conversation is None and begins_its_workflow(task):",
            "if conversation is None and task.is_root:",
        ),
    ),
    bug(
        "a workflow's root is forgotten",
        ("adapters/dynamodb/handoffs/workflows.py", "if root_id is not None and root_id not in parents:", "if False:"),
    ),
)
_ON_BOARD = {"focus": Focus.BOARD}
ENTRIES = (
    bug(
        "a decision is replaced twice",
        ("domain/memory/entry.py", "if not self.is_shown or self.status not in STANDING:", "if not self.is_shown:"),
        habits=_ON_BOARD,
    ),
    bug(
        "what was replaced stays in the views of its scope",
        (
            "adapters/dynamodb/memory/entry_items.py",
            "if not (entry.entry_type in entries.SNAPSHOT_TYPES and entry.is_active):",
            "if entry.entry_type not in entries.SNAPSHOT_TYPES:",
        ),
        habits=_ON_BOARD,
    ),
    bug(
        "an agent replaces what a human decided",
        ("domain/memory/entry.py", 'by.must_be_human("replace what a human decided")', "pass"),
        habits=_ON_BOARD,
    ),
    bug(
        "the words of what is deleted stay in a pack",
        (
            "services/memory/end_entry.py",
            "[] if after is entry else deps.search.forgetting(by.workspace, entry_id)",
            "[]",
        ),
        habits=_ON_BOARD,
    ),
)
SHARDS = (
    bug(
        "readers look at no more shards than are written",
        ("adapters/dynamodb/shards.py", "return max(self.written, self.read)", "return self.written"),
    ),
    bug(
        "every entry goes to one shard more than readers look at",
        ("adapters/dynamodb/shards.py", "% spread.written)", "% (spread.written + 1))"),
    ),
    bug(
        "an event is recognised in the outbox by another place than its own",
        (
            "adapters/dynamodb/events/event_outbox.py",
            'STILL_WAITING = "begins_with(#shard, :outbox)"',
            'STILL_WAITING = "#shard = :outbox"',
        ),
        steps=200_000,
    ),
)
_IN_NOTION = {"has_tracker": True, "skew_ms": 5_000, "stall_ms": 5_000}
PAGES = (
    bug(
        "a page is looked for only if a notice tells of it",
        (
            "services/tracker/sync_tracker.py",
            "others = [] if task_id else",
            "others = [] if True else",
        ),
        habits=_IN_NOTION,
    ),
    bug(
        "a page whose sender died stays with it",
        ("domain/tracker/page_sync.py", " or self.sender is not None)", ")"),
        habits={**_IN_NOTION, "crash_share": 0.03},
    ),
    bug(
        "a page isn't behind when its task has changed",
        ("domain/tracker/page_sync.py", "return task.seq > self.wanted", "return self.wanted == 0"),
        habits=_IN_NOTION,
    ),
    bug(
        "a page is looked at no more once it was sent",
        (
            "domain/tracker/page_sync.py",
            "            look_at=None if task.is_ended else self.look_at,",
            "            look_at=None,",
        ),
        habits=_IN_NOTION,
    ),
    bug(
        "a page is looked at for ever",
        (
            "domain/tracker/page_sync.py",
            "            look_at=None if task.is_ended else self.look_at,",
            "            look_at=self.look_at,",
        ),
        habits=_IN_NOTION,
    ),
    bug(
        "a page at rest leaves the list",
        (
            "domain/tracker/page_sync.py",
            "look_at=now + min(idle, times.seconds(LAST_LOOK_SECONDS))",
            "look_at=None",
        ),
        habits=_IN_NOTION,
    ),
)
BUGS = (
    *(
        *CLAIMS,
        *CALLERS,
        *REPEATS,
        *DIRECTIONS,
        *OUTPUTS,
        *INBOXES,
        *FAMILIES,
        *RUNS,
        *TRAILS,
        *MEMBERS,
        *ENTRIES,
        *SHARDS,
        *PAGES,
        *BROKEN_RULES,
    ),
)
