"""`baton handoff`: the protocol's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.command_table import noun
from baton_cli.request_commands import ACTIVE, STATES, Param, RequestCommand
from baton_client.caller import Caller
from baton_client.errors import Misused, Refused

if TYPE_CHECKING:
    from baton_cli.screen import Screen


def _whole(body: dict[str, Any]) -> None:
    """Writes out the values of a request that are typed in one word."""
    context, expected = body.get("context", {}), body.get("expectations", {})
    if "artifacts" in context:
        context["artifacts"] = [_artifact(each) for each in context["artifacts"]]
    if "deliverables" in expected:
        expected["deliverables"] = [_deliverable(each) for each in expected["deliverables"]]
    criteria = body.pop("criteria", None)
    if criteria:
        if not expected.get("deliverables"):
            raise click.UsageError("--criterion is about a --deliverable: there is none.")
        expected["deliverables"][-1].setdefault("acceptance_criteria", []).extend(criteria)
    if decisions := body.pop("decisions", None):
        made = [{"type": "decision", "content": each} for each in decisions]
        body.setdefault("context", {}).setdefault("artifacts", []).extend(made)


def _artifact(said: Any) -> Any:
    return _halves(said, "--artifact", "type", "path") if isinstance(said, str) else said


def _deliverable(said: Any) -> Any:
    return _halves(said, "--deliverable", "type", "description") if isinstance(said, str) else said


def _halves(said: str, option: str, *names: str) -> dict[str, str]:
    first, equals, rest = said.partition("=")
    if not equals:
        raise Misused(f"{option} {said} has no '='", f"it is as {names[0]}={names[1]}")
    return {names[0]: first, names[1]: rest}


def _active(query: dict[str, Any]) -> None:
    """Without a state, what goes on; with --state any, everything."""
    query["state"] = [] if query["state"] == ["any"] else query["state"] or list(ACTIVE)


CALLS = (
    RequestCommand(
        "create",
        "POST",
        "/handoffs",
        "Hand work to an agent. --data takes whatever has no option.",
        body=(
            Param(
                "source.agent",
                "Who hands it over. If not given: the profile's agent, or you.",
                "agent",
                flag="from",
            ),
            Param("target.agent", "Who gets it; any agent that can, if not given.", flag="to"),
            Param("target.reason", "What is to be done.", "long", is_required=True),
            Param("summary", "What was done so far.", "long"),
            Param("source.phase", "Where the work stands."),
            Param("context.artifacts", "As specification=/docs/auth.md.", "list", flag="artifact"),
            Param("decisions", "What was decided.", "list", flag="decision"),
            Param("context.relevant_memories", "What it should know.", "list", flag="memory"),
            Param("context.project.name", "The project.", flag="project"),
            Param("context.project.tech_stack", "Several with commas.", "words"),
            Param("context.state", "An object: JSON, @FILE, or -.", "json"),
            Param("expectations.deliverables", "As code='Auth module'.", "list", flag="deliverable"),
            Param("criteria", "What the last deliverable has to meet.", "list", flag="criterion"),
            Param("expectations.constraints", "What must hold.", "list", flag="constraint"),
            Param("expectations.estimated_duration", "In words."),
            Param("expectations.deadline", "A time, or how long from now.", "future"),
            Param("rollback.on_failure", "Who gets it back; the source if not given.", flag="rollback-to"),
            Param("metadata.priority", "How urgent.", choices=("P0", "P1", "P2", "high", "medium", "low")),
            Param("metadata.effort", "How much.", choices=("S", "M", "L")),
            Param("metadata.not_before", "Not to be done before.", "future"),
            Param("metadata.workflow_id", "The workflow it belongs to.", flag="workflow"),
            Param("scope", "What part of the work it is about."),
            Param("auto_snapshot", "Take along what the blackboard knows.", "yes", flag="snapshot"),
            Param("auto_memories", "So many entries that fit come with the claim.", "number", flag="memories"),
            Param("kind", "What it is.", choices=("transfer", "delegation", "continuation", "rollback")),
            Param("work_type", "Send it by the routes."),
            Param("claim_id", "The claim under which it is handed over.", "claim", flag="claim"),
        ),
        refine=_whole,
        screen="handoff:created",
    ),
    RequestCommand(
        "list",
        "GET",
        "/handoffs",
        "List handoffs: those that go on, if no state is given.",
        query=(
            Param("target", "To this agent.", flag="to"),
            Param("source", "From this agent.", flag="from"),
            Param("state", f"any, or several with commas: {', '.join(STATES)}.", "words"),
            Param("workflow", "Of this workflow."),
            Param("since", "From a time on, or of the last 3d.", "past"),
        ),
        refine=_active,
        screen="handoff:listed",
        is_paged=True,
    ),
    RequestCommand(
        "retry",
        "POST",
        "/handoffs/{handoff_id}/retry",
        "Try again what has failed.",
        body=(
            Param("agent_version", "Of its agent, that was looked at: if it has changed since.", "number"),
            Param("agent_versions", "For open work: of each agent that was looked at, by its name.", "json"),
        ),
        screen="handoff:retried",
    ),
    RequestCommand(
        "checkpoints",
        "GET",
        "/workflows/{workflow_id}/checkpoints",
        "List a workflow's checkpoints.",
        columns="checkpoint_id:ID task_id:Task step_name:Step at:At by:By",
        is_paged=True,
    ),
)


@click.command("show", cls=BaseCommand)
@click.argument("handoff", metavar="HANDOFF")
@click.pass_obj
def show(app: CommandContext, handoff: str) -> None:
    """Show a handoff: what was given, what was expected, what came back."""
    found = app.client.get(f"/handoffs/{handoff}")

    def draw(screen: Screen) -> None:
        from baton_cli.screens import handoff as screens

        screens.whole(screen, found, _node(app.client, found))

    app.out.show(found, draw)


def _node(client: Caller, handoff: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the handoff's node in its chain; None if the profile may not read that."""
    from baton_cli.screens.chain import walk

    workflow_id = handoff["metadata"].get("workflow_id")
    try:
        chain = client.get(f"/workflows/{workflow_id}/chain")
    except Refused:
        return None
    return next((node for node, _ in walk(chain["nodes"]) if node["handoff_id"] == handoff["handoff_id"]), None)


@click.command("history", cls=BaseCommand)
@click.argument("workflow", metavar="WORKFLOW")
@click.option("--watch", is_flag=True, help="Go on until all of it has ended.")
@click.pass_obj
def history(app: CommandContext, workflow: str, watch: bool) -> None:
    """Draw a workflow's chain: of its id, or a handoff's or a task's in it."""
    workflow_id = workflow_of(app.client, workflow)
    path = f"/workflows/{workflow_id}/chain"
    if watch:
        from baton_cli.redrawn_screen import watch as watched
        from baton_cli.screens.chain import drawn, has_ended

        watched(app, path, drawn, has_ended, topic="lists")
        return
    chain = app.client.get(path)

    def draw(screen: Screen) -> None:
        from baton_cli.screens.chain import drawn

        drawn(screen, chain)

    app.out.show(chain, draw)


def workflow_of(client: Caller, said: str) -> str:
    """The workflow of a handoff, a task, or the workflow itself."""
    if said.startswith("ho_"):
        return str(client.get(f"/handoffs/{said}")["metadata"]["workflow_id"])
    if said.startswith("task_"):
        return str(client.get(f"/tasks/{said}")["workflow_id"])
    return said


create, listing, *others = CALLS
command = noun(
    "handoff", "Give work to another agent, and see what came of it.", [create, show, listing, history, *others]
)
