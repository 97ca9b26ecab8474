"""What `make deploy` gives a stack: its parameters, as they were, as they are asked for, and as the account allows."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tools.stack.background import StackError

Say = Callable[[str], None]
Parameters = dict[str, str]

LONGEST_STACK_NAME = 42  # of a function's name AWS takes 64 characters, and the longest of ours adds 22
_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
WATCH_MINUTES, LONGEST_WATCH = 10, 180
LOCAL_ONLY = {"LocalPort", "NotionUrl"}
BUILT = {"Runtime", "Architecture", "Script", "Release"}  # decided by what is built
_UNQUOTABLE = re.compile(r"[\"\\\n]")  # sam reads Name="value"

# AWS keeps so many of an account's concurrent executions unreserved.
KEPT_UNRESERVED = 100
USUAL_NOTICES = 10  # MaximumConcurrency where there is room
LEAST_NOTICES = 2  # of which SQS takes no less
SHARE_OF_NOTICES = 4  # at most one in so many of the account's executions answers notices
USUAL_RESERVES = {"WaitConcurrency": 50, "McpConcurrency": 50, "UrlConcurrency": 100}
LEAST_LEFT = 6  # for the sweeper, the publisher's stream and its minute, and three requests
RESERVED_BY = {
    "ApiGateway": ("WaitConcurrency", "McpConcurrency", "ConsoleConcurrency"),
    "FunctionUrl": ("UrlConcurrency",),
}
# The type of resource that each front door needs. cfn-lint has a file for each region, with the types that it has.
DOORS = {"ApiGateway": "AWS::ApiGatewayV2::Api", "FunctionUrl": "AWS::Lambda::Url"}
REGIONS = Path(getattr(find_spec("cfnlint"), "origin", "")).parent / "data" / "schemas" / "providers"


@dataclass(frozen=True)
class Account:
    """``concurrent``: how many functions it may run at once; ``unreserved``: how many of these belong to none."""

    concurrent: int
    unreserved: int


def checked_stack_name(name: str) -> str:
    """Raises StackError for one that some resource couldn't have in its own name."""
    if not _STACK_NAME.fullmatch(name):
        raise StackError(f"a stack's name begins with a letter and has letters, digits and hyphens only: {name!r}")
    if len(name) > LONGEST_STACK_NAME:
        raise StackError(
            f"{name!r} has {len(name)} characters, and a stack's name at most {LONGEST_STACK_NAME}: the functions' "
            "names begin with it, and AWS takes 64 characters"
        )
    return name


