"""Alerts: each is raised once, stays until a human has dealt with it, and is where humans look until then."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from simulation.oracle.items import item_of, to_ms
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

HOUR_MS, MAX_PER_HOUR = 3_600_000, 60
DEALT_WITH = ("acknowledged_at", "acknowledged_by", "resolved_at", "resolved_by")
SNOOZED = {"snoozed_until", "snoozed_at", "snoozed_by"}
CHANGES = {*DEALT_WITH, *SNOOZED, "note", "version", "written_by", "queue_pk", "queue_sk"}


class Alerts:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must
        # By caller and hour.
        self._raised: Counter[tuple[str, int]] = Counter()

    def is_written(self, alert_id: str, old: Item | None, new: Item | None) -> None:
        if new is None:
            self._must(new, "alert {} was deleted", alert_id)
        elif old is None:
            self._is_raised(alert_id, new)
        else:
            self._is_dealt_with(alert_id, old, new)
        if new is not None:
            state = "RESOLVED" if "resolved_at" in new else "ACKNOWLEDGED" if "acknowledged_at" in new else "OPEN"
            place = None if state == "RESOLVED" else f"WS#{WORKSPACE}#ALERTS-{state}"
            self._must(
                new.get("queue_pk") == place, "alert {} ({}) is kept in {}", alert_id, state, new.get("queue_pk")
            )

    def ids(self) -> set[str]:
        return set(self._sim.dynamo.items.get(f"WS#{WORKSPACE}#ALERTS", {}))

    def _is_raised(self, alert_id: str, new: Item) -> None:
        self._must(not any(each in new for each in DEALT_WITH), "alert {} is dealt with from the start", alert_id)
        request = self._sim.current.process.request
        if request is None or request.name != "alert":
            return
        by, hour = new["raised_by"], to_ms(new["raised_at"]) // HOUR_MS
        self._must(by == request.by.key, "alert {} of {} is told of {}", alert_id, request.by.key, by)
        self._raised[by, hour] += 1
        self._must(self._raised[by, hour] <= MAX_PER_HOUR, "{} has raised {} in an hour", by, self._raised[by, hour])

    def _is_dealt_with(self, alert_id: str, old: Item, new: Item) -> None:
        """By a human, once; what it says stays. It may be put off again and again until it is resolved."""
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        self._must(changed <= CHANGES, "alert {}: {} changed", alert_id, changed - CHANGES)
        again = [name for name in DEALT_WITH if name in old and name in changed]
        self._must(not again, "alert {}: {} was overwritten", alert_id, again)
        is_snoozed = not changed & set(DEALT_WITH)
        self._must(not (is_snoozed and "resolved_at" in old), "alert {} was put off after it was resolved", alert_id)
        by = [new["snoozed_by"]] if is_snoozed else [new[name] for name in changed & {"acknowledged_by", "resolved_by"}]
        is_human = len(by) == 1 and by[0].startswith("human:")
        self._must(is_human, "alert {} was dealt with by {}", alert_id, by)

    def are_shown(self) -> None:
        """When all is quiet: humans find each that nobody has resolved, and each flag has its own."""
        rows = self._sim.dynamo.items.get(f"WS#{WORKSPACE}#ALERTS", {})
        alerts = {alert_id: item_of(wire) or {} for alert_id, wire in rows.items()}
        told = {(alert.get("task_id"), alert["kind"]) for alert in alerts.values()}
        for task_id, head in self._ledger.heads.items():
            lacking = [flag for flag in head.get("flags", ()) if (task_id, flag) not in told]
            self._must(not lacking, "{}: nobody is told of {}", task_id, lacking)
        index = self._sim.dynamo.indexes["queue"].shown
        for state in ("OPEN", "ACKNOWLEDGED"):
            place = f"WS#{WORKSPACE}#ALERTS-{state}"
            shown = {sk for sk, _ in index.get(place, {})}
            there = {alert_id for alert_id, alert in alerts.items() if alert.get("queue_pk") == place}
            self._must(shown == there, "of the alerts that are {}, {} are shown wrongly", state, shown ^ there)
