"""The checkout of Baton's repository, from which the local stack runs."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baton_cli.failures import Failure
from baton_cli.profile_store import save
from baton_client.errors import Misused
from baton_client.profiles import Profile

_PARTS = ("Makefile", "template.yaml", "tools/stack/stack.py")
LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Checkout:
    root: Path

    def make(self, target: str) -> None:
        """Runs a target of the Makefile, whose output goes to standard error. Raises ``Failure``."""
        ended = subprocess.run(  # noqa: S603
            ["make", "--no-print-directory", "-C", str(self.root), target],  # noqa: S607
            stdout=2,
            check=False,
        )
        if ended.returncode:
            raise Failure(f"make {target} has failed", f"in {self.root}; it says why above", "baton doctor")

    def stack(self) -> dict[str, Any] | None:
        """Returns the local stack as its file describes it; None if no stack was started yet."""
        try:
            found: dict[str, Any] = json.loads((self.root / ".baton" / "stack.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return found


def checkout() -> Checkout:
    """Returns the checkout of $BATON_CHECKOUT, or the one that has the working folder in it. Raises ``Misused``."""
    named = os.environ.get("BATON_CHECKOUT")
    for folder in [Path(named)] if named else [Path.cwd(), *Path.cwd().parents]:
        if all((folder / part).exists() for part in _PARTS):
            return Checkout(folder)
    raise Misused(
        "no checkout of Baton is here", "the local stack is a part of it", "cd into it, or set BATON_CHECKOUT"
    )


def save_profiles(stack: dict[str, Any], path: Path) -> list[str]:
    """Saves the profiles of the human (local), of the service and of each agent (local.NAME), and returns their
    names."""
    url, tokens = str(stack["api_url"]), stack["tokens"]
    made = {LOCAL: Profile("", url, tokens["human"])}
    if tokens.get("service"):
        made[f"{LOCAL}.service"] = Profile("", url, tokens["service"])
    made |= {f"{LOCAL}.{slug}": Profile("", url, token, slug) for slug, token in tokens["agents"].items()}
    for name, profile in made.items():
        save(name, profile, path, is_default=False)
    return list(made)