def given(text: str, template: Mapping[str, Any]) -> Parameters:
    """``Name=value Other="two words"``. Raises StackError for what can't be a parameter of the template."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StackError(f"PARAMS can't be read: {error}") from error
    pairs = [word.partition("=") for word in words]
    for name, equals, value in pairs:
        if not equals:
            raise StackError(f"a parameter is given as Name=value, not as {name!r}")
        check(name, value, template)
    return {name: value for name, _, value in pairs}


def check(name: str, value: str, template: Mapping[str, Any]) -> None:
    """Raises StackError with what is wrong, as CloudFormation would after the build."""
    rule = template["Parameters"].get(name)
    if rule is None or name in LOCAL_ONLY:
        raise StackError(f"{name} isn't a parameter of a deployment (docs/operations.md names them)")
    if name in BUILT:
        raise StackError(f"{name} follows the build: RUNTIME, ARCHITECTURE and BATON_SCRIPT set it")
    if _UNQUOTABLE.search(value):
        raise StackError(f"{name} has a quotation mark, a backslash or a line break in it")
    if "AllowedValues" in rule and value not in (allowed := [str(each) for each in rule["AllowedValues"]]):
        raise StackError(f"{name} must be one of {', '.join(allowed)}, and is {value!r}")
    if "AllowedPattern" in rule and not re.fullmatch(rule["AllowedPattern"], value):
        raise StackError(f"{name} must be {rule.get('ConstraintDescription', rule['AllowedPattern'])}, not {value!r}")
    least, most = rule.get("MinValue", 0), rule.get("MaxValue", float("inf"))
    if rule["Type"] == "Number" and not (value.isdecimal() and least <= int(value) <= most):
        raise StackError(f"{name} must be a number from {least}" + (f" to {most}" if "MaxValue" in rule else ""))


def defaults(template: Mapping[str, Any]) -> Parameters:
    return {name: str(rule["Default"]) for name, rule in template["Parameters"].items()}


def as_deployed(stack: Mapping[str, Any] | None, template: Mapping[str, Any]) -> Parameters:
    """What the stack was given last time, of what the template still has."""
    found = {each["ParameterKey"]: each["ParameterValue"] for each in (stack or {}).get("Parameters", [])}
    return {name: value for name, value in found.items() if name in template["Parameters"]}


def asked(wanted: Parameters, template: Mapping[str, Any]) -> Parameters:
    """With what is changed at the terminal. Raises StackError if nobody is there."""
    while True:
        print("\n".join(f"  {name}={value}" for name, value in wanted.items() if name not in LOCAL_ONLY | BUILT))
        try:
            line = input("Name=value changes one, Enter goes on: ").strip()
        except EOFError:
            raise StackError("nobody is there to be asked: make deploy YES=1 asks nothing") from None
        if not line:
            return wanted
        try:
            wanted = wanted | given(line, template)
        except StackError as wrong:
            print(f"{wrong}\n")


def agreed() -> bool:
    """What somebody at the terminal says to the changes; nobody agrees to none."""
    try:
        return input("Deploy these changes? [y/N]: ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def minutes(said: str) -> int:
    """For how long alarms watch a release. Raises StackError."""
    if not said:
        return WATCH_MINUTES
    if not (said.isdecimal() and int(said) <= LONGEST_WATCH):
        raise StackError(f"WATCH is a number of minutes, {LONGEST_WATCH} at most, and not {said!r}")
    return int(said)


def fitted(wanted: Parameters, settled: Parameters, before: Parameters, account: Account, say: Say) -> Parameters:
    """``wanted``, with what nobody has settled as large as the account allows, and a word on why. ``settled``: what was
    given now, or to the stack before. ``before``: the stack's own parameters."""
    fits = dict(wanted)
    say(f"this account runs {account.concurrent:,} functions at once; {account.unreserved:,} of these aren't reserved")
    reserves = RESERVED_BY[wanted["FrontDoor"]]
    free = account.unreserved + _reserved(before) - sum(int(fits[each]) for each in reserves if each in settled)
    for reserve in (each for each in reserves if each in USUAL_RESERVES and each not in settled):
        has_room = free >= KEPT_UNRESERVED + USUAL_RESERVES[reserve]
        fits[reserve] = str(USUAL_RESERVES[reserve] if has_room else 0)
        free -= int(fits[reserve])
        then = "calls that wait can't take what work needs" if has_room else f"AWS keeps {KEPT_UNRESERVED} unreserved"
        say(f"  {reserve}={fits[reserve]}: {then}")
    if "MaximumConcurrency" not in settled:
        fits["MaximumConcurrency"] = str(max(LEAST_NOTICES, min(USUAL_NOTICES, free // SHARE_OF_NOTICES)))
        say(f"  MaximumConcurrency={fits['MaximumConcurrency']}: the API and the sweeper need what is left")
    return fits


def refuse_missing_door(front_door: str, region: str) -> None:
    """Raises StackError if the region lacks the type of resource that the front door needs: AWS would refuse the
    template. A region that cfn-lint doesn't know is allowed."""
    known, kind = REGIONS / f"{region}.json", DOORS[front_door]
    if known.exists() and kind not in json.loads(known.read_text(encoding="utf-8")):
        other = next(each for each in DOORS if each != front_door)
        raise StackError(f"{region} has no {kind}, which FrontDoor={front_door} needs: deploy with FrontDoor={other}")


def refuse_too_large(wanted: Parameters, before: Parameters, account: Account) -> None:
    """Raises StackError where AWS would refuse a reserve, after the build and most of the deployment. ``before``: the
    stack's own parameters, as what it has reserved so far it gives back."""
    room = max(0, account.unreserved + _reserved(before) - KEPT_UNRESERVED)
    if _reserved(wanted) > room:
        given = " and ".join(f"{name}={wanted[name]}" for name in RESERVED_BY[wanted["FrontDoor"]] if int(wanted[name]))
        raise StackError(
            f"{given} is more than AWS lets this account reserve: {room}, as {KEPT_UNRESERVED} of "
            f"its {account.concurrent:,} concurrent executions stay unreserved. Give less, or 0 for no reserve"
        )


def _reserved(parameters: Parameters) -> int:
    """What a stack with these parameters reserves; nothing without any."""
    reserves = RESERVED_BY[parameters.get("FrontDoor", "ApiGateway")]
    return sum(int(parameters.get(each, 0)) for each in reserves)


def warning(wanted: Parameters, account: Account) -> str:
    """What may starve, or nothing."""
    taken = _reserved(wanted)
    left = account.concurrent - taken - int(wanted["MaximumConcurrency"]) - int(wanted["TrackerConcurrency"])
    if left >= LEAST_LEFT:
        return ""
    given = " and ".join(f"{name}={wanted[name]}" for name in ("MaximumConcurrency", "TrackerConcurrency"))
    return (
        f"warning: of {account.concurrent:,} concurrent executions {given} leave {max(left, 0)} for the API, the "
        "sweeper and the publisher. Ask AWS for a higher quota (docs/operations.md)"
    )


def release(inputs: str, before: str, failed_at: str) -> str:
    """What is deployed, by a digest. ``inputs``: the code's and the parameters'. ``before``: the stack's release, which
    stays if nothing differs. ``failed_at``: when the last deployment failed and was rolled back, else empty. Its
    versions are still there, and Lambda publishes none again of a function that is like its last one."""
    if before == _named(inputs, before.partition("-")[2]):
        return before
    return _named(inputs, failed_at)


def _named(inputs: str, failed_at: str) -> str:
    digest = hashlib.sha256(f"{inputs} {failed_at}".encode()).hexdigest()[:16]
    return f"{digest}-{failed_at}" if failed_at else digest
