"""Questions to people: nothing is done that not enough different people have approved exactly, once, in time; who is
asked decides, and what is over stays as it is. What people have said is counted anew here, from the trail."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED
from simulation.oracle.trust.people import APPROVER, BEGIN_MS, MEMBER
from simulation.oracle.voters import Circle

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.standing import StandingRules
    from simulation.oracle.verdict import Verdict
    from simulation.oracle.voters import Moment, Voters
    from simulation.simulation import Simulation

    Word = tuple[str, str | None, str]

# What of a question may change once it was asked.
CHANGING = {"decisions", "wishes", "outcome", "used_at", "told_at", "version", "written_by", "queue_pk", "queue_sk"}
OPEN, APPROVED = "open", "approved"


@dataclass(eq=False)
class Asked:
    """``words``: by human, what they have said last; ``outcome``: what that comes to. ``standing``: by human, the
    standing answer that spoke for them; ``gave``: the standing answer that they gave with their own decision."""

    id: str
    task_id: str
    agent: str
    digest: str | None
    until_ms: int
    circles: tuple[Circle, ...]
    agent_version: int  # the last one by a service or a member, when it was asked
    tool: str | None = None
    words: dict[str, Word] = field(default_factory=dict)
    said_at: dict[str, Moment] = field(default_factory=dict)
    standing: dict[str, str] = field(default_factory=dict)
    gave: dict[str, str] = field(default_factory=dict)
    outcome: str = OPEN
    word: Word | None = None
    is_used: bool = False

    @property
    def approved_digest(self) -> str | None:
        return self.word[1] if self.word and self.outcome == APPROVED else None


class QuestionRules:
    """``items``: as they are stored, by id."""

    def __init__(
        self, sim: Simulation, verdict: Verdict, ledger: Ledger, voters: Voters, standing: StandingRules
    ) -> None:
        self._sim, self._verdict, self._ledger, self._voters, self._standing = sim, verdict, ledger, voters, standing
        self.items: dict[str, Item] = {}
        self._asked: dict[str, Asked] = {}
        self._of_task: dict[str, list[Asked]] = defaultdict(list)
        # By task and target.
        self._made: Counter[tuple[str, str]] = Counter()

    def digests(self, question_id: str) -> tuple[str | None, str | None]:
        """Of what was approved, and of what was asked."""
        asked = self._asked[question_id]
        return asked.approved_digest, asked.digest

    # Writes

    def is_written(self, tx: Transaction, question_id: str, old: Item | None, new: Item | None) -> None:
        if new is None:
            self._verdict.fail(f"{question_id} was deleted")
            return
        tx.questions[question_id] = (old, new)
        self.items[question_id] = new
        changed = {name for name in {*(old or new), *new} if (old or new).get(name) != new.get(name)}
        self._must(question_id, changed <= CHANGING, "{} changed", changed - CHANGING)
        is_listed = new["outcome"] == OPEN
        self._must(question_id, ("queue_pk" in new) == is_listed, "{}, in the list or not", new["outcome"])

    def told(self, tx: Transaction, task_id: str, fold: Item, entry: Item) -> None:
        """An entry of a task's trail about a question. ``fold``: before it."""
        data, kind = entry["data"], entry["type"]
        question_id = data["question_id"]
        if kind == "question_asked":
            self._is_asked(tx, task_id, fold, entry)
            return
        asked = self._asked.get(question_id)
        if asked is None or asked.task_id != task_id:
            self._must(question_id, None, "{} without its question", kind)
            return
        is_open = asked.outcome == OPEN
        self._ledger.seen[f"{kind} {data.get('outcome', '')}".strip()] += 1
        if kind == "question_decided":
            self._must(question_id, is_open, "is {}, and was decided", asked.outcome)
            self._is_decided(tx, asked, entry)
        elif kind == "question_expired":
            self._must(question_id, is_open, "is {}, and has expired", asked.outcome)
            self._must(question_id, to_ms(entry["at"]) >= asked.until_ms, "expired too early")
            asked.outcome = "expired"
        elif kind == "approval_revoked":
            is_right = asked.outcome == APPROVED and not asked.is_used
            self._must(question_id, is_right, "is {}, used: {}, and was revoked", asked.outcome, asked.is_used)
            approved, asked.outcome = asked.approved_digest, "revoked"
            self._standing.are_ended(asked, [*asked.standing.values(), *asked.gave.values()])
            self._standing.is_refused(asked, approved, asked.digest)
        else:
            self._is_used(tx, asked, fold, entry)
        self._is_as_told(tx, asked)

    def are_left(self, tx: Transaction, task_id: str, head: Item) -> None:
        """After all entries: each is open in its task as long as it is, and a task waits for some that are."""
        for asked in self._of_task[task_id]:
            if asked.id in tx.questions and head["state"] in ENDED and asked.outcome == OPEN:
                is_over = asked.until_ms <= to_ms(head["updated_at"])
                asked.outcome = "expired" if is_over else "withdrawn"
                self._is_as_told(tx, asked)
        present = {asked.id for asked in self._of_task[task_id] if asked.outcome == OPEN}
        if head["state"] in ENDED:
            self._verdict.must(not present, "{}: has ended, and its questions {} are open", task_id, present)
            return
        known = {each["id"] for each in head.get("questions", ())}
        self._verdict.must(known == present, "{}: knows of {}, open are {}", task_id, known, present)
        wanted = set((head.get("wait") or {}).get("questions", ()))
        is_over = bool(wanted) and not wanted & present
        self._verdict.must(not is_over, "{}: waits for answers, and all of them are there", task_id)

    def are_asked(
        self, question_id: str, people: tuple[str, ...], group: str | None, needed: int, *, author: str
    ) -> None:
        """Those whom the worker wanted to ask. ``author``: who may not answer either, if there is somebody."""
        circle, *further = self._asked[question_id].circles
        if further or self._sim.oracle.tool_rules.may_have_chosen(question_id):
            return
        said = (circle.people, circle.groups, circle.needed)
        is_same = said == (people, (group,) if group else (), needed) and (not author or author in circle.never)
        self._must(
            question_id, is_same, "{} are asked, and {} were to be, but {}", circle, (people, group, needed), author
        )

    def have_their_reason(self, tx: Transaction) -> None:
        self._verdict.must(not tx.questions, "changed without a word of the trail: {}", list(tx.questions))

    def resumed(self, task_id: str, wait: Item, brought: Item) -> None:
        """Once all are closed, with what has become of each."""
        wanted = [self._asked[each] for each in wait["questions"]]
        is_open = [each.id for each in wanted if each.outcome == OPEN]
        self._verdict.must(not is_open, "{}: goes on, and {} are open", task_id, is_open)
        said = [
            (each["question_id"], each["outcome"], each.get("digest"), json.dumps(each.get("answer")))
            for each in brought.get("answers", ())
        ]
        known = [
            (
                each.id,
                each.outcome,
                each.approved_digest,
                each.word[2] if each.word and each.outcome == "answered" else "null",
            )
            for each in wanted
        ]
        self._verdict.must(said == known, "{}: goes on with {}, people said {}", task_id, said, known)
        told = [each for each in brought.get("answers", ()) if each["outcome"] == "expired" and len(each) > 2]
        self._verdict.must(not told, "{}: nobody decided, and it is told {}", task_id, told)
        self._ledger.seen["resumed with answers"] += 1

    # When all is quiet

    def are_waited_for(self, now_ms: int) -> None:
        """What nobody can answer any more doesn't wait for an answer."""
        for asked in self._asked.values():
            is_over = asked.outcome != OPEN or asked.until_ms > now_ms
            self._must(asked.id, is_over, "is open, days after its end")

    def lets_run_make(self, parent: str, head: Item) -> None:
        """What a run hands off by a tool whose calls people approve: no more than was approved and used. ``head``: of
        the new task."""
        tools = {each.tool for each in self._of_task[parent] if each.tool and each.tool[-1] == head.get("target_agent")}
        used = sum(each.is_used for each in self._of_task[parent] if each.tool in tools)
        self._made[parent, head["target_agent"]] += 1
        made = self._made[parent, head["target_agent"]]
        self._verdict.must(made <= used, "{}: has handed off {} times to {}, approved were {}", parent, made,
            head["target_agent"], used)  # fmt: skip
        self._ledger.seen["approved call"] += 1

    def open_ids(self) -> set[str]:
        return {each.id for each in self._asked.values() if each.outcome == OPEN}

    # Entries

    def _is_asked(self, tx: Transaction, task_id: str, fold: Item, entry: Item) -> None:
        data = entry["data"]
        old, new = tx.questions.get(data["question_id"], ({}, None))
        if old is not None or new is None:
            self._must(data["question_id"], None, "was asked, and isn't new")
            return
        every = [json.loads(new["approvers"]), *json.loads(new.get("further") or "[]")]
        action = json.loads(new["action"]) if new.get("action") else None
        asked = Asked(
            id=new["id"],
            task_id=task_id,
            agent=new["agent"],
            digest=_digest({"arguments": action["arguments"], "tool": action["tool"]}) if action else None,
            until_ms=to_ms(new["until"]),
            tool=action["tool"] if action else None,
            agent_version=max((at for slug, at in self._ledger.unvouched if slug == new["agent"]), default=0),
            circles=tuple(_circle(each, APPROVER if action else MEMBER) for each in every),
        )
        self._asked[asked.id] = asked
        self._of_task[task_id].append(asked)
        self._sim.oracle.tool_rules.is_asked(asked, self._ledger.heads[task_id])
        self._must(asked.id, asked.agent == fold["claim"]["agent"], "asked in the name of {}", asked.agent)
        self._must(asked.id, data.get("digest") == asked.digest, "the trail tells of another action")
        self._must(asked.id, asked.until_ms > to_ms(entry["at"]), "asked when its time was over")
        for decision in json.loads(new["decisions"]):
            self._must(asked.id, decision["standing"], "{} has decided before it was asked", decision["by"])
            self._standing.speaks(tx, asked, decision, entry)
            self._counts(asked, decision, (APPROVED, decision["digest"], "null"))
            asked.standing[decision["by"]] = decision["standing"]
        self._must(asked.id, data.get("outcome", OPEN) == asked.outcome, "told as {}", data.get("outcome"))
        self._must(asked.id, sorted(asked.words) == data.get("approved_by", []), "approved by {}", data)
        self._ledger.seen[f"asked, {asked.outcome}"] += 1
        self._is_as_told(tx, asked)

    def _is_decided(self, tx: Transaction, asked: Asked, entry: Item) -> None:
        data, human = entry["data"], entry["principal_id"]
        new = tx.questions.get(asked.id, (None, {"decisions": "[]"}))[1]
        own = [each for each in json.loads(new["decisions"]) if each["by"] == human]
        is_told = len(own) == 1 and (own[0]["outcome"], own[0]["digest"]) == (data["decided"], data.get("digest"))
        self._must(asked.id, is_told, "{} has decided {}, and it keeps {}", human, data, own)
        self._must(asked.id, to_ms(entry["at"]) < asked.until_ms, "decided after its end")
        if not is_told:
            return
        changed = own[0]["arguments"]
        meant = asked.digest if changed is None else _digest({"arguments": changed, "tool": asked.tool})
        is_same = data["decided"] != APPROVED or data.get("digest") == meant
        self._must(asked.id, is_same, "{} has approved another action than they saw or named", human)
        spoke = [*asked.standing.values()]
        asked.standing.pop(human, None)
        answer = json.dumps(own[0]["answer"])
        self._counts(asked, own[0], (data["decided"], data.get("digest"), answer))
        self._must(asked.id, data["outcome"] == asked.outcome, "told as {}, is {}", data["outcome"], asked.outcome)
        self._begin(tx, asked, json.loads(new["decisions"]))
        if asked.outcome == "refused":
            self._standing.are_ended(asked, spoke)
            if asked.digest is not None:
                self._standing.is_refused(asked, asked.digest)

    def _begin(self, tx: Transaction, asked: Asked, decisions: list[Item]) -> None:
        """Standing answers begin with the approval of their question alone, for those who gave it."""
        for each in decisions:
            by, answer_id = each["by"], each["standing"]
            if answer_id is None or answer_id == asked.standing.get(by):
                continue
            is_approver = asked.outcome == APPROVED and each["digest"] == asked.approved_digest
            self._must(asked.id, is_approver, "is {}, and {} of {} began", asked.outcome, answer_id, by)
            self._standing.is_given(tx, answer_id, by, asked, each)
            asked.gave[by] = answer_id

    def _counts(self, asked: Asked, decision: Item, word: Word) -> None:
        """What one says counts as often as they say it: once. A refusal is enough."""
        human = decision["by"]
        is_asked = any(self._voters.may_count(each, human) for each in asked.circles)
        self._must(asked.id, is_asked, "{} has decided, and isn't asked", human)
        dated_ms = to_ms(decision["at"]) - BEGIN_MS
        asked.words[human], asked.said_at[human] = word, replace(self._voters.now(), dated_ms=dated_ms)
        alike = {each: asked.said_at[each] for each, said in asked.words.items() if said == word}
        if word[0] == "refused":
            asked.outcome, asked.word = "refused", word
            return
        stored = self.items[asked.id]["outcome"]
        if all(self._voters.surely_suffice(each, alike) for each in asked.circles) or (
            stored == word[0] and all(self._voters.may_suffice(each, alike) for each in asked.circles)
        ):
            asked.outcome, asked.word = word[0], word

    def _is_used(self, tx: Transaction, asked: Asked, fold: Item, entry: Item) -> None:
        data, agent = entry["data"], fold["claim"]["agent"]
        self._must(asked.id, asked.outcome == APPROVED, "is {}, and was used", asked.outcome)
        self._must(asked.id, not asked.is_used, "was used twice")
        self._must(asked.id, agent == asked.agent, "{} has asked, and {} used it", asked.agent, agent)
        self._must(asked.id, to_ms(entry["at"]) < asked.until_ms, "was used after its end")
        is_same = data["digest"] == asked.approved_digest
        self._must(asked.id, is_same, "{} was approved, and {} done", asked.approved_digest, data["digest"])
        approved = {by: asked.said_at[by] for by, said in asked.words.items() if said == asked.word}
        most = max(each.needed for each in asked.circles)
        self._must(asked.id, len(approved) >= most, "approved by {} alone", list(approved))
        is_enough = all(self._voters.may_suffice(each, approved) for each in asked.circles)
        self._must(asked.id, is_enough, "used, and of {} some left", list(approved))
        self._standing.is_begun(tx, asked, [asked.standing[by] for by in approved if by in asked.standing])
        asked.is_used = True

    def _is_as_told(self, tx: Transaction, asked: Asked) -> None:
        """Its item says what the trail does."""
        _, new = tx.questions.pop(asked.id, (None, self.items[asked.id]))
        is_stored = new["outcome"] == asked.outcome
        self._must(asked.id, is_stored, "stored as {}, is {}", new["outcome"], asked.outcome)
        self._must(asked.id, ("used_at" in new) == asked.is_used, "stored as used or not, and it is otherwise")
        own = {each["by"] for each in json.loads(new["decisions"]) if each["outcome"] != "revoked"}
        self._must(asked.id, own <= set(asked.words), "stored with decisions of {}", own)
        for human in set(asked.words) - own:
            is_here = self._voters.surely_suffice(_alone(asked), {human: asked.said_at[human]})
            self._must(asked.id, not is_here, "the decision of {} is gone", human)
            del asked.words[human], asked.said_at[human]
            asked.standing.pop(human, None)

    def _must(self, question_id: str, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{question_id}: {what.format(*details)}")


def _alone(asked: Asked) -> Circle:
    """Any one person with the right that the question requires."""
    return Circle(needed=1, rank=asked.circles[0].rank)


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _circle(approvers: Item, rank: int) -> Circle:
    return Circle(
        needed=approvers["needed"],
        rank=rank,
        people=tuple(approvers["people"]),
        groups=tuple(each for each in (approvers["group"],) if each),
        never=frozenset(approvers["never"]),
    )
