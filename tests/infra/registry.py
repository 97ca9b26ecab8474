"""AWS's registry of resource types, which cfn-lint has a copy of: the regions of each type, its properties, and the
rights that creating, changing and deleting a resource takes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tools.admin.deploy_answers import REGIONS


def described(kind: str) -> dict[str, Any]:
    """The description of a type, as us-east-1 has it."""
    found: dict[str, Any] = json.loads((REGIONS.parent / "resources" / f"{kinds('us-east-1')[kind]}.json").read_text())
    return found


@cache
def kinds(region: str) -> dict[str, str]:
    """The types that a region has, each with the name of its description's file."""
    found: dict[str, str] = json.loads((REGIONS / f"{region}.json").read_text())
    return found


def rights(kind: str) -> set[str]:
    """The rights that creating, reading, changing, tagging and deleting a resource of this type takes."""
    found = described(kind)
    asked = [each for name, each in found.get("handlers", {}).items() if name != "list"] + [found.get("tagging", {})]
    return {right for each in asked for right in each.get("permissions", [])}


def can_be_bound(right: str) -> bool:
    """Can a policy bind the right to a resource, or is it always a right to all?"""
    service, _, action = right.partition(":")
    return bool(_policies()[service]["Actions"][action.lower()].get("Resources"))


@cache
def _policies() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REGIONS.parents[1] / "AdditionalSpecs" / "Policies.json").read_text())
    return found
