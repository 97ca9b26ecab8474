"""A person's approvals and votes, and the end of all of them."""

from __future__ import annotations

from api.access import person_views as views
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.access.end_approvals import end_approvals
from baton.services.access.list_approvals import list_approvals
from rest import answers, models, pages, routing

routes = routing.Routes()


@routes.get(
    "/people/{person}/approvals",
    query=models.query(models.PageQuery),
    answers={200: views.RestingApprovalPage},
    only=routing.human(Deed.READ_APPROVALS),
)
def list_approvals_of_person(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """A person's approvals and votes that may still be used, for administrators. A page may
    be shorter than `limit`, also empty; follow `next_cursor`.

    The list doesn't show approvals of deferred handoffs and of work for the next worker. `POST
    /people/{person}/end-approvals` ends these as well.
    """
    page = list_approvals(deps, call.by, call.params["person"], call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.resting_approval_view))


@routes.post(
    "/people/{person}/end-approvals",
    body=models.strict(models.NoFields),
    answers={200: views.PersonView},
    refusals=(404,),
    only=routing.human(Deed.END_APPROVALS),
)
def end_approvals_of_person(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """End all approvals of a person until now, for administrators. The person keeps their right, and their later
    approvals count. Nothing comes back with a new token. The record is a change of the workspace with
    the subject `approvals`."""
    return answers.ok(views.person_view(end_approvals(deps, call.by, call.params["person"], call.idempotency_key)))
