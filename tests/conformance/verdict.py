"""What of the suite's findings isn't as expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

# Scenario → the checks that it made, with their status.
Found = Mapping[str, list[tuple[str, str]]]
FAILURE, SUCCESS = "FAILURE", "SUCCESS"


@dataclass(frozen=True, slots=True)
class Expected:
    """``whole``: version → scenarios of which each check has to pass. ``failing``: check → why it fails. ``partly``:
    version → scenario → how many of its checks have to pass, so that none of them is left out unseen."""

    whole: Mapping[str, list[str]]
    failing: Mapping[str, str]
    partly: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def expected_from(text: str) -> Expected:
    """Reads the file: ``whole``, ``partly``, and in ``failing`` lists of checks by the reason that they have in
    common."""
    read = yaml.safe_load(text)
    failing = {check: reason for reason, checks in read["failing"].items() for check in checks}
    return Expected(read["whole"], failing, read.get("partly", {}))


def problems(expected: Expected, found: Mapping[str, Found]) -> Iterator[str]:
    """``found``: version → what its scenarios found."""
    for version, scenarios in expected.whole.items():
        for scenario in scenarios:
            yield from _not_whole(version, scenario, found.get(version, {}).get(scenario, []))
    for version, counts in expected.partly.items():
        for scenario, least in counts.items():
            yield from _too_few(version, scenario, found.get(version, {}).get(scenario, []), least)
    failed: set[str] = set()
    for version, scenarios_found in found.items():
        for scenario, checks in scenarios_found.items():
            bad = {check for check, status in checks if status == FAILURE}
            failed |= bad
            for check in sorted(bad - expected.failing.keys()):
                yield f"{version} {scenario}: {check} fails, and no reason is known"
    for check in sorted(expected.failing.keys() - failed):
        yield f"{check} is expected to fail, and doesn't: take it out"


def _too_few(version: str, scenario: str, checks: list[tuple[str, str]], least: int) -> Iterator[str]:
    passed = [status for _, status in checks].count(SUCCESS)
    if passed < least:
        yield f"{version} {scenario}: {passed} checks pass, and {least} have to"


def _not_whole(version: str, scenario: str, checks: list[tuple[str, str]]) -> Iterator[str]:
    if not any(status == SUCCESS for _, status in checks):
        yield f"{version} {scenario}: has to pass whole, and passed nothing"
    for check, status in checks:
        if status == FAILURE:
            yield f"{version} {scenario}: has to pass whole, and {check} fails"
