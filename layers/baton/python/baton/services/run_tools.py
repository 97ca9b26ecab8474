"""The tools of an agent that Baton runs, and nothing else (invariant 9): offered to its model, and carried out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.built_in_tools import BUILT_IN, COMPLETE_TASK, FAIL_TASK, SAVE_CHECKPOINT, problem_of
from baton.domain.errors import ClaimFull, InvalidInput, Refused, StaleClaim
from baton.domain.events import canonical_json
from baton.domain.idempotency import Once
from baton.domain.tool import ToolMode
from baton.domain.transcript import result
from baton.ports import EntryKept, Wanted
from baton.run_ports import Left
from baton.services.complete_task import complete_task
from baton.services.fail_task import fail_task
from baton.services.hand_on import (
    MAX_CALLS,
    Handing,
    HandoffCall,
    asked_of,
    delegate_by,
    handed_over,
    routed_to,
    transfer_by,
)
from baton.services.save_checkpoint import save_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from baton.domain.agent import Agent
    from baton.domain.history import Conversation
    from baton.domain.run_profile import RunProfile
    from baton.domain.task import Task
    from baton.domain.tool import Tool
    from baton.domain.transcript import Block, Entry, Message
    from baton.ports import Baton, Extra
    from baton.run_ports import Work

NOT_NOW = "Not done: the task has ended or been handed on by another call of the same reply."
NOT_EITHER = "Not done: it came after another call of the same reply, which wasn't done either. Call again."
ROUTE = "tool"
MAX_SAID = 1_000
ENDING = frozenset({COMPLETE_TASK, FAIL_TASK})


def offered(baton: Baton, work: Work, profile: RunProfile, conversation: Conversation) -> Tools:
    """Returns the agent's tools as they are now. A tool isn't offered if its target is switched off, or if a service
    changed the target agent since a human looked at the tool (docs/spec/tools.md §1)."""
    workspace = work.dossier.task.workspace
    names = [name for name in profile.tools if name not in BUILT_IN]
    found = baton.store.tools(workspace, names) if names else {}
    targets = frozenset(tool.target_agent for tool in found.values())
    agents = baton.store.handoff_facts(workspace, Wanted(agents=targets)).agents if targets else {}
    handoffs = {
        name: found[name]
        for name in names
        if name in found and _is_offered(found[name], agents.get(found[name].target_agent))
    }
    built_in = [name for name in profile.tools if name in BUILT_IN]
    return Tools(baton, work, profile, conversation, handoffs, tuple(built_in))


def _is_offered(tool: Tool, target: Agent | None) -> bool:
    return tool.active and target is not None and target.active and tool.suspended_by(target) is None


@dataclass(frozen=True, slots=True)
class Tools:
    baton: Baton
    work: Work
    profile: RunProfile
    conversation: Conversation
    handoffs: Mapping[str, Tool]
    built_in: tuple[str, ...]

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [*(BUILT_IN[name] for name in self.built_in), *(tool.spec for tool in self.handoffs.values())]

    def act(self, reply: Entry, given: Mapping[str, Block], entry: Any) -> list[Block] | Left:
        """Returns the results of the reply's calls that have none yet, or how one of them left the task. ``entry``:
        makes the transcript's entry of results, for the transaction of a handoff."""
        results = {call_id: block for call_id, block in self._branch_results(reply).items() if call_id not in given}
        waiting = [call for call in reply.calls if call["toolUseId"] not in given and call["toolUseId"] not in results]
        handoffs = self._present_tools(waiting)
        ending, branches = [], []
        for call in waiting:
            kind = self._parse_call(call, handoffs)
            if isinstance(kind, str):
                results[call["toolUseId"]] = result(call["toolUseId"], kind, is_error=True)
            elif kind is None:
                results[call["toolUseId"]] = self._checkpoint(call)
            elif isinstance(kind, HandoffCall) and kind.tool.mode is ToolMode.DELEGATE:
                branches.append(kind)
            else:
                ending.append((call, kind))
        plan = _Plan(self, reply, results, entry)
        return plan.left(ending, branches)

    def refused(self, reply: Entry, why: str) -> list[Block]:
        return [result(call["toolUseId"], why, is_error=True) for call in reply.calls]

    def complete(self, output: Any, completion: dict[str, Any] | None, told: tuple[Extra, ...]) -> Left:
        """Completes the task. Raises ``InvalidInput`` if the handoff or the workspace's guardrails refuse the
        result."""
        body_hash = _hash([output, completion])
        work = self.work
        complete_task(
            self.baton,
            work.by,
            work.dossier.task.id,
            work.claim_id,
            output,
            body_hash,
            completion=completion,
            told=told,
        )
        return Left.ENDED

    def fail(self, arguments: Mapping[str, Any], told: tuple[Extra, ...]) -> Left:
        blockers = [{"description": text} for text in arguments.get("blockers", ())]
        failure: dict[str, Any] = {"type": "blocker" if blockers else "error", "description": arguments["description"]}
        if blockers:
            failure["blockers"] = blockers
        questions = list(arguments.get("questions", ()))
        work = self.work
        fail_task(
            self.baton,
            work.by,
            work.dossier.task.id,
            work.claim_id,
            failure,
            _hash(failure),
            retryable=False,
            rollback_request={"questions": questions} if questions else None,
            told=told,
        )
        return Left.ENDED

    def _present_tools(self, calls: Sequence[Block]) -> Mapping[str, Tool]:
        """The handoff tools at their use: while the model thinks, a human may have changed a tool, switched it off, or
        taken it from the agent. A tool approves only what it says now (invariant 8)."""
        called = {call["name"] for call in calls} & set(self.handoffs)
        if not called:
            return self.handoffs
        store, workspace = self.baton.store, self.work.dossier.task.workspace
        given = store.profile(workspace, self.work.agent.slug).tools
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
        arguments, work = call["input"], self.work
        task_id = work.dossier.task.id
        once = Once(work.by, f"/{ROUTE}/{task_id}", call["toolUseId"], _hash(arguments))
        try:
            _, checkpoint_id = save_checkpoint(
                self.baton, work.by, task_id, work.claim_id, arguments["step_name"], arguments["state"], once
            )
        except (InvalidInput, ClaimFull) as refusal:
            return result(call["toolUseId"], f"Not done: {refusal.message}", is_error=True)
        return result(call["toolUseId"], {"checkpoint_id": checkpoint_id})

    def _branch_results(self, reply: Entry) -> dict[str, Block]:
        """The results of delegations that the task has waited for."""
        calls = {call["toolUseId"] for call in reply.calls}
        found: dict[str, list[dict[str, Any]]] = {}
        for each in (self.work.dossier.brought or {}).get("results", ()):
            if each.get("call_id") in calls:
                found.setdefault(each["call_id"], []).append(each)
        return {call_id: _branch_result(call_id, outcomes) for call_id, outcomes in found.items()}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Orders one reply's calls. Calls that can be done at once have their result in ``results`` already. Of the calls
    that end the task, the first is done (docs/spec/tools.md §4)."""

    tools: Tools
    reply: Entry
    results: dict[str, Block]
    entry: Any

    def left(
        self, ending: Sequence[tuple[Block, HandoffCall | dict[str, Any]]], branches: Sequence[HandoffCall]
    ) -> list[Block] | Left:
        later = [call["toolUseId"] for call, _ in ending[1:]]
        if ending:
            later += [each.call_id for each in branches]
            branches = ()
        for call_id in later:
            self.results[call_id] = result(call_id, NOT_NOW, is_error=True)
        for each in branches[MAX_CALLS:]:
            self.results[each.call_id] = result(each.call_id, f"Not done: at most {MAX_CALLS} at once.", is_error=True)
        try:
            if ending:
                return self._end(*ending[0])
            if branches:
                return self._delegate(branches[:MAX_CALLS])
        except StaleClaim:
            raise
        except (InvalidInput, Refused) as refusal:
            failed = [ending[0][0]["toolUseId"]] if ending else [each.call_id for each in branches[:MAX_CALLS]]
            for call_id in failed:
                self.results[call_id] = result(call_id, f"Not done: {refusal.message}"[:MAX_SAID], is_error=True)
            for call_id in later:
                self.results[call_id] = result(call_id, NOT_EITHER, is_error=True)
        return self._blocks()

    def _end(self, call: Block, arguments: HandoffCall | dict[str, Any]) -> Left:
        tools = self.tools
        if isinstance(arguments, HandoffCall):
            transfer_by(self._handing(self.reply.turn), arguments, self._transfer_entry)
            return Left.HANDED_ON
        self.results[call["toolUseId"]] = result(call["toolUseId"], "Done.")
        extras = (EntryKept(tools.work.dossier.task.id, self._entry()),)
        if call["name"] == FAIL_TASK:
            return tools.fail(arguments, extras)
        return tools.complete(arguments["output"], _completion(arguments), extras)

    def _delegate(self, branches: Sequence[HandoffCall]) -> Left:
        def transcript_entry(begun: Sequence[tuple[HandoffCall, Task, Agent]]) -> Entry:
            return self._entry(*(asked_of(*each) for each in begun))

        # The targets see the messages before this reply: its calls have no results yet.
        delegate_by(self._handing(self.reply.turn - 1), branches, self.tools.profile, transcript_entry)
        return Left.WAITS

    def _handing(self, turns: int) -> Handing:
        return Handing(self.tools.baton, self.tools.work, self.tools.conversation, turns)

    def _transfer_entry(self, call: HandoffCall, task: Task, agent: Agent) -> Entry:
        self.results[call.call_id] = result(call.call_id, routed_to(agent))
        return self._entry(handed_over(call, task, agent))

    def _entry(self, *messages: Message) -> Entry:
        entry: Entry = self.entry(self.reply, self._blocks(), *messages)
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
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
