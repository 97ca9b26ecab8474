"""Changes of the workspace: each has its record in the same transaction, with the true old and new values. A
change that loosens a rule has the names of two administrators, unless there is only one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulation.oracle.items import to_ms
from simulation.oracle.trust.loosening import is_looser
from simulation.oracle.trust.people import ADMINISTRATOR, BEGIN_MS

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.trust.people import People
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

# The fields of a record that stay as requested. The record of a token gets the token's id.
ASKED = ("by", "at", "subject", "before")
STEPS = {
    "pending": {"applied", "approved", "refused", "withdrawn", "expired"},
    "approved": {"applied", "refused", "withdrawn", "expired"},
}
BOOKKEEPING = {"pk", "sk", "version", "updated_at", "updated_by", "written_by", "schema"}
OPERATOR = "baton:operator"  # whoever runs the deployment, and has the table itself
IN_JSON = {"groups": "{}", "approval_rules": "[]"}
# Their items are in another form than their records.
NOT_COMPARED = {"guardrails", "tracker", "holidays"}


class Changes:
    """``items``: the records, by id."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, people: People) -> None:
        self._sim, self._must, self._ledger, self._people = sim, verdict.must, ledger, people
        self.items: dict[str, Item] = {}
        self._asked_at: dict[str, int] = {}  # at which step each record was first written

    def is_written(self, tx: Transaction, change_id: str, old: Item | None, new: Item | None) -> None:
        self._must(new, "{} was deleted", change_id)
        if new is None:
            return
        self.items[change_id] = new
        tx.changed.records[change_id] = old, new
        self._ledger.seen[f"change {new['state']}"] += 1
        if old is None:
            self._asked_at[change_id] = self._sim.steps
            self._must(new["state"] in ("applied", "pending"), "{} begins as {}", change_id, new["state"])
            return
        differs = [name for name in ASKED if old.get(name) != new.get(name)]
        self._must(not differs, "{}: {} changed", change_id, differs)
        is_step = new["state"] in STEPS.get(old["state"], ())
        self._must(is_step, "{} went from {} to {}", change_id, old["state"], new["state"])
        if "decided_by" in new and new["decided_by"] != old.get("decided_by"):
            self._is_decided(change_id, old, new)

    def are_recorded(self, tx: Transaction) -> None:
        changed = tx.changed
        applied = [new for old, new in changed.records.values() if new["state"] == "applied"]
        if changed.settings:
            self._settings(*changed.settings, [each for each in applied if each["subject"] == "settings"])
        for old, new in changed.tokens:
            self._token(old, new, [each for each in applied if each["subject"] == "tokens"])
        self._people_ended([each for each in applied if each["subject"] == "approvals"])
        for kind, name, before, after in changed.registry:
            found = [each for each in applied if each["subject"] == f"{kind}s" and each["names"] == [name]]
            self._must(found, "{} {} was changed, and no record tells of it", kind, name)
            if kind == "agent" and before is not None:
                self._agent(name, before, after, found)

    def _people_ended(self, records: list[Item]) -> None:
        for record in records:
            request = self._sim.current.process.request
            is_by_caller = request is None or request.by.key == record["by"]
            has = self._people.present_rank(record["by"].removeprefix("human:"))
            is_right = is_by_caller and (record["by"] == f"human:{OPERATOR}" or has >= ADMINISTRATOR)
            self._must(is_right, "{} has ended what rests on {}", record["by"], record["names"])
            self._ledger.seen["approvals ended"] += 1
            at = _side(record, "after").get("approvals_ended_at")
            self._must(at, "{} tells of no time", record["names"])
            at_ms = to_ms(at) - BEGIN_MS if at else 0
            self._people.has_ended(record["names"][0].removeprefix("human:"), at_ms)

    def _is_decided(self, change_id: str, old: Item, new: Item) -> None:
        """The asker withdraws; an approval that isn't used yet they may refuse as well."""
        request, by = self._sim.current.process.request, new["decided_by"]
        is_caller = request is None or request.by.key == by
        is_blind = request is not None and request.is_blind
        self._must(not is_blind, "{} is decided by {}, who has seen another one", change_id, by)
        self._must(is_caller, "{} is decided by {}, and {} asked", change_id, by, request)
        is_own = by == new["by"]
        ends = {"withdrawn", "refused"} if old["state"] == "approved" and is_own else {"withdrawn"}
        self._must(is_own == (new["state"] in ends), "{} is {} by {}", change_id, new["state"], by)
        has = self._people.present_rank(by.removeprefix("human:"))
        self._must(is_own or has >= ADMINISTRATOR, "{} is decided by {}, who is no administrator", change_id, by)

    def _settings(self, old: Item | None, new: Item, records: list[Item]) -> None:
        before = old or {}
        differ = {name for name in {*before, *new} - BOOKKEEPING if before.get(name) != new.get(name)}
        if old is None or not differ:
            return
        self._must(len(records) == 1, "the settings changed ({}), and {} records tell of it", differ, len(records))
        for record in records[:1]:
            self._must({*record["names"]} == differ, "{} changed, the record tells of {}", differ, record["names"])
            for name in differ - NOT_COMPARED:
                told = (_told(record, "before", name), _told(record, "after", name))
                known = (_known(before, name), _known(new, name))
                self._must(told == known, "{} changed from {} to {}, the record tells of {}", name, *known, told)
            if is_looser(*_rules(before), *_rules(new)):
                self._takes_two(record, "the rules are loosened")

    def _agent(self, slug: str, before: Item, after: Item, records: list[Item]) -> None:
        """The present rules apply: an edit requires the settings that it was judged by. An approved edit is of the
        agent as it was at the request."""
        asked_at = self._asked_at[records[0]["sk"]]
        since = [now["version"] for at, now in self._ledger.agents[slug] if at > asked_at]
        is_seen = "decided_by" not in records[0] or since == [after["version"]]
        self._must(is_seen, "{} is changed by {}, and was changed since: {}", slug, records[0]["sk"], since)
        self._ledger.seen["agent changed by two"] += "decided_by" in records[0]
        for rule in self._sim.oracle.voters.rules_now():
            if rule.get("target") not in (None, slug) or not rule.get("work_type"):
                continue
            if _accepts(after, rule["work_type"]) and not _accepts(before, rule["work_type"]):
                is_vouched = (slug, after["version"]) not in self._ledger.unvouched
                self._must(is_vouched, "{} comes under {}, by {}", slug, rule, after["updated_by"])
                self._ledger.seen["entered a rule"] += 1
            if _accepts(before, rule["work_type"]) and not _accepts(after, rule["work_type"]):
                self._takes_two(records[0], f"{slug} leaves {rule}")
                self._ledger.seen["left a rule"] += 1

    def _token(self, old: Item | None, new: Item, records: list[Item]) -> None:
        """Sessions have no record: they grant nothing that their tokens don't."""
        is_end = old is not None and "revoked_at" in new and "revoked_at" not in old
        if "session_of" in new or not (old is None or is_end):
            return
        name = f"{new['kind']}:{new['subject']}"
        found = [each for each in records if name in each["names"] and each.get("after" if old is None else "before")]
        self._must(found, "a token of {} was made or revoked, and its record is {}", name, records)
        for record in found[:1]:
            said = _side(record, "after" if old is None else "before")
            self._must(said.get("id") == new["id"], "the record of token {} tells of {}", new["id"], said)
            if new["kind"] == "human" and self._people.rank_of(new["id"]) == ADMINISTRATOR:
                self._of_administrator(record, new, is_end=is_end)
            is_other = new["kind"] == "human" and record["by"] != name
            if not is_end and is_other and self._people.had_token(new["subject"], new["id"]):
                self._takes_two(record, f"a token of {name} is made", beside={new["subject"]})

    def _of_administrator(self, record: Item, token: Item, *, is_end: bool) -> None:
        """A new one, or the end of another's right, takes a second one."""
        name = token["subject"]
        is_other = record["by"] != f"human:{name}"
        if is_end and is_other and self._people.surely_ends(name, token["id"], ADMINISTRATOR):
            self._takes_two(record, f"{name} is no administrator any more", beside={name})
        if not is_end and self._people.highest_without(name, token["id"]) < ADMINISTRATOR:
            self._takes_two(record, f"{name} becomes an administrator", beside={name})

    def _takes_two(self, record: Item, what: str, beside: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        """``beside``: the people that the change is about. They don't count as the second administrator."""
        asker = record["by"].removeprefix("human:")
        if asker == OPERATOR:
            return
        others = self._people.surely_here(ADMINISTRATOR) - {asker, *beside}
        decider = record.get("decided_by")
        is_alone = not others and decider is None
        is_by_two = decider is not None and decider != record["by"]
        for name in filter(None, (asker, (decider or "").removeprefix("human:"))):
            is_there = self._people.present_rank(name) >= ADMINISTRATOR
            self._must(is_there, "{}, and {}, who asked or approved, is no administrator any more", what, name)
        self._must(is_alone or is_by_two, "{}, by {} alone, and {} administer, too", what, record["by"], others)
        self._ledger.seen["loosened by two" if is_by_two else "loosened alone"] += 1


def _rules(settings: Item) -> tuple[str, str]:
    return settings.get("approval_rules") or "[]", settings.get("groups") or "{}"


def _accepts(agent: Item, work_type: str) -> bool:
    types = agent.get("accepts") or ()
    return work_type in types or not (types or agent.get("produces"))


def _told(record: Item, which: str, name: str) -> Any:
    return _plain(_side(record, which).get(name))


def _side(record: Item, which: str) -> Item:
    value = record.get(which) or {}
    side: Item = json.loads(value) if isinstance(value, str) else value
    return side


def _known(settings: Item, name: str) -> Any:
    value = settings.get(name)
    return _plain(json.loads(value or IN_JSON[name]) if name in IN_JSON else value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each not in (None, [], {}, False)}
    if isinstance(value, list | tuple | set):
        return [_plain(each) for each in value]
    return value
