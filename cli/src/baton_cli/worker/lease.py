"""What the lease of a claim leaves to its program. Times are those of ``watchdog.now``, which is the lease's clock."""

from __future__ import annotations

from baton_cli.worker.program import TimeLimits
from baton_client.lease import Lease

# The part of a lease that is left to a program after TERM, if the lease can't be extended.
GRACE_SHARE = 0.1


def limits(lease: Lease, time_limit_at: float, grace_seconds: float) -> TimeLimits:
    """Returns when the program has to end: at its time limit, or before the lease does."""
    warned_at = lease.held_until - min(grace_seconds, lease.seconds * GRACE_SHARE)
    return TimeLimits(min(time_limit_at, warned_at), min(time_limit_at + grace_seconds, lease.held_until))
