"""Whether a change of the settings loosens a rule that binds people (docs/decisions/109-changes-of-a-workspace.md).

Three changes tighten: a new rule, a stricter rule, and a member who leaves a group. Any other change of rules,
groups or the tracker's rights loosens, except the groups of the first settings. So does a change after which other
edits of a page end its task. The comparison is by meaning: order and repetition don't count."""

from __future__ import annotations

from dataclasses import replace

from baton.domain.access.rights import Right
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.settings.settings import Settings
from baton.domain.settings.tracker_settings import TRACKER_RIGHTS, USUAL_TRACKER_RIGHT, TrackerSettings


def loosens(before: Settings, after: Settings) -> bool:
    """True if the change takes a second administrator."""
    rules_hold = all(any(_is_as_strict(new, old) for new in after.approval_rules) for old in before.approval_rules)
    return not rules_hold or _groups_loosen(before, after) or _tracker_loosens(before.tracker, after.tracker)


def counts_by_rule(settings: Settings, name: str, right: Right) -> bool:
    """True if a person of this name and right may give an approval that a rule asks for, or an answer that an agent
    asks a group for. A token of such a name in another person's hands decides in that name."""
    if any(name in members for members in settings.groups.values()):
        return True
    for rule in settings.approval_rules:
        is_open = not rule.people and rule.group is None and right.covers(Right.APPROVER)
        if name in rule.people or (is_open and (rule.needed > 1 or rule.not_author)):
            return True
    return False


def binds_otherwise(before: Settings, after: Settings) -> bool:
    """True if rules, groups, the tracker's rights or the edits of a page that end its task differ in meaning."""
    return _bindings(before) != _bindings(after)


def needs_reports(tracker: TrackerSettings | None) -> bool:
    """True if the webhook's signed reports keep people of the tracker from ending tasks. The rights of a tracker that
    is off may come back."""
    return tracker is None or tracker.rights_differ


def raised_in_tracker(before: TrackerSettings | None, after: TrackerSettings | None) -> frozenset[str]:
    """Returns the tracker's ids of people who get a higher right than they had."""
    if before is None:
        return frozenset()
    rank = TRACKER_RIGHTS.index
    new = {each: USUAL_TRACKER_RIGHT if after is None else after.right_of(each) for each in before.rights}
    return frozenset(each for each, right in new.items() if rank(right) > rank(before.right_of(each)))


def _is_as_strict(rule: ApprovalRule, other: ApprovalRule) -> bool:
    """True if ``rule`` is for the same work and the same people, and asks for at least as much as ``other``."""
    if rule.needed < other.needed or (other.not_author and not rule.not_author):
        return False
    return _plain(replace(rule, needed=other.needed, not_author=other.not_author)) == _plain(other)


def _plain(rule: ApprovalRule) -> ApprovalRule:
    return replace(rule, people=tuple(sorted(set(rule.people))))


def _groups_loosen(before: Settings, after: Settings) -> bool:
    """True for a group that has a new member, is gone, or is new. Pending requests and tasks may still name a new one
    that existed before, but not if these are the first settings."""
    if before.version and after.groups.keys() - before.groups.keys():
        return True
    return any(
        name not in after.groups or not set(after.groups[name]) <= set(members)
        for name, members in before.groups.items()
    )


def _tracker_loosens(before: TrackerSettings | None, after: TrackerSettings | None) -> bool:
    """True if people of the tracker get a higher right, or if other edits of a page end its task. A new database is new
    people."""
    if after is None:
        return False
    if before is None or before.database_id != after.database_id:
        return True
    if _status_column(before) != _status_column(after) or not after.ending_words.items() <= before.ending_words.items():
        return True
    people = {*before.rights, *after.rights}
    rank = TRACKER_RIGHTS.index
    return not all(rank(before.right_of(each)) >= rank(after.right_of(each)) for each in people)


def _status_column(tracker: TrackerSettings) -> str:
    """Not folded: if the names of two columns differ in case alone, the exact name is read."""
    return tracker.properties["status"]


def _bindings(settings: Settings) -> tuple[object, ...]:
    tracker = settings.tracker
    rights = {} if tracker is None else tracker.rights
    return (
        frozenset(map(_plain, settings.approval_rules)),
        {name: frozenset(members) for name, members in settings.groups.items()},
        None if tracker is None else (tracker.database_id, _status_column(tracker), tracker.ending_words),
        {each: right for each, right in rights.items() if right != USUAL_TRACKER_RIGHT},
    )
