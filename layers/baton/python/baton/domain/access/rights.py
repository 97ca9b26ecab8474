"""The rights of people, and the least right that each deed needs (docs/decisions/108-people-have-rights.md).

Agents and services have no right: their tokens' scopes state their permissions. Each deed of people has a row in
``_LEAST``; use cases ask ``Principal.must_have`` and never compare rights themselves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum


class Right(StrEnum):
    """Each right includes the ones before it. Compare with ``covers``: the order of texts means nothing."""

    READER = "reader"
    MEMBER = "member"
    APPROVER = "approver"
    ADMINISTRATOR = "administrator"

    def covers(self, least: Right) -> bool:
        """True if this right is ``least`` or a higher one."""
        return _ORDER[self] >= _ORDER[least]


_ORDER = {right: place for place, right in enumerate(Right)}
# The right of a human's token that was issued without one.
USUAL_RIGHT = Right.APPROVER


class Deed(Enum):
    """A deed of people. The value completes the sentence "Only a human may …"."""

    # Reading, and a person's own sessions and tokens
    READ = "read"
    LIST_TOKENS = "list tokens"
    READ_VIEWS = "read saved views"
    LIST_STANDING_ANSWERS = "list standing answers"
    LOOK_AT_WEBHOOK = "look at the webhook"
    OPEN_SESSION = "open a session"
    RENEW_SESSION = "renew a session"
    MAKE_SESSION_CODE = "make a code"
    REVOKE_OWN_TOKEN = "revoke a token"  # noqa: S105 - a sentence
    # Work
    HAND_OFF = "hand work off"
    CONVERSE = "converse with an agent"
    WORK = "work on a task"
    CANCEL = "cancel a task that it didn't create"
    POST = "post to the blackboard"
    REPLACE_ENTRY = "replace what a human decided"
    WITHDRAW_ENTRY = "withdraw what somebody else has posted"
    DELETE_ENTRY = "delete an entry"
    ANSWER = "answer a question"
    READ_INBOX = "acknowledge an inbox"
    RAISE_ALERT = "raise an alert"
    ACKNOWLEDGE_ALERT = "acknowledge an alert"
    RESOLVE_ALERT = "resolve an alert"
    SNOOZE_ALERT = "snooze an alert"
    SAVE_VIEW = "save a view"
    DELETE_VIEW = "delete a view"
    CHANGE_AGENT = "change an agent"
    CHANGE_ROUTE = "change a route"
    DEFINE_TOOL = "define a handoff tool"
    RETRY_PAGES = "retry the tracker's pages"
    # Decisions
    APPROVE = "approve a task"
    UNDO = "undo an approval"
    DEFER = "defer a task"
    DISMISS = "dismiss a task"
    SPLIT = "split a task"
    RESOLVE = "resolve a task"
    RELEASE_CLAIM = "release a worker's claim"
    RELEASE_REVIEW = "release a manual review"
    CLOSE_REVIEW = "close a manual review"
    CLOSE_OVERTAKEN = "close what was overtaken"
    DECIDE_ACTION = "decide on an action"
    REVOKE_APPROVAL = "revoke an approval"
    REVOKE_STANDING_ANSWER = "revoke a standing answer"
    GIVE_STANDING_APPROVAL = "give a standing approval"
    GIVE_TOOL = "give an agent a tool"
    CHANGE_TOOL = "change an approved tool beyond switching it off"
    WIDEN_AGENT = "change the prompt, the model, the join or raise a limit of an agent that may hand on"
    RUN_AGENT = "change the runtime of an agent that may hand work on"
    ENTER_RULE = "put an agent under an approval rule"
    ISSUE_AGENT_TOKEN = "make a token"  # noqa: S105 - a sentence
    # Administration
    CHANGE_SETTINGS = "change the workspace's settings"
    CHANGE_MARK = "change who approves the calls of a tool"
    LEAVE_RULE = "take an agent out of an approval rule"
    DECIDE_CHANGE = "decide on a change of the workspace"
    WITHDRAW_CHANGE = "withdraw a change of the workspace"
    ISSUE_TOKEN = "make the token of a human or service"  # noqa: S105 - a sentence
    READ_APPROVALS = "list a person's approvals"
    END_APPROVALS = "end the approvals of a person"
    REVOKE_TOKEN = "revoke another principal's token, or one with a higher right"  # noqa: S105 - a sentence
    SET_TRACKER_TOKEN = "set the tracker's token"  # noqa: S105 - a sentence
    IMPORT_TRACKER = "import the tracker's handoffs"
    IMPORT_TASK = "import a task"
    OPEN_WEBHOOK = "open the webhook's handshake"
    REMOVE_WEBHOOK = "remove the webhook"

    @property
    def least(self) -> Right:
        """The least right of a person who does this."""
        return _LEAST[self]

    @property
    def is_for_people_only(self) -> bool:
        """False if agents and services do this as well; their scopes decide then."""
        return self not in _OTHERS_TOO


_DEEDS: Mapping[Right, tuple[Deed, ...]] = {
    Right.READER: (
        *(Deed.READ, Deed.LIST_TOKENS, Deed.READ_VIEWS, Deed.LIST_STANDING_ANSWERS),
        Deed.LOOK_AT_WEBHOOK,
        *(Deed.OPEN_SESSION, Deed.RENEW_SESSION, Deed.MAKE_SESSION_CODE, Deed.REVOKE_OWN_TOKEN),
    ),
    Right.MEMBER: (
        *(Deed.HAND_OFF, Deed.CONVERSE, Deed.WORK, Deed.CANCEL, Deed.ANSWER, Deed.READ_INBOX),
        *(Deed.POST, Deed.REPLACE_ENTRY, Deed.WITHDRAW_ENTRY, Deed.DELETE_ENTRY),
        *(Deed.RAISE_ALERT, Deed.ACKNOWLEDGE_ALERT, Deed.RESOLVE_ALERT, Deed.SNOOZE_ALERT),
        *(Deed.SAVE_VIEW, Deed.DELETE_VIEW),
        *(Deed.CHANGE_AGENT, Deed.CHANGE_ROUTE, Deed.DEFINE_TOOL, Deed.RETRY_PAGES),
    ),
    Right.APPROVER: (
        *(Deed.APPROVE, Deed.UNDO, Deed.DEFER, Deed.DISMISS, Deed.SPLIT, Deed.RESOLVE, Deed.RELEASE_CLAIM),
        *(Deed.RELEASE_REVIEW, Deed.CLOSE_REVIEW, Deed.CLOSE_OVERTAKEN),
        *(Deed.DECIDE_ACTION, Deed.REVOKE_APPROVAL, Deed.REVOKE_STANDING_ANSWER, Deed.GIVE_STANDING_APPROVAL),
        *(Deed.GIVE_TOOL, Deed.CHANGE_TOOL, Deed.WIDEN_AGENT, Deed.RUN_AGENT, Deed.ENTER_RULE, Deed.ISSUE_AGENT_TOKEN),
    ),
    Right.ADMINISTRATOR: (
        *(Deed.CHANGE_SETTINGS, Deed.CHANGE_MARK, Deed.LEAVE_RULE, Deed.DECIDE_CHANGE, Deed.WITHDRAW_CHANGE),
        *(Deed.ISSUE_TOKEN, Deed.REVOKE_TOKEN, Deed.READ_APPROVALS, Deed.END_APPROVALS),
        *(Deed.SET_TRACKER_TOKEN, Deed.IMPORT_TRACKER, Deed.IMPORT_TASK, Deed.OPEN_WEBHOOK, Deed.REMOVE_WEBHOOK),
    ),
}
_LEAST = {deed: right for right, deeds in _DEEDS.items() for deed in deeds}
_OTHERS_TOO = frozenset(
    {
        *(Deed.READ, Deed.HAND_OFF, Deed.CONVERSE, Deed.WORK, Deed.POST, Deed.READ_INBOX, Deed.RAISE_ALERT),
        *(Deed.CHANGE_AGENT, Deed.RETRY_PAGES),
    }
)


def may(right: Right | None, deed: Deed) -> bool:
    """True if a person with this right may do the deed; never without a right."""
    return right is not None and right.covers(deed.least)
