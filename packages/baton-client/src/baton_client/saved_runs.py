"""The saved state of a run: packed, signed, and loaded only if this program signed it for this claim's history."""

from __future__ import annotations

import base64
import binascii
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from baton_client import numbers
from baton_client.errors import Invalid
from baton_client.run_keys import Keys, is_signed

MOST_BYTES = 8 * 2**20  # of a state that isn't packed
_MOST_MEMORY = 16 * 2**20  # of the decompressor; packing with preset 1 needs 2 MiB
_MOST_CHARACTERS = 2**20  # a body of Baton's has 256 KiB
WRONG_KEY = (
    "The saved state of this run isn't signed with the key of this worker program, for this task and claim. "
    "Nothing of it was loaded, and no tool ran. If another machine saved it, give all machines that work for this "
    "agent the same BATON_RUN_KEY. If not, a program with this agent's token wrote it: revoke that token."
)


def packed(state: Any) -> str:
    """Returns JSON as a text that takes less of the 256 KB that a request may have. Raises ``Invalid`` for a state of
    more than 8 MiB."""
    written = numbers.dumps(state, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(written) > MOST_BYTES:
        error = {"field": "state", "message": f"must be at most {MOST_BYTES} bytes, and has {len(written)}"}
        raise Invalid(413, {"code": "too_large", "title": "The run's state is too large", "errors": [error]})
    return base64.b64encode(lzma.compress(written, preset=1)).decode()


def unpacked(text: str) -> Any:
    """The inverse of ``packed``, in bounded memory. Raises ``ValueError``."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError("the packed state is too long")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    try:
        written = unpacker.decompress(base64.b64decode(text, validate=True), MOST_BYTES + 1)
    except (lzma.LZMAError, binascii.Error, EOFError) as exc:
        raise ValueError("the state isn't packed as this client does it") from exc
    if len(written) > MOST_BYTES or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"the state has more than {MOST_BYTES} bytes")
    return numbers.loads(written.decode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Loaded:
    """``state``: None for a run that begins. ``refused``: why a state that is there may not be loaded."""

    state: dict[str, Any] | None = None
    refused: str = ""


def loaded(claim: Mapping[str, Any], agent: str, task_id: str, keys: Keys) -> Loaded:
    """Returns the state that a claim's answer brings. A state of another agent or principal is passed over: a peer held
    open work, or a service acted for the agent."""
    found = cast("dict[str, Any]", claim.get("run_state") or {})
    if not found or found.get("state") is None or (found["agent"], found["by"]) != (agent, claim.get("claimed_by")):
        return Loaded()
    if not is_signed(keys, str(found["signature"]), task_id, agent, found["fence"], found["state"]):
        return Loaded(refused=WRONG_KEY)
    try:
        return Loaded(unpacked(found["state"]))
    except ValueError as exc:
        return Loaded(refused=f"The saved state of this run can't be loaded: {exc}.")
