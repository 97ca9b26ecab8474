"""The register of what template.yaml promises. A check yields one sentence for each promise that a template breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from infra.template import Template

Problems = Iterator[str]
Check = Callable[[Template], Problems]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function
