"""The register of what template.yaml promises. A check yields one sentence for each promise that a template breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from infra.template import FRONT_DOORS, Template, shaped

Problems = Iterator[str]
Check = Callable[[Template], Problems]
CHECKS: list[Check] = []
_ONLY: dict[Check, str] = {}
_WHOLE: set[Check] = set()


def check(function: Check) -> Check:
    """Registers a promise of every deployment, whatever its front door is."""
    CHECKS.append(function)
    return function


def check_of(front_door: str) -> Callable[[Check], Check]:
    """Registers a promise of the deployments with this front door."""

    def register(function: Check) -> Check:
        _ONLY[function] = front_door
        return check(function)

    return register


def check_whole(function: Check) -> Check:
    """Registers a promise about the template as it is written, with all of its branches."""
    _WHOLE.add(function)
    return check(function)


def problems(promise: Check, template: Template) -> Problems:
    """What is wrong with the template, with each front door that the promise is about, and a table of its own."""
    if promise in _WHOLE:
        yield from promise(template)
        return
    for front_door in FRONT_DOORS:
        if _ONLY.get(promise, front_door) == front_door:
            yield from promise(shaped(template, front_door))
