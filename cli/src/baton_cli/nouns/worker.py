"""`baton worker`: any program as the worker of an agent."""

from __future__ import annotations

import math
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import ExitCode, Failure
from baton_client.errors import Misused

if TYPE_CHECKING:
    from baton_cli.screen import Screen
    from baton_cli.worker.agent_work import AgentWork
    from baton_cli.worker.log import Log
    from baton_cli.worker.poller import Poller
    from baton_cli.worker.supervisor import Supervisor


TEXT_WARNING = (
    "a task with acceptance criteria is done only if the text ends with a line of JSON that reports them, as the "
    "task's end_with asks; else the text is kept in a failure (docs/guides/run-a-worker.md)"
)


@click.command("worker", cls=BaseCommand, context_settings={"allow_interspersed_args": False})
@click.option("--agent", metavar="SLUG", help="Whose work is done; by default the profile's agent.")
@click.option("--routes", type=click.Path(path_type=Path), metavar="FILE", help="Serve every agent of this TOML file.")
@click.option("--concurrency", type=int, default=1, show_default=True, help="Tasks at once.")
@click.option("--once", is_flag=True, help="End after one task; exit code 1 if it wasn't done.")
@click.option("--task", metavar="ID", help="Take this one task, and end.")
@click.option("--idle-timeout", metavar="LENGTH", help="End after so long without work, such as 90s or 10m.")
@click.option("--time-limit", metavar="LENGTH", default="1h", show_default=True, help="Of one run; 0 for none.")
@click.option("--grace", metavar="LENGTH", default="10s", show_default=True, help="Between TERM and KILL.")
@click.option(
    "--lease", metavar="LENGTH", default="5m", show_default=True, help="How long a silent worker holds a task."
)
@click.option(
    "--on-term",
    type=click.Choice(["finish", "release"]),
    default="finish",
    show_default=True,
    help="What the first SIGTERM does; a second one always releases.",
)
@click.option(
    "--output-text", "is_text", is_flag=True, help="The program prints a text, which may end with a line of JSON."
)
@click.option("--memories", type=int, default=0, help="So many entries of the blackboard come with a task, at most 5.")
@click.option("--lend-token", is_flag=True, help="The program gets BATON_URL, BATON_TOKEN and BATON_CLAIM_ID.")
@click.option("--verbose", is_flag=True, help="Tell at once what programs say on standard error.")
@click.option("--name", metavar="TEXT", help="The worker's name in trails; by default the machine's and a number.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def command(app: CommandContext, /, **said: Any) -> int:
    """Do an agent's work with a program.

    Claims the agent's tasks one after the other, and runs PROGRAM for each: the task comes as JSON on its standard
    input; exit code 0 with JSON on its standard output completes the task, 75 fails it so that it is tried again, any
    other fails it with the end of standard error. docs/guides/run-a-worker.md tells the rest.

    \b
    baton worker --agent qa -- ./run.sh
    baton worker --routes agents.toml
    """
    if os.name != "posix":
        raise Misused("baton worker needs Linux or macOS", "it holds programs by process groups and signals")
    from baton_cli.worker.log import Log
    from baton_cli.worker.signals import serve
    from baton_cli.worker.supervisor import RunOptions, ShutdownStage, Supervisor

    log = Log()
    options = RunOptions(
        most=1 if said["once"] or said["task"] else None,
        idle_seconds=_length(said["idle_timeout"]),
        first_stop=ShutdownStage.STOPPING if said["on_term"] == "release" else ShutdownStage.FINISHING,
    )
    pollers = _pollers(app, said, log)
    for poller in pollers:
        if poller.work.is_text:
            log.about(agent=poller.work.agent)("text", TEXT_WARNING)
    supervisor = Supervisor(pollers, options, log)
    got = serve(supervisor, log)
    for poller in pollers:
        if poller.bell is not None:
            poller.bell.close()
        poller.api.close()
    app.has_changed = True
    app.out.show(summary(supervisor), lambda screen: _draw(screen, supervisor))
    return _exit(supervisor, got, is_one=options.most == 1)


def summary(supervisor: Supervisor) -> dict[str, int]:
    """Returns how many tasks had which outcome."""
    from baton_cli.worker.job import JobOutcome

    return {outcome.value: supervisor.outcomes[outcome] for outcome in JobOutcome}


def _draw(screen: Screen, supervisor: Supervisor) -> None:
    screen.line(", ".join(f"{count} {name}" for name, count in summary(supervisor).items()))


def _exit(supervisor: Supervisor, got: int | None, *, is_one: bool) -> int:
    import signal

    from baton_cli.worker.job import JobOutcome
    from baton_client.errors import NoAnswer, Refused

    if isinstance(supervisor.fatal, str):
        raise Failure("the worker has stopped", supervisor.fatal)
    if supervisor.fatal is not None:
        raise Refused(supervisor.fatal.status, supervisor.fatal.json if isinstance(supervisor.fatal.json, dict) else {})
    if got == signal.SIGINT:
        return ExitCode.INTERRUPTED
    if is_one and supervisor.is_cut_off:
        raise NoAnswer("no task was done", "Baton didn't answer", "try `baton doctor`")
    undone = sum(supervisor.outcomes.values()) - supervisor.outcomes[JobOutcome.DONE]
    return ExitCode.FAILED if is_one and undone else ExitCode.OK


def _pollers(app: CommandContext, said: dict[str, Any], log: Log) -> list[Poller]:
    from functools import partial
    from threading import BoundedSemaphore

    from baton_cli.worker.outage_log import LoggedApi, OutageLog
    from baton_cli.worker.poller import POLLS_OF_A_TOKEN, Poller, poll_seconds
    from baton_cli.worker.report_spool import ReportSpool, spool_folder
    from baton_client.bell import Bell
    from baton_client.caller import Caller

    works, idle = _works(app, said), max(1.0, _length(said["idle_timeout"]) or math.inf)
    spool = ReportSpool(spool_folder())
    tokens = [work.profile.token for work in works]
    outages = {work.profile.url: OutageLog(log) for work in works}
    poll_slots = {token: BoundedSemaphore(POLLS_OF_A_TOKEN) for token in tokens}
    return [
        Poller(
            api=LoggedApi(Caller(work.profile), outages[work.profile.url]),
            work=work,
            poll_slots=poll_slots[work.profile.token],
            spool=spool,
            poll_seconds=min(poll_seconds(tokens.count(work.profile.token)), idle),
            task_id=said["task"],
            bell=None
            if said["task"]
            else Bell(work.profile, f"work:{work.agent}", partial(log.about(agent=work.agent), "no_bell")),
        )
        for work in works
    ]


def _works(app: CommandContext, said: dict[str, Any]) -> list[AgentWork]:
    from baton_cli.worker.agent_work import AgentWork
    from baton_cli.worker.routes_file import checked, seconds, works_of

    profile = app.profile
    usual = AgentWork(
        agent=said["agent"] or profile.agent,
        command=said["program"],
        profile=profile,
        worker=said["name"] or f"{socket.gethostname()}-{os.getpid()}"[:100],
        concurrency=said["concurrency"],
        lease_seconds=int(seconds(said["lease"])),
        time_limit_seconds=_length(said["time_limit"]) or None,
        grace_seconds=seconds(said["grace"]),
        is_text=said["is_text"],
        lends_token=said["lend_token"],
        is_verbose=said["verbose"],
        memories=said["memories"],
    )
    if said["routes"] is not None:
        if said["program"] or said["agent"] or said["task"]:
            raise Misused("--routes goes without an agent, a task or a program", "the file names them")
        return works_of(said["routes"].absolute(), usual, lambda name: _profile(app, name))
    if not usual.agent:
        raise Misused("no agent", "neither --agent nor the profile names one", "baton worker --agent SLUG -- PROGRAM")
    if not usual.command:
        raise Misused("no program", "it stands after --", "baton worker --agent SLUG -- PROGRAM")
    return [checked(usual)]


def _profile(app: CommandContext, name: str) -> Any:
    from baton_client.profiles import profile_from

    # The file names this profile, so the environment's address and token don't apply.
    others = {key: value for key, value in os.environ.items() if not key.startswith("BATON_")}
    return profile_from({**app.flags, "profile": name}, others)


def _length(said: str | None) -> float | None:
    from baton_cli.worker.routes_file import seconds

    return None if said is None else seconds(said)
