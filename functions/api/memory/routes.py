"""The blackboard: what the members of a workspace let each other know."""

from __future__ import annotations

from api.memory import requests, views
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.memory.end_entry import delete_entry, withdraw_entry
from baton.services.memory.list_entries import EntryFilter, list_entries
from baton.services.memory.post_entry import post_entry
from baton.services.memory.withdraw_posted import withdraw_posted
from baton.steps.memory.readable_entry import readable_entry
from rest import answers, models, pages, routing

routes = routing.Routes()


@routes.post(
    "/blackboard",
    body=models.strict(requests.NewEntry),
    answers={201: views.WholeEntryView},
    refusals=(409,),
    deed=Deed.POST,
)
def create_entry(deps: Deps, call: routing.Call[requests.NewEntry, None]) -> answers.Answer:
    """Post an entry to the blackboard, for all agents and people of the workspace.

    A decision with `supersedes` ends the decision that it names, at once with its own posting: `superseded`, or
    `overridden` if a human replaces what somebody else decided. One that was replaced or withdrawn before is refused
    with 409 `entry_closed`. What a human decided only a human replaces.
    """
    entry = post_entry(deps, call.by, call.body.draft(), call.idempotency_key)
    return answers.created(views.whole_entry_view(entry), f"/blackboard/{entry.id}")


@routes.get("/blackboard", query=models.query(requests.EntryQuery, "entry_type"), answers={200: views.EntryPage})
def list_blackboard(deps: Deps, call: routing.Call[None, requests.EntryQuery]) -> answers.Answer:
    """Entries, newest first, without those that were withdrawn or deleted.

    `scope` sees by whole segments, up and down: `src/auth` lists what is posted in `project`, `src`, `src/auth` and
    `src/auth/jwt`, and not what is in `src/authz`. A page may be shorter than `limit` and still have a next one.
    """
    query = call.query
    wanted = EntryFilter(
        scope=query.scope, entry_types=query.entry_type, tag=query.tag, since=query.since, until=query.until
    )
    page = list_entries(deps, call.by, wanted, query.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda entry: entry.id, views.entry_view))


@routes.get("/blackboard/{entry_id}", answers={200: views.WholeEntryView}, page="/memory/{entry_id}")
def get_entry(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One entry with its trail, also after it was withdrawn or deleted."""
    return answers.ok(views.whole_entry_view(readable_entry(deps, call.by, call.params["entry_id"])))


@routes.post(
    "/blackboard/{entry_id}/withdraw", body=models.strict(requests.Withdrawal), answers={200: views.WholeEntryView}
)
def withdraw_an_entry(deps: Deps, call: routing.Call[requests.Withdrawal, None]) -> answers.Answer:
    """Take an entry back: no list, snapshot or search has it any more. For who posted it, and for humans.

    One that was withdrawn or deleted before is answered unchanged. A decision that it had replaced stays replaced.
    """
    entry = withdraw_entry(deps, call.by, call.params["entry_id"], call.body.reason, call.idempotency_key)
    return answers.ok(views.whole_entry_view(entry))


@routes.post(
    "/blackboard/withdrawals",
    body=models.strict(requests.Withdrawals),
    answers={200: views.WithdrawnEntries},
    only=routing.human(Deed.WITHDRAW_ENTRY),
)
def withdraw_entries(deps: Deps, call: routing.Call[requests.Withdrawals, None]) -> answers.Answer:
    """Take back what one poster has posted, the newest first: at most 25 entries at once, of 500 that are looked at.

    Each entry's trail tells of it. With `next_cursor` as `cursor` the next request goes on where this one stopped.
    """
    done = withdraw_posted(deps, call.by, call.body.posted(), call.idempotency_key)
    return answers.ok({"withdrawn": list(done.ids), "next_cursor": done.cursor})


@routes.delete("/blackboard/{entry_id}", answers={200: views.WholeEntryView}, only=routing.human(Deed.DELETE_ENTRY))
def delete_an_entry(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Delete an entry: its texts, tags and references are removed for good. Its id, scope, type and trail stay.

    Deleting twice changes nothing.
    """
    return answers.ok(views.whole_entry_view(delete_entry(deps, call.by, call.params["entry_id"])))
