"""The search in the blackboard: what is known about something, and why a file is as it is."""

from __future__ import annotations

from api.memory import recall_views
from api.memory.recall_requests import RecallQuery, WhyQuery
from baton.ports.deps import Deps
from baton.services.memory.recall import recall, why
from rest import answers, models, routing

routes = routing.Routes()


@routes.get("/recall", query=models.query(RecallQuery, "entry_type"), answers={200: recall_views.Recall})
def recall_entries(deps: Deps, call: routing.Call[None, RecallQuery]) -> answers.Answer:
    """What the workspace knows about `q`, the best first: words in a question, names of files or symbols.

    Ranked by words, in summary, tags and detail; then by age, type and closeness to `scope`, which finds only what it
    sees. A decision that holds comes before those that it replaced, and `replaced` tells them; what is asked in the
    words of an old decision finds the one that holds in its place. Withdrawn and deleted entries aren't found.
    """
    return answers.ok(recall_views.recall(recall(deps, call.by, call.query.question())))


@routes.get("/why", query=models.query(WhyQuery), answers={200: recall_views.Why})
def explain_path(deps: Deps, call: routing.Call[None, WhyQuery]) -> answers.Answer:
    """Why a file or folder is as it is: the decisions and constraints that hold for it, newest first, with what they
    replaced.

    They are those whose scope sees `path`, and those that name the file. One of the whole `project` has to name it.
    """
    return answers.ok(recall_views.why(why(deps, call.by, call.query.path, call.query.limit)))
