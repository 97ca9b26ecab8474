"""Promises of the translated template about releases: a function's code, core and settings change together."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from infra.register import Problems, check, check_of
from infra.template import GATEWAY, Template, functions, of_type
from infra.translated import translated

ALIAS = "live"
VERSION = "AWS::Lambda::Version"
# Where each says which function it is about.
CALLING = {
    "AWS::ApiGatewayV2::Integration": "IntegrationUri",
    "AWS::Lambda::EventSourceMapping": "FunctionName",
    "AWS::Lambda::Permission": "FunctionName",
    "AWS::Lambda::Url": "TargetFunctionArn",
    "AWS::Scheduler::Schedule": "Target.Arn",
}


def _callers(template: Template) -> Iterator[tuple[str, Any]]:
    """Each (logical id, function that it calls, or may be called by)."""
    for kind, path in CALLING.items():
        for name, properties in of_type(template, kind).items():
            target: Any = properties
            for step in path.split("."):
                target = target[step]
            match target:
                case {"Fn::Sub": [_, {"FunctionArn": inner}]}:  # of a WebSocket API, as SAM writes it
                    target = inner
            if ":aws-sdk:" not in str(target):  # a call of AWS's own, and of no function
                yield name, target


def _versions(template: Template) -> dict[str, str]:
    """The logical id of each function's version: another one is another version."""
    return {properties["FunctionName"]["Ref"]: name for name, properties in of_type(template, VERSION).items()}


@check
def callers_come_by_the_alias(template: Template) -> Problems:
    whole = translated(template)
    aliases = {f"{name}Alias{ALIAS}" for name in functions(template)}
    for name, target in _callers(whole):
        if not (set(target) == {"Ref"} and target["Ref"] in aliases):
            yield f"{name} reaches {target}, where code and core change one after the other"
    for name, settings in of_type(whole, "AWS::Lambda::EventInvokeConfig").items():
        if settings["Qualifier"] != ALIAS:
            yield f"{name} isn't about what is called"
    if missing := aliases - set(of_type(whole, "AWS::Lambda::Alias")):
        yield f"there is no {sorted(missing)}"


@check_of(GATEWAY)
def the_gateway_may_call_an_alias_before_it_does(template: Template) -> Problems:
    for name in of_type(template, "AWS::ApiGatewayV2::Integration"):
        if template["Resources"][name].get("DependsOn") != name.replace("Integration", "Permission"):
            yield f"{name} may lead to an alias that the gateway may not call yet"


@check
def a_new_core_is_published_with_every_function(template: Template) -> Problems:
    for layer in of_type(template, "AWS::Serverless::LayerVersion"):
        changed = deepcopy(template)
        changed["Resources"][layer]["Properties"]["ContentUri"] += "-of-another-release"
        before, after = _versions(translated(template)), _versions(translated(changed))
        if stale := [name for name in functions(template) if before.get(name) == after.get(name)]:
            yield f"{stale} go on with the old {layer}"


@check
def a_release_publishes_every_function(template: Template) -> Problems:
    """Also one in which a parameter alone has changed, which SAM doesn't see. And the function itself differs, or
    Lambda publishes nothing, and CloudFormation fails."""
    one, other = ({"Release": digit * 16} for digit in "01")
    before, after = _versions(translated(template, **one)), _versions(translated(template, **other))
    for name, function in of_type(translated(template), "AWS::Lambda::Function").items():
        if before.get(name) == after.get(name):
            yield f"{name} stays as it was published"
        if function["Environment"]["Variables"].get("BATON_RELEASE") != {"Ref": "Release"}:
            yield f"{name} is the same in every release"


@check
def what_was_published_stays_whole(template: Template) -> Problems:
    """An alias can go back to the version before: that is still there, and so are its layers."""
    for name, resource in translated(template)["Resources"].items():
        if resource["Type"] in {VERSION, "AWS::Lambda::LayerVersion"} and resource.get("DeletionPolicy") != "Retain":
            yield f"{name} goes with the next release"
