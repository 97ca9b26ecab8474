"""The file in which a server keeps what its session claims, for programs of the same session, such as Claude Code's
hooks. It is named after the process that has started the server: a hook looks among the processes above itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from baton_client.folders import state_folder
from baton_mcp.remarks import remark


@dataclass(frozen=True, slots=True)
class ClaimsFile:
    path: Path

    def write(self, live: Mapping[str, str], lost: Mapping[str, str]) -> None:
        """``live`` and ``lost``: claim → its task. Readers see the file as it was or as it is, never a part. Where none
        can be written, hooks know of nothing, and the session works without them."""
        content = {"server": os.getpid(), "live": dict(live), "lost": dict(lost)}
        unfinished = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(content), encoding="utf-8")
            unfinished.replace(self.path)
        except OSError as error:
            remark(f"hooks aren't told of claims: {error}")

    def remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def of_this_session(environment: Mapping[str, str] = os.environ) -> ClaimsFile:
    return ClaimsFile(state_folder(environment) / "sessions" / f"{os.getppid()}.json")
