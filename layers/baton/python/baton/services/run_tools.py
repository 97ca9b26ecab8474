"""What an agent that Baton runs may do, and nothing else (invariant 9): its tools, offered to its model and carried
out."""

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
    """The agent's tools as they are now. One whose target gets no work, or was changed by a service since a human
    looked at it, isn't offered (docs/spec/tools.md §1)."""
    workspace = work.dossier.task.workspace
    names = [name for name in profile.tools if name not in BUILT_IN]
    found = baton.store.tools(workspace, names) if names else {}
    targets = frozenset(tool.target_agent for tool in found.values())
    agents = baton.store.handoff_facts(workspace, Wanted(agents=targets)).agents if targets else {}
    handoffs = {
        name: found[name]
        for name in names
        if name in found and _may_be_offered(found[name], agents.get(found[name].target_agent))
    }
    built_in = [name for name in profile.tools if name in BUILT_IN]
    return Tools(baton, work, profile, conversation, handoffs, tuple(built_in))


def _may_be_offered(tool: Tool, target: Agent | None) -> bool:
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
        """The results of the reply's calls that have none yet, or how the task was left by one of them. ``entry``:
        makes the transcript's entry of results, for what is written along with a handoff."""
        results = {call_id: block for call_id, block in self._brought(reply).items() if call_id not in given}
        waiting = [call for call in reply.calls if call["toolUseId"] not in given and call["toolUseId"] not in results]
        handoffs = self._still(waiting)
        ending, branches = [], []
        for call in waiting:
            kind = self._looked_at(call, handoffs)
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
        """Raises ``InvalidInput`` for what the handoff or the workspace's rules don't take."""
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

    def _still(self, calls: Sequence[Block]) -> Mapping[str, Tool]:
        """The handoff tools as they are at use: while a model thinks, a human may have changed one, switched it off or
        taken it from the agent, and what it approves is what it is now (invariant 8)."""
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

    def _looked_at(self, call: Block, handoffs: Mapping[str, Tool]) -> HandoffCall | dict[str, Any] | str | None:
        """A handoff, an ending's arguments, None for a checkpoint; or why not, for the model."""
        name, arguments = call["name"], call["input"]
        if name in self.built_in:
            problem = problem_of(name, arguments)
            if problem is not None:
                return f"Not done: {problem}"
            return None if name == SAVE_CHECKPOINT else arguments
        tool = handoffs.get(name)
        if tool is None:
            yours = ", ".join([*self.built_in, *handoffs]) or "none"
            return f"There is no tool of that name among yours, which are: {yours}."
        problems = tool.problems(arguments)
        if problems:
            told = "; ".join(f"{each.field[:64]} {each.message}" for each in problems)
            return f"Not done, correct this and call again: {told}."[:MAX_SAID]
        return HandoffCall(call["toolUseId"], tool, arguments)

    def _checkpoint(self, call: Block) -> Block:
        """Once per call, however often it is carried out."""
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

    def _brought(self, reply: Entry) -> dict[str, Block]:
        """What came of delegations that the task has waited for."""
        calls = {call["toolUseId"] for call in reply.calls}
        found: dict[str, list[dict[str, Any]]] = {}
        for each in (self.work.dossier.brought or {}).get("results", ()):
            if each.get("call_id") in calls:
                found.setdefault(each["call_id"], []).append(each)
        return {call_id: _branch_result(call_id, branch) for call_id, branch in found.items()}


@dataclass(frozen=True, slots=True)
class _Plan:
    """One reply's calls: what can be done at once is in ``results`` already; of what ends the task, the first does
    (docs/spec/tools.md §4)."""

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
                return self._ended(*ending[0])
            if branches:
                return self._delegated(branches[:MAX_CALLS])
        except StaleClaim:
            raise
        except (InvalidInput, Refused) as refusal:
            failed = [ending[0][0]["toolUseId"]] if ending else [each.call_id for each in branches[:MAX_CALLS]]
            for call_id in failed:
                self.results[call_id] = result(call_id, f"Not done: {refusal.message}"[:MAX_SAID], is_error=True)
            for call_id in later:
                self.results[call_id] = result(call_id, NOT_EITHER, is_error=True)
        return self._blocks()

    def _ended(self, call: Block, asked: HandoffCall | dict[str, Any]) -> Left:
        tools = self.tools
        if isinstance(asked, HandoffCall):
            transfer_by(self._handing(self.reply.turn), asked, self._over)
            return Left.HANDED_ON
        self.results[call["toolUseId"]] = result(call["toolUseId"], "Done.")
        told = (EntryKept(tools.work.dossier.task.id, self._entry()),)
        if call["name"] == FAIL_TASK:
            return tools.fail(asked, told)
        return tools.complete(asked["output"], _completion(asked), told)

    def _delegated(self, branches: Sequence[HandoffCall]) -> Left:
        def told(begun: Sequence[tuple[HandoffCall, Task, Agent]]) -> Entry:
            return self._entry(*(asked_of(*each) for each in begun))

        # What the others see is what was said before this reply: its calls have no results yet.
        delegate_by(self._handing(self.reply.turn - 1), branches, self.tools.profile, told)
        return Left.WAITS

    def _handing(self, turns: int) -> Handing:
        return Handing(self.tools.baton, self.tools.work, self.tools.conversation, turns)

    def _over(self, call: HandoffCall, task: Task, agent: Agent) -> Entry:
        self.results[call.call_id] = result(call.call_id, routed_to(agent))
        return self._entry(handed_over(call, task, agent))

    def _entry(self, *told: Message) -> Entry:
        entry: Entry = self.entry(self.reply, self._blocks(), *told)
        return entry

    def _blocks(self) -> list[Block]:
        """In the order of the calls."""
        return [self.results[call["toolUseId"]] for call in self.reply.calls if call["toolUseId"] in self.results]


def _completion(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    reports = list(arguments.get("acceptance_criteria_met", ()))
    said: dict[str, Any] = {"verification": {"acceptance_criteria_met": reports}} if reports else {}
    if arguments.get("notes"):
        said["notes"] = list(arguments["notes"])
    return said or None


def _branch_result(call_id: str, branch: Sequence[Mapping[str, Any]]) -> Block:
    """What a branch came to, as that call's result: a failed one says so, and one that still goes on too."""
    told = [
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
        told[0] if len(told) == 1 else {"results": told},
        is_error=not any(each.get("state") == "done" for each in branch),
    )


def _hash(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
