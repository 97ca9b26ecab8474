"""What changes something is sent by an actor: what none sends, no seed tries."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

import simulation.actors
from support.gateway import ROUTES

# Another form of what an actor sends: a handoff, several entries taken back. And a reading, before a release.
AS_OTHERS = {"twining_handoff", "withdraw_posted", "task_of"}


def use_cases(names: Mapping[str, Any]) -> set[str]:
    found = (each for each in names.values() if str(getattr(each, "__module__", "")).startswith("baton.services."))
    return {each.__name__ for each in found if not isinstance(each, type) and hasattr(each, "__code__")}


def test_every_use_case_of_a_route_that_takes_a_key_is_sent_by_an_actor() -> None:
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(simulation.actors.__path__, "simulation.actors.")
    ]
    sent = {name for module in modules for name in use_cases(vars(module))}
    offered = {
        name
        for route in ROUTES
        if route.is_idempotent
        for name in use_cases({each: route.handler.__globals__.get(each) for each in route.handler.__code__.co_names})
    }
    assert len(offered) > 30
    assert sorted(offered - sent - AS_OTHERS) == [], "no actor in tests/simulation/actors/ sends it"
