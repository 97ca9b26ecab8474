"""The tools of an agent that Baton runs, and nothing else (invariant 9): offered to its model, and carried out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.agents.agent import Agent
from baton.domain.agents.tool import Tool
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.built_in_tools import BUILT_IN, FAIL_TASK, SAVE_CHECKPOINT, problem_of
from baton.domain.runs.transcript import Block, TaskEntry, TranscriptEntry, TranscriptMessage, result
from baton.domain.tasks import trail
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.handoffs import HandoffQuery
from baton.ports.writes import Insert, Write
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.steps.runs.run_context import RunContext
from baton.steps.runs.run_handoffs import (
    MAX_CALLS,
    HandoffCall,
    HandoffSource,
    delegate_by,
    delegation_message,
    routed_text,
    transfer_by,
    transfer_message,
)

NOT_NOW = "Not done: the task has ended or been handed on by another call of the same reply."
NOT_EITHER = "Not done: it came after another call of the same reply, which wasn't done either. Call again."
ROUTE = "tool"
MAX_SAID = 1_000


def offered(run: RunContext) -> RunTools:
    """Returns the agent's tools as they are now. A tool isn't offered if its target is switched off, if only a newer
    version of Baton knows how it works, or if a service
    changed the target agent since a human looked at the tool (docs/spec/tools.md §1)."""
    deps, profile, workspace = run.deps, run.profile, run.task.workspace
    names = [name for name in profile.tools if name not in BUILT_IN]
    found = deps.store.tools(workspace, names) if names else {}
    targets = frozenset(tool.target_agent for tool in found.values())
    agents = deps.store.handoff_inputs(workspace, HandoffQuery(agents=targets)).agents if targets else {}
    handoffs = {
        name: found[name]
        for name in names
        if name in found and _is_offered(found[name], agents.get(found[name].target_agent))
    }
    built_in = [name for name in profile.tools if name in BUILT_IN]
    return RunTools(run, handoffs, tuple(built_in))


def _is_offered(tool: Tool, target: Agent | None) -> bool:
    is_open = tool.active and tool.is_understood
    return is_open and target is not None and target.active and tool.suspended_by(target) is None


@dataclass(frozen=True, slots=True)
class RunTools:
    run: RunContext
    handoffs: Mapping[str, Tool]
    built_in: tuple[str, ...]

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [*(BUILT_IN[name] for name in self.built_in), *(tool.spec for tool in self.handoffs.values())]

    def act(self, reply: TranscriptEntry, given: Mapping[str, Block], entry: Any) -> list[Block] | runs.RunExit:
        """Returns the results of the reply's calls that have none yet, or how one of them left the task. ``entry``:
        makes the transcript's entry of results, for the transaction of a handoff."""
        results = {call_id: block for call_id, block in self._branch_results(reply).items() if call_id not in given}
        waiting = [call for call in reply.calls if call["toolUseId"] not in given and call["toolUseId"] not in results]
        handoffs = self._present_tools(waiting)
        outcome, branches = [], []
        for call in waiting:
            kind = self._parse_call(call, handoffs)
            if isinstance(kind, str):
                results[call["toolUseId"]] = result(call["toolUseId"], kind, is_error=True)
            elif kind is None:
                results[call["toolUseId"]] = self._checkpoint(call)
            elif isinstance(kind, HandoffCall) and not kind.tool.is_transfer:
                branches.append(kind)
            else:
                outcome.append((call, kind))
        plan = _Plan(self, reply, results, entry)
        return plan.left(outcome, branches)

    def refused(self, reply: TranscriptEntry, why: str) -> list[Block]:
        return [result(call["toolUseId"], why, is_error=True) for call in reply.calls]

    def complete(self, output: Any, completion: dict[str, Any] | None, extra_writes: tuple[Write, ...]) -> runs.RunExit:
        """Completes the task. Raises ``InvalidInput`` if the handoff or the workspace's guardrails refuse the
        result."""
        body_hash = _hash([output, completion])
        work = self.run.work
        complete_task(
            self.run.deps,
            work.call(body_hash),
            CompletedWork(output=output, completion=completion, extra_writes=extra_writes),
        )
        return runs.RunExit.ENDED

    def fail(self, arguments: Mapping[str, Any], extra_writes: tuple[Write, ...]) -> runs.RunExit:
        blockers = [{"description": text} for text in arguments.get("blockers", ())]
        failure: dict[str, Any] = {"type": "blocker" if blockers else "error", "description": arguments["description"]}
        if blockers:
            failure["blockers"] = blockers
        questions = list(arguments.get("questions", ()))
        work = self.run.work
        fail_task(
            self.run.deps,
            work.call(_hash(failure)),
            FailedWork(
                failure=failure,
                rollback_request={"questions": questions} if questions else None,
                extra_writes=extra_writes,
            ),
        )
        return runs.RunExit.ENDED

    def _present_tools(self, calls: Sequence[Block]) -> Mapping[str, Tool]:
        """The handoff tools at their use: while the model thinks, a human may have changed a tool, switched it off, or
        taken it from the agent. A tool approves only what it says now (invariant 8)."""
        called = {call["name"] for call in calls} & set(self.handoffs)
        if not called:
            return self.handoffs
        store, workspace = self.run.deps.store, self.run.task.workspace
        given = store.profile(workspace, self.run.work.agent.slug).tools
        now = store.tools(workspace, called)
        return {
            name: now.get(name, tool)
            for name, tool in self.handoffs.items()
            if name not in called or (name in given and name in now and now[name].active)
        }

    def _parse_call(self, call: Block, handoffs: Mapping[str, Tool]) -> HandoffCall | dict[str, Any] | str | None:
        """Returns the handoff, the arguments of an ending, None for a checkpoint, or the problem as text for the
        model."""
        name, arguments = call["name"], call["input"]
        if name in self.built_in:
            problem = problem_of(name, arguments)
            if problem is not None:
                return f"Not done: {problem}"
            return None if name == SAVE_CHECKPOINT else arguments
        tool = handoffs.get(name)
        if tool is None:
            names = ", ".join([*self.built_in, *handoffs]) or "none"
            return f"There is no tool of that name among yours, which are: {names}."
        problems = tool.problems(arguments)
        if problems:
            listed = "; ".join(f"{each.field[:64]} {each.message}" for each in problems)
            return f"Not done, correct this and call again: {listed}."[:MAX_SAID]
        return HandoffCall(call["toolUseId"], tool, arguments)

    def _checkpoint(self, call: Block) -> Block:
        """Saves the checkpoint once per call, however often the call is run."""
        arguments, work = call["input"], self.run.work
        task_id = work.details.task.id
        idempotency_key = IdempotencyKey(work.by, f"/{ROUTE}/{task_id}", call["toolUseId"], _hash(arguments))
        try:
            _, checkpoint_id = save_checkpoint(
                self.run.deps,
                work.call(idempotency_key=idempotency_key),
                arguments["step_name"],
                arguments["state"],
            )
        except (errors.InvalidInput, errors.ClaimFull) as refusal:
            return result(call["toolUseId"], f"Not done: {refusal.message}", is_error=True)
        return result(call["toolUseId"], {"checkpoint_id": checkpoint_id})

    def _branch_results(self, reply: TranscriptEntry) -> dict[str, Block]:
        """The results of delegations that the task has waited for."""
        calls = {call["toolUseId"] for call in reply.calls}
        found: dict[str, list[dict[str, Any]]] = {}
        for each in (self.run.work.details.resume_payload or {}).get("results", ()):
            if each.get("call_id") in calls:
                found.setdefault(each["call_id"], []).append(each)
        return {call_id: _branch_result(call_id, outcomes) for call_id, outcomes in found.items()}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Orders one reply's calls. Calls that can be done at once have their result in ``results`` already. Of the calls
    that end the task, the first is done (docs/spec/tools.md §4)."""

    tools: RunTools
    reply: TranscriptEntry
    results: dict[str, Block]
    entry: Any

    def left(
        self, outcome: Sequence[tuple[Block, HandoffCall | dict[str, Any]]], branches: Sequence[HandoffCall]
    ) -> list[Block] | runs.RunExit:
        later = [call["toolUseId"] for call, _ in outcome[1:]]
        if outcome:
            later += [each.call_id for each in branches]
            branches = ()
        for call_id in later:
            self.results[call_id] = result(call_id, NOT_NOW, is_error=True)
        for each in branches[MAX_CALLS:]:
            self.results[each.call_id] = result(each.call_id, f"Not done: at most {MAX_CALLS} at once.", is_error=True)
        try:
            if outcome:
                return self._end(*outcome[0])
            if branches:
                return self._delegate(branches[:MAX_CALLS])
        except errors.StaleClaim:
            raise
        except (errors.InvalidInput, errors.Refused) as refusal:
            failed = [outcome[0][0]["toolUseId"]] if outcome else [each.call_id for each in branches[:MAX_CALLS]]
            for call_id in failed:
                self.results[call_id] = result(call_id, f"Not done: {refusal.message}"[:MAX_SAID], is_error=True)
            for call_id in later:
                self.results[call_id] = result(call_id, NOT_EITHER, is_error=True)
        return self._blocks()

    def _end(self, call: Block, arguments: HandoffCall | dict[str, Any]) -> runs.RunExit:
        tools = self.tools
        if isinstance(arguments, HandoffCall):
            transfer_by(self._handing(self.reply.turn), arguments, self._transfer_entry)
            return runs.RunExit.HANDED_ON
        self.results[call["toolUseId"]] = result(call["toolUseId"], "Done.")
        extras = (Insert(TaskEntry(tools.run.task.id, self._entry(), tools.run.fence)),)
        if call["name"] == FAIL_TASK:
            return tools.fail(arguments, extras)
        return tools.complete(arguments["output"], _completion(arguments), extras)

    def _delegate(self, branches: Sequence[HandoffCall]) -> runs.RunExit:
        def transcript_entry(begun: Sequence[tuple[HandoffCall, Task, Agent]]) -> TranscriptEntry:
            return self._entry(*(delegation_message(*each) for each in begun))

        # The targets see the messages before this reply: its calls have no results yet.
        delegate_by(self._handing(self.reply.turn - 1), branches, self.tools.run.profile, transcript_entry)
        return runs.RunExit.WAITS

    def _handing(self, turns: int) -> HandoffSource:
        return HandoffSource(self.tools.run, turns)

    def _transfer_entry(self, call: HandoffCall, task: Task, agent: Agent) -> TranscriptEntry:
        self.results[call.call_id] = result(call.call_id, routed_text(agent))
        return self._entry(transfer_message(call, task, agent))

    def _entry(self, *messages: TranscriptMessage) -> TranscriptEntry:
        entry: TranscriptEntry = self.entry(self.reply, self._blocks(), *messages)
        return entry

    def _blocks(self) -> list[Block]:
        """In the order of the calls."""
        return [self.results[call["toolUseId"]] for call in self.reply.calls if call["toolUseId"] in self.results]


def _completion(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    reports = list(arguments.get("acceptance_criteria_met", ()))
    completion: dict[str, Any] = {"verification": {"acceptance_criteria_met": reports}} if reports else {}
    if arguments.get("notes"):
        completion["notes"] = list(arguments["notes"])
    return completion or None


def _branch_result(call_id: str, branch: Sequence[Mapping[str, Any]]) -> Block:
    """The outcome of a branch, as the result of its call; also for a branch that failed, or still runs."""
    outcomes = [
        {
            "agent": each.get("agent"),
            "task_id": each.get("task_id"),
            "state": each.get("state"),
            **{name: each[name] for name in ("output", "failure") if each.get(name) is not None},
        }
        for each in branch
    ]
    return result(
        call_id,
        outcomes[0] if len(outcomes) == 1 else {"results": outcomes},
        is_error=not any(each.get("state") == "done" for each in branch),
    )


def _hash(value: object) -> str:
    return hashlib.sha256(trail.canonical_json(value).encode()).hexdigest()
