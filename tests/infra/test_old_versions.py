"""What a deployment removes of those before it."""

from __future__ import annotations

from typing import Any

from infra.wire import Wire
from tools.admin.old_versions import KEPT, remove_old_versions

FUNCTION, LAYER = "baton-api", "arn:aws:lambda:eu-central-1:111122223333:layer:baton-core"
THERE = {
    "StackResourceSummaries": [
        {"LogicalResourceId": "Api", "ResourceType": "AWS::Lambda::Function", "PhysicalResourceId": FUNCTION},
        {"LogicalResourceId": "Core", "ResourceType": "AWS::Lambda::LayerVersion", "PhysicalResourceId": f"{LAYER}:14"},
    ]
}


def left_behind(versions: int, *, live: str, layers: int = 0, layer_of: dict[int, int] | None = None) -> Wire:
    """``layer_of``: which layer's version a function's version has, where it isn't the same number."""

    def version(number: int) -> dict[str, Any]:
        layer = (layer_of or {}).get(number, number)
        return {"Version": str(number), "Layers": [{"Arn": f"{LAYER}:{layer}"}]}

    # As AWS lists them: by their text.
    numbers = sorted(range(1, versions + 1), key=str)
    found = [{"LayerVersionArn": f"{LAYER}:{each}", "Version": each} for each in range(layers, 0, -1)]
    return Wire(
        {
            "ListStackResources": THERE,
            "ListVersionsByFunction": {"Versions": [{"Version": "$LATEST"}, *map(version, numbers)]},
            "ListAliases": {"Aliases": [{"Name": "live", "FunctionVersion": live}]},
            "ListLayerVersions": {"LayerVersions": found},
        }
    )


def removed(wire: Wire) -> tuple[set[str], set[int], str]:
    """Versions of the function, and of the layer; and what is said."""
    said: list[str] = []
    remove_old_versions(wire.client("cloudformation"), wire.client("lambda"), "baton", said.append)
    functions = {each["Qualifier"] for each in wire.sent("DeleteFunction")}
    return functions, {each["VersionNumber"] for each in wire.sent("DeleteLayerVersion")}, "\n".join(said)


def test_the_last_ten_of_each_stay() -> None:
    functions, layers, said = removed(left_behind(12, live="12", layers=13))
    assert (functions, layers) == ({"1", "2"}, {1, 2})  # the third is beyond ten, and a version that stays has it
    assert "removed 4 old versions" in said
    assert removed(left_behind(KEPT, live="1", layers=KEPT)) == (set(), set(), "")


def test_what_callers_come_to_stays_however_old_it_is() -> None:
    functions, layers, _ = removed(left_behind(14, live="2", layers=14))
    assert functions == {"1", "3", "4"}
    assert layers == {1, 3, 4}


def test_each_call_names_the_version_and_never_the_function() -> None:
    wire = left_behind(12, live="12")
    removed(wire)
    assert all(
        each["FunctionName"] == FUNCTION and each["Qualifier"].isdecimal() for each in wire.sent("DeleteFunction")
    )


def test_a_part_of_an_alias_counts() -> None:
    wire = left_behind(12, live="12")
    alias = {"FunctionVersion": "12", "RoutingConfig": {"AdditionalVersionWeights": {"1": 0.1}}}
    wire.answers = {**wire.answers, "ListAliases": {"Aliases": [alias]}}
    assert removed(wire)[0] == {"2"}


def test_it_never_fails_a_deployment() -> None:
    wire = left_behind(12, live="12")
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
    wire.answers = {**wire.answers, "DeleteFunction": denied}
    assert "warning: old versions weren't all removed" in removed(wire)[2]
