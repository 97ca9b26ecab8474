"""Next steps name only tools that the client has: it may have asked for some of them alone."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

# What is left to do where no tool of the client's is.
ASK = "tell your user"
OWN_CLAIM = (
    "your own agent holds it: if that was you and you lost its claim_id, claim_next with this task_id and resume_fence "
    "{fence} goes on with it; "
)
_WORDS = re.compile(r"\w+")


def known_step(step: str, missing: AbstractSet[str]) -> str:
    """Returns the step without those of its clauses, between semicolons, that name a tool of ``missing``."""
    return "; ".join(each for each in step.split("; ") if missing.isdisjoint(_WORDS.findall(each))) or ASK
