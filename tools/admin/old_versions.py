"""What deployments leave behind: versions of functions and layers. An alias can go back to one while it is kept."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tools.admin.change_set import resources
from tools.admin.deploy_answers import Say

KEPT = 10  # the latest; and whatever an alias leads to


def remove_old_versions(cloudformation: Any, lambda_: Any, stack: str, say: Say) -> None:
    """Never fails: what is left is removed after the next deployment."""
    try:
        functions = resources(cloudformation, stack, "AWS::Lambda::Function").values()
        layers = resources(cloudformation, stack, "AWS::Lambda::LayerVersion").values()
        used: set[str] = set()
        removed = sum(_of_function(lambda_, name, used) for name in functions)
        removed += sum(_of_layer(lambda_, arn.rpartition(":")[0], used) for arn in layers)
    except (ClientError, BotoCoreError) as error:
        say(f"warning: old versions weren't all removed: {error}")
        return
    if removed:
        say(f"removed {removed} old versions of functions and layers; {KEPT} of each are kept")


def _of_function(lambda_: Any, name: str, used: set[str]) -> int:
    """How many were removed. ``used``: gets the layers of those that are kept."""
    pages = lambda_.get_paginator("list_versions_by_function").paginate(FunctionName=name)
    found = {each["Version"]: each for page in pages for each in page["Versions"]}
    numbers = sorted((each for each in found if each.isdecimal()), key=int)
    old = set(numbers[:-KEPT]) - _aliased(lambda_, name)
    used |= {layer["Arn"] for version in found.keys() - old for layer in found[version].get("Layers", [])}
    for version in old:
        lambda_.delete_function(FunctionName=name, Qualifier=version)
    return len(old)


def _aliased(lambda_: Any, name: str) -> set[str]:
    pages = lambda_.get_paginator("list_aliases").paginate(FunctionName=name)
    aliases = [each for page in pages for each in page["Aliases"]]
    partly = {
        version for each in aliases for version in each.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})
    }
    return {each["FunctionVersion"] for each in aliases} | partly


def _of_layer(lambda_: Any, layer: str, used: set[str]) -> int:
    pages = lambda_.get_paginator("list_layer_versions").paginate(LayerName=layer)
    found = sorted((each for page in pages for each in page["LayerVersions"]), key=lambda each: each["Version"])
    old = [each for each in found[:-KEPT] if each["LayerVersionArn"] not in used]
    for each in old:
        lambda_.delete_layer_version(LayerName=layer, VersionNumber=each["Version"])
    return len(old)
