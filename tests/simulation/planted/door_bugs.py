"""Bugs at Baton's doors: the bell's rates, the halves of a session, the fences around a colleague's text, and the names
of a refusal. Tests find them."""

from __future__ import annotations

from simulation.planted import operators as do
from simulation.planted.bug import bug

_BELL = "tests/functions/attacks/test_bell_rate.py"
_COOKIE = "tests/functions/attacks/test_stolen_cookie.py"
_FENCES = "tests/functions/attacks/test_fencing.py"
_UNKNOWN = "tests/functions/agents/test_unknown_agent.py"
_NAMED = "agents/agent:Roster.some_active"
_ROOM = "services/access/limit_caller:bell_must_have_room"
_CLIENT = "packages/baton-client/src/baton_client"
_SHOWN = "functions/rest/session_cookie:shown_by"

DOORS = (
    bug("a poll of the bell isn't counted", do.drop_statement("bell/listen:what_is_due", "bell_must_have_room"),
        test=_BELL),
    bug("an opening of the bell isn't counted",
        do.drop_statement("functions/listen/handler:_opened", "bell_must_have_room"), test=_BELL),
    bug("a connection over its rate polls on", do.never(_ROOM, "BELL_POLLS_PER_MINUTE"), test=_BELL),
    bug("a connection has one poll too few", do.compare(_ROOM, ">=", "BELL_POLLS_PER_MINUTE"), test=_BELL),
    bug("a pause is known to one process alone", do.drop_statement(_ROOM, "pause_bell"), test=_BELL),
    bug("a pause ends with its minute", do.value("access/uses:Uses.count_bell_use", "None", "from_ms"), test=_BELL),
    bug("a pause isn't written for the next minute",
        do.item("access/uses:Uses.pause_bell", "minute", "minute", "2 of 2"), test=_BELL),
    bug("a person has five times the bell's limit", do.never(_ROOM, "requests_per_minute"), test=_BELL),
    bug("a refused connection still listens",
        do.drop_item("bell/listen:what_is_due", "TooMany"), test=_BELL),
    bug("a refused client isn't told how long", do.never("functions/listen/handler:_close", "TooMany"), test=_BELL),
    bug("the cookie's half is the whole secret", do.argument(_SHOWN, "digest", 0, "found[0]"), test=_COOKIE),
    bug("the page's half is the whole secret", do.argument(_SHOWN, "digest", 0, "named[2]"), test=_COOKIE),
    bug("a refused token drops a session's cookie",
        do.drop_operand("functions/rest/session_cookie:useless", "is_by_cookie"), test=_COOKIE),
    bug("a session's secret has one half", do.value("access/begin_session:begin_session", "deps.ids.secret()", "join"),
        test=_COOKIE),
    bug("the words of a failed agent are a request", do.never("runs/prompt:ask_in", "is_rollback"), test=_FENCES),
    bug("a comment of the tracker has no marks",
        do.value("tracker/page_fields:_quoted", "plain(text)", "split"), test=_FENCES),
    bug("agents that are off are named to choose from", do.always(_NAMED, "active"), test=_UNKNOWN),
    bug("an empty list of an unknown agent is an answer",
        do.never("tasks/list_tasks:find_tasks", "items"), test=_UNKNOWN),
    bug("an agent without tasks is unknown", do.always("tasks/list_tasks:_must_be_known", "find"), test=_UNKNOWN),
    bug("a refusal names every agent there is",
        do.value(_NAMED, "sorted(each.slug for each in self.agents if each.active)", "MOST_NAMED"),
        test=_UNKNOWN),
    bug("a line has hidden characters", do.keep_argument("one_line:one_line", "spelled_out", 0), test=_FENCES),
    bug("a repeated request at the MCP door is a call of its own",
        do.never("functions/mcp_door/tools/inner_call:Caller.play", "is_idempotent"),
        test="tests/functions/mcp/test_tools.py::test_a_request_that_is_sent_again_under_its_key_saves_one_checkpoint"),
    bug("a list without items is Baton's", do.never(f"{_CLIENT}/genuine:_has_shape", "items"),
        test="tests/unit/client/test_core.py::test_a_list_without_items_is_no_answer"),
    bug("heartbeats in an outage come as seldom as usual",
        do.value(f"{_CLIENT}/lease:Lease.missed", "usual", "is_over"),
        test="tests/unit/client/test_work.py"
        "::test_an_outage_of_30_seconds_leaves_a_heartbeat_the_time_before_a_program_is_stopped"),
)  # fmt: skip
