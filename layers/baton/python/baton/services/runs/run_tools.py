"""The tools of an agent that Baton runs, and nothing else (invariant 9): offered to its model, and carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.agents.agent import Roster
from baton.domain.agents.built_in_tools import BUILT_IN, FAIL_TASK, SAVE_CHECKPOINT, problem_of
from baton.domain.agents.tool import Tool
from baton.domain.canonical_json import digest_of
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.transcript import Block, TranscriptEntry, result
from baton.ports import runs
from baton.ports.writes import Write
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.runs.branch_results import branch_results
from baton.services.runs.run_approvals import RunApprovals
from baton.steps.runs.run_context import RunContext
from baton.steps.runs.run_handoffs import MAX_CALLS, HandoffCall, delegate_by, transfer_by
from baton.steps.runs.transcript_writer import TranscriptWriter

NOT_NOW = "Not done: the task has ended or been handed on by another call of the same reply."
NOT_EITHER = "Not done: it came after another call of the same reply, which wasn't done either. Call again."
NOT_OWN = "another agent wrote it, or this agent did with another prompt, model or set of tools"
ROUTE = "tool"
MAX_SAID = 1_000


def offered(run: RunContext) -> dict[str, Tool]:
    """Returns the agent's handoff tools as they are now. A tool isn't offered if its target is switched off, if only a
    newer version of Baton knows how it works, or if it is suspended (docs/spec/tools.md §1)."""
    store, workspace = run.deps.store, run.task.workspace
    names = [name for name in run.profile.tools if name not in BUILT_IN]
    found = store.tools.named(workspace, names)
    roster = store.agents.roster(workspace) if found else Roster()
    return {name: found[name] for name in names if name in found and _is_offered(found[name], roster)}


def _is_offered(tool: Tool, roster: Roster) -> bool:
    target = roster.find(tool.target_agent)
    return tool.active and tool.is_understood and target is not None and target.active and not tool.suspended_by(target)


@dataclass(frozen=True, slots=True)
class RunTools:
    run: RunContext
    handoffs: Mapping[str, Tool]
    writer: TranscriptWriter

    @property
    def built_in(self) -> list[str]:
        return [name for name in self.run.profile.tools if name in BUILT_IN]

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [*(BUILT_IN[name] for name in self.built_in), *(tool.spec for tool in self.handoffs.values())]

    def identity(self, reply: TranscriptEntry) -> str:
        """Returns the ``made_with`` of a reply by this run's agent, profile and tools."""
        called = sorted({call["name"] for call in reply.calls} & self.handoffs.keys())
        return self.run.profile.identity([self.handoffs[name].spec for name in called])

    def is_own(self, reply: TranscriptEntry) -> bool:
        """False for a saved reply that another agent wrote, or this agent with another profile or other tools: nobody
        gave the agent that runs now what the reply says."""
        return reply.made_with == self.identity(reply)

    def set_aside(self, reply: TranscriptEntry) -> None:
        """Carries out nothing more of a reply that isn't the run's own. Its branches have their results; each other
        call without a result gets one that says so, and a reply without calls gets a text."""
        results = self._joined(reply)
        for call_id in (call["toolUseId"] for call in reply.calls):
            if call_id not in self.writer.transcript.results_of(reply.turn) | results:
                results[call_id] = result(call_id, f"Not done by this run: {NOT_OWN}. Call again.", is_error=True)
        blocks = reply.in_order(results) or ({"text": f"The last reply isn't used: {NOT_OWN}. Answer again."},)
        self.writer.keep(self.writer.results(reply, blocks))

    def act(self, reply: TranscriptEntry) -> runs.RunExit | None:
        """Carries out the reply's calls that have no result yet. Returns how one of them left the task; None if the
        task goes on: then their results are saved."""
        given = self.writer.transcript.results_of(reply.turn)
        results = self._joined(reply)
        waiting = [call for call in reply.calls if call["toolUseId"] not in given.keys() | results.keys()]
        ending, branches, later = self._sorted(waiting, results)
        approvals = RunApprovals(self.run)
        try:
            judged = approvals.judge(reply, [ending] if isinstance(ending, HandoffCall) else branches)
            results |= judged.refused
            if judged.questions:
                self._keep(reply, {call_id: block for call_id, block in results.items() if call_id not in later})
                return approvals.wait(judged.questions)
            if isinstance(ending, HandoffCall) and judged.allowed:
                return transfer_by(self.writer, reply, judged.allowed[0], results)
            if isinstance(ending, HandoffCall):
                results |= {call_id: result(call_id, NOT_EITHER, is_error=True) for call_id in later}
            elif ending is not None:
                return self._end(reply, ending, results)
            elif judged.allowed:
                return delegate_by(self.writer, reply, judged.allowed, results)
        except errors.StaleClaim:
            raise
        except (errors.InvalidInput, errors.Refused) as refusal:
            for call_id in (call["toolUseId"] for call in waiting):
                if call_id not in results:
                    results[call_id] = result(call_id, f"Not done: {refusal.message}"[:MAX_SAID], is_error=True)
            results |= {call_id: result(call_id, NOT_EITHER, is_error=True) for call_id in later}
        self._keep(reply, results)
        return None

    def _joined(self, reply: TranscriptEntry) -> dict[str, Block]:
        """Returns the results of branches that the reply's calls have begun, unless they are saved."""
        given = self.writer.transcript.results_of(reply.turn)
        brought = self.run.work.details.resume_payload  # None for a task that hasn't waited
        joined = branch_results(reply, self.writer.transcript, brought) if brought else {}
        return {call_id: block for call_id, block in joined.items() if call_id not in given}

    def _keep(self, reply: TranscriptEntry, results: Mapping[str, Block]) -> None:
        """Keeps results before the task waits, too: nothing that was done is done again however long it waits."""
        if results:
            self.writer.keep(self.writer.results(reply, reply.in_order(results)))

    def _sorted(
        self, calls: Sequence[Block], results: dict[str, Block]
    ) -> tuple[HandoffCall | Block | None, list[HandoffCall], list[str]]:
        """Returns the call that ends the task, the delegations if there is none, and the ids of the calls that come too
        late (docs/spec/tools.md §4). Every other call gets its result."""
        handoffs = self._present_tools(calls)
        ending: HandoffCall | Block | None = None
        branches: list[HandoffCall] = []
        later: list[str] = []
        for call in calls:
            kind = self._parse_call(call, handoffs)
            if isinstance(kind, str):
                results[call["toolUseId"]] = result(call["toolUseId"], kind, is_error=True)
            elif kind is None:
                results[call["toolUseId"]] = self._checkpoint(call)
            elif isinstance(kind, HandoffCall) and not kind.tool.is_transfer:
                branches.append(kind)
            elif ending is None:
                ending = kind
            else:
                later.append(call["toolUseId"])
        if ending is not None:
            later += [each.call_id for each in branches]
            branches = []
        results |= {call_id: result(call_id, NOT_NOW, is_error=True) for call_id in later}
        for each in branches[MAX_CALLS:]:
            results[each.call_id] = result(each.call_id, f"Not done: at most {MAX_CALLS} at once.", is_error=True)
        return ending, branches[:MAX_CALLS], later

    def complete(self, output: Any, completion: dict[str, Any] | None, extra_writes: tuple[Write, ...]) -> runs.RunExit:
        """Completes the task. Raises ``InvalidInput`` if the handoff or the workspace's guardrails refuse the
        result."""
        call = self.run.work.call(digest_of([output, completion]))
        complete_task(
            self.run.deps, call, CompletedWork(output=output, completion=completion, extra_writes=extra_writes)
        )
        return runs.RunExit.ENDED

    def _end(self, reply: TranscriptEntry, call: Block, results: Mapping[str, Block]) -> runs.RunExit:
        arguments, answered = call["input"], {**results, call["toolUseId"]: result(call["toolUseId"], "Done.")}
        extras = (self.writer.insert(self.writer.results(reply, reply.in_order(answered))),)
        if call["name"] == FAIL_TASK:
            return self._fail(arguments, extras)
        return self.complete(arguments["output"], _completion(arguments), extras)

    def _fail(self, arguments: Mapping[str, Any], extra_writes: tuple[Write, ...]) -> runs.RunExit:
        blockers = [{"description": text} for text in arguments.get("blockers", ())]
        failure: dict[str, Any] = {"type": "blocker" if blockers else "error", "description": arguments["description"]}
        if blockers:
            failure["blockers"] = blockers
        questions = list(arguments.get("questions", ()))
        request = {"questions": questions} if questions else None
        work = FailedWork(failure=failure, rollback_request=request, extra_writes=extra_writes)
        fail_task(self.run.deps, self.run.work.call(digest_of(failure)), work)
        return runs.RunExit.ENDED

    def _present_tools(self, calls: Sequence[Block]) -> Mapping[str, Tool]:
        """The handoff tools at their use: while the model thinks, a human may have changed a tool, switched it off, or
        taken it from the agent. A tool approves only what it says now (invariant 8)."""
        called = {call["name"] for call in calls} & self.handoffs.keys()
        if not called:
            return self.handoffs
        store, workspace = self.run.deps.store, self.run.task.workspace
        given = store.runs.profile(workspace, self.run.work.agent.slug).tools
        now = store.tools.named(workspace, called)
        return {
            name: now.get(name, tool)
            for name, tool in self.handoffs.items()
            if name not in called or (name in given and name in now and now[name].active)
        }

    def _parse_call(self, call: Block, handoffs: Mapping[str, Tool]) -> HandoffCall | Block | str | None:
        """Returns the handoff, the call itself if Baton's own tool ends the task, None for a checkpoint, or the problem
        as text for the model."""
        name, arguments = call["name"], call["input"]
        if name in self.built_in:
            problem = problem_of(name, arguments)
            if problem is not None:
                return f"Not done: {problem}"
            return None if name == SAVE_CHECKPOINT else call
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
        route, body_hash = f"/{ROUTE}/{self.run.task.id}", digest_of(arguments)
        once = work.call(idempotency_key=IdempotencyKey(work.by, route, call["toolUseId"], body_hash))
        try:
            _, checkpoint_id = save_checkpoint(self.run.deps, once, arguments["step_name"], arguments["state"])
        except (errors.InvalidInput, errors.ClaimFull) as refusal:
            return result(call["toolUseId"], f"Not done: {refusal.message}", is_error=True)
        return result(call["toolUseId"], {"checkpoint_id": checkpoint_id})


def _completion(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    reports = list(arguments.get("acceptance_criteria_met", ()))
    completion: dict[str, Any] = {"verification": {"acceptance_criteria_met": reports}} if reports else {}
    if arguments.get("notes"):
        completion["notes"] = list(arguments["notes"])
    return completion or None
