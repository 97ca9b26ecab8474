"""One episode: a workspace is settled, everybody acts while things go wrong, the power goes off, and what is left must
come to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.actors.actor_context import ActorContext
from simulation.actors.administrators import Administrator
from simulation.actors.bell import BellCaller, BellPage, BellWorker, Silencer, Waiter
from simulation.actors.calm import CalmDays
from simulation.actors.calm_bell import BellDays
from simulation.actors.clients import Client
from simulation.actors.deciders import Chief, Decider
from simulation.actors.editors import Editor
from simulation.actors.listeners import Listener
from simulation.actors.people import settle
from simulation.actors.readers import Reader
from simulation.actors.strangers import Stranger
from simulation.actors.trust.hostile_agents import HostileAgent
from simulation.actors.trust.leavers import Leaver
from simulation.actors.trust.rule_editors import RuleEditor
from simulation.actors.trust.splitters import Splitter
from simulation.actors.workers import Worker
from simulation.habits import PULL, Focus, habits_of
from simulation.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUIET_DAYS = 5
LAST_STEPS = 200
# In one of so many seeds everything is brought to its end, which takes as long as it all did before.
FINISHED = 3


def play(
    seed: int, changes: dict[str, Any] | None = None, choices: Sequence[int] | None = None, *, is_traced: bool = False
) -> Simulation:
    """``changes``: of the seed's habits; ``choices``: instead of the seed's."""
    changes = changes or {}
    asks, trusts = changes.get("has_questions", True), changes.get("has_trust", True)
    habits = habits_of(seed, changes.get("focus"), asks=asks, trusts=trusts).changed(changes)
    sim = Simulation(seed, habits, choices, is_traced=is_traced)
    context = ActorContext(sim, settle(sim))
    stranger = Stranger(context) if sim.habits.has_strangers else None
    editor = Editor(context) if sim.habits.has_tracker else None
    listeners = [Listener(context) for _ in range(sim.habits.crowd)]
    sim.fault_source.is_calm = False
    _begin(context)
    if stranger:
        sim.spawn("stranger", stranger.act)
    if editor:
        _spawn(sim, "editor", [editor.act] * sim.habits.crowd)
    if sim.habits.focus in (Focus.TALKS, Focus.RUNS, Focus.NONE):
        _spawn(sim, "listener", [each.act for each in listeners])
    sim.scheduler.run(sim.habits.steps)
    sim.is_stopping = True
    if sim.draw(2):  # some finish what they are at
        sim.scheduler.run(sim.steps + LAST_STEPS)
    sim.power_off()
    calm, quiet = BellDays(context) if sim.habits.has_bell else CalmDays(context), sim.oracle.quiet
    is_finished = seed % FINISHED == 1 or sim.habits.has_bell
    phases: list[Callable[[], object]] = [
        calm.begin,
        lambda: calm.pass_by(QUIET_DAYS),
        quiet.nobody_moved_for_days,
        *([calm.everybody_finishes, quiet.everybody_has_finished] if is_finished else []),
        quiet.everything_adds_up,
        *(each.hear_out for each in listeners),
        listeners[0].find_all,
        sim.oracle.lists.conversations_are_right,
    ]
    for phase in phases:
        if not sim.scheduler.is_stopped:
            _play_phase(sim, phase)
    return sim


def _play_phase(sim: Simulation, phase: Callable[[], object]) -> None:
    try:
        phase()
    except Exception as exc:  # noqa: BLE001 - the oracle judges it
        sim.oracle.verdict.actor_raised("quiet times", exc)


def _begin(context: ActorContext) -> None:
    sim, draw = context.sim, context.draw
    is_asking = context.habits.focus in (Focus.QUESTIONS, Focus.TRUST)
    for number in range(3 + draw(6) if context.habits.is_hot and not is_asking else 1 + draw(4)):
        sim.spawn(f"client{number}", Client(context).act)
    for slug in context.habits.workers:
        sim.spawn(f"worker {slug}", Worker(context, slug).act)
    if sim.habits.has_readers:
        _spawn(sim, "reader", [Reader(context).act] * sim.habits.crowd)
    if sim.habits.has_stewards:
        _spawn(sim, "steward", [Administrator(context).act] * sim.habits.crowd)
    if sim.habits.has_bell:
        _listen(context)
    if sim.habits.has_questions:
        many = 3 if sim.habits.focus in (Focus.QUESTIONS, Focus.TRUST) else 1
        _spawn(sim, "decider", [Decider(context).act] * many)
        sim.spawn("chief", Chief(context).act)
    if sim.habits.has_trust:
        _attack(context)
    sim.lambdas.begin()


def _attack(context: ActorContext) -> None:
    """Starts one attacker of each kind, or two if the seed focuses on trust."""
    many = 2 if context.habits.focus is Focus.TRUST else 1
    for kind in (HostileAgent, Splitter, RuleEditor, Leaver):
        _spawn(context.sim, kind.__name__, [kind(context).act for _ in range(many)])
    _spawn(context.sim, "agent editor", [RuleEditor(context).edit_agents] * many)
    _spawn(context.sim, "second administrator", [RuleEditor(context).decide] * many)


def _listen(context: ActorContext) -> None:
    slugs = [context.sim.pick(PULL) for _ in range(1 + context.draw(3))]
    waiters: list[Waiter] = [BellWorker(context, slug) for slug in slugs]
    waiters += [BellPage(context), BellCaller(context), BellPage(context, slugs[0])][: 1 + context.draw(3)]
    for waiter in waiters:
        context.sim.spawn(type(waiter).__name__, waiter.act)
    context.sim.spawn("silencer", Silencer(context).act)


def _spawn(sim: Simulation, name: str, acts: Sequence[Callable[[], object]]) -> None:
    for number, act in enumerate(acts):
        sim.spawn(f"{name}{number or ''}", act)
