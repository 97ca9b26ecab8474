"""The edge before a deployment, where there is one: CloudFront shows a secret in a header (docs/guides/edge.md).

Functions know the secret's SHA-256 alone. It is read here and not by ``baton.config``, as the console's function, which
loads nothing else, is behind the edge too.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

HEADER = "x-baton-edge"
DIGESTS = "BATON_EDGE_DIGESTS"  # two with a comma between them, while one secret takes the other's place


def came_around(event: Mapping[str, Any]) -> bool:
    """Returns True for a request that didn't come by the edge, if there is one."""
    return bool(os.environ.get(DIGESTS)) and not _shows_the_secret(event)


def _shows_the_secret(event: Mapping[str, Any]) -> bool:
    shown = str((event.get("headers") or {}).get(HEADER))
    digest = sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()
    return any(hmac.compare_digest(digest, each) for each in os.environ[DIGESTS].split(","))
