"""Whether Baton works, for somebody who needn't have a token."""

from __future__ import annotations

from baton.ports.deps import Deps


def check_health(deps: Deps, *, deep: bool) -> None:
    """``deep``: the table is read, too. Raises ``Busy`` if it can't be read, and tells nothing else."""
    if deep:
        deps.store.must_answer()
