"""Bugs of the client and the worker on a faulty network. The simulated day finds them."""

from __future__ import annotations

from simulation.planted import operators as do
from simulation.planted.bug import bug

_DAY = "tests/simulation/test_day.py::test_through_a_faulty_network_nothing_is_done_twice_or_lost"
_CLIENT = "packages/baton-client/src/baton_client"
_WORKER = "cli/src/baton_cli/worker"

NETWORK = (
    bug("any refusal is Baton's", do.value(f"{_CLIENT}/genuine:why_foreign", "''", "_is_problem"), test=_DAY),
    bug("a page in the place of an answer is Baton's", do.value(f"{_CLIENT}/genuine:why_foreign", "True", "_has_shape"),
        test=_DAY),
    bug("a request without an answer is sent again under another key",
        do.argument(f"{_CLIENT}/core:exchange", "Send", 0, "replace(it, key=it.key and new_key())"), test=_DAY),
    bug("a poll of the worker has a new key each time",
        do.always(f"{_WORKER}/poll_backoff:ClaimRequest.note", "claim_over"), test=_DAY),
    bug("a report without an answer is sent again under another key",
        do.argument(f"{_WORKER}/job:Job._send_report", "post", "key", "uuid4().hex"), test=_DAY),
    bug("a heartbeat without an answer ends the claim",
        do.value(f"{_CLIENT}/lease:ends_claim", "True", "is_settled"), test=_DAY),
    bug("an end is given up after one attempt",
        do.argument(f"{_CLIENT}/claims:WorkVerbs._ending", "_said", 1,
            "replace(self._patience, attempts=1, seconds=0)"),
        test=_DAY),
)  # fmt: skip
