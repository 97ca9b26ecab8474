"""Warnings about a handoff, a question or an action before a person decides on it, by the rules of docs/warnings.md.

The console has the same rules in JavaScript (functions/console/static/core/warnings/). Both pass the cases of
tests/support/warnings/cases.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from baton_cli.request_warnings.comparison import MOST_VALUES, Flat, differences, peers_of
from baton_cli.request_warnings.findings import Finding, in_order
from baton_cli.request_warnings.inspection import inspected, lookalikes
from baton_cli.request_warnings.places import leaves, texts
from baton_cli.request_warnings.references import new_references, references, sensitive_paths

__all__ = ["MOST_EARLIER", "Finding", "Report", "report"]

MOST_EARLIER = 20
# A new reference is named once, not also as a new or changed value.
REFERENCES, PLAIN = {"address", "account", "path", "command"}, {"value", "added"}
# Full paths of a handoff's view that identify it or record its progress. They differ in every handoff.
LEFT_OUT = frozenset(
    {"handoff_id", "task_id", "kind", "status", "state", "revision", "digest", "timestamp", "url", "completion"}
    | {"failure", "source.agent_id", "snapshot.taken_at", "snapshot.decision_ids", "snapshot.warning_ids"}
    | {"snapshot.finding_ids", "metadata.workflow_id", "metadata.parent_handoff", "metadata.depth", "metadata.hops"}
    | {"rollback.checkpoint_id", "rolls_back.handoff_id", "rolls_back.task_id", "rolls_back.checkpoint_id"}
    | {"retries.handoff_id", "retries.checkpoint_id", "retries.checkpoint.at"}
    | {"continues.handoff_id", "continues.completion_id"}
    | {"part_of.handoff_id", "part_of.task_id", "escalation.workflow_id", "conversation.earlier", "hops"}
)


@dataclass(frozen=True, slots=True)
class Report:
    """``warnings``: by kind, hidden and misleading texts first. ``usual``: other differences from the most similar
    earlier request. ``notable``: addresses, accounts, files and commands, if nothing was approved before.
    ``similar``: the number of that request in the list, None if none is similar."""

    warnings: list[Finding]
    usual: list[Finding]
    notable: list[Finding]
    compared: int
    similar: int | None


def report(now: Any, earlier: Sequence[Any]) -> Report:
    """Inspects a request and compares it with earlier approved ones, the newest first."""
    mine = list(texts(now, LEFT_OUT))
    theirs = [each for one in earlier for each in texts(one, LEFT_OUT)]
    flat, flats = Flat(list(leaves(now, LEFT_OUT))), [Flat(list(leaves(each, LEFT_OUT))) for each in earlier]
    peers = peers_of(flat, flats)
    found = [*inspected(list(texts(now))), *lookalikes(mine, theirs)]
    if flat.size > MOST_VALUES:
        found.append(Finding("uncompared", "", str(flat.size - MOST_VALUES)))
    if not earlier:
        found += [Finding("first", ""), *sensitive_paths(mine)]
    else:
        found += new_references(mine, theirs)
    compared = list(differences(flat, peers.flats or flats))
    if earlier and not peers.flats:
        found.append(Finding("unlike", "", str(len(earlier))))
        compared = [(each, is_odd) for each, is_odd in compared if is_odd and each.kind not in {"added", "removed"}]
    named = {each.at for each in found if each.kind in REFERENCES}
    found += [each for each, is_odd in compared if is_odd and not (each.kind in PLAIN and each.at in named)]
    return Report(
        in_order(found),
        [each for each, is_odd in compared if not is_odd],
        [] if earlier else list(references(mine)),
        len(earlier),
        peers.at[0] if peers.at else None,
    )
