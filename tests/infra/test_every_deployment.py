"""The linter accepts the translated templates of a few combinations of switches, which have each of their values and
each resource, in two kinds of regions; under ``make soak`` of every combination, in each kind. ``make check`` has it
read template.yaml for each of them."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product
from typing import Any

import pytest

from infra.citations import ROOT
from infra.registry import kinds
from infra.template import FRONT_DOORS, Template, as_list, asked_for, load, made
from infra.translated import translated
from support.faults.soak import IS_WHOLE, spread
from tools.admin.deploy_answers import DOORS, refuse_missing_door
from tools.stack.background import StackError

# The usual region; one without budgets; one without budgets and Function URLs; the two other partitions.
REGIONS = ["us-east-1", "eu-north-1", "eu-central-2", "cn-northwest-1", "us-gov-west-1"]
# Parameters that decide which resources are made, each with values that differ in that. A new switch is a new line.
SWITCHES = {
    "FrontDoor": FRONT_DOORS,
    "CertificateArn": ("", "arn:aws:acm:us-east-1:111122223333:certificate/1234abcd-12ab-34cd-56ef-1234567890ab"),
    "KmsKey": ("", "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"),
    "PermissionsBoundary": ("", "arn:aws:iam::111122223333:policy/bound"),
    "Events": ("auto", "off"),
    "Doorbell": ("on", "off"),
}
# Each adds or takes away resources of its own: all of them together, at each front door.
BESIDE = {
    "ExistingTable": "baton-restored",
    "BackupCopyTo": "arn:aws:backup:eu-west-1:111122223333:backup-vault:baton",
    "ExportBucket": "exports",
    "ReplicaRegion": "eu-west-1",
}
# SAM names a function's version after what the function is made of: versions and aliases are alike all the same.
OF_A_VERSION = re.compile(r'(?<=")(\w+Version)[0-9a-f]{10}(?=")')
Deployment = tuple[dict[str, str], Template]
LINTED_APART = ["W", "I", "E3019"]  # rules about a template as a whole: `make check` applies them to template.yaml


@cache
def deployments() -> list[Deployment]:
    """Returns each combination of the switches and what is beside them, with the translated template that it gives."""
    combined = [dict(zip(SWITCHES, values, strict=True)) for values in product(*SWITCHES.values())]
    beside = [{**BESIDE, "FrontDoor": front_door} for front_door in FRONT_DOORS]
    return [(given, translated(made(load(), **given))) for given in [*combined, *beside]]


def enough(found: list[Deployment]) -> list[Deployment]:
    """Returns a few that have together what all have, each value of a switch and each resource; all under ``make
    soak``."""
    if IS_WHOLE:
        return found
    taken: list[Deployment] = []
    left = {each for deployment in found for each in what_it_has(*deployment)}
    while left:
        taken.append(max(found, key=lambda each: len(what_it_has(*each) & left)))
        left -= what_it_has(*taken[-1])
    return taken


def what_it_has(given: dict[str, str], template: Template) -> set[object]:
    return {*given.items(), *json.loads(OF_A_VERSION.sub(r"\1", json.dumps([*template["Resources"]])))}


def together(templates: list[Template]) -> Template:
    """Returns one template with the parts of all. A part that differs between templates is there once in each form, and
    forms after the first get a number. So the linter checks each form once, not once in each template."""
    templates = [json.loads(OF_A_VERSION.sub(r"\1", json.dumps(each))) for each in templates]
    whole: Template = {**templates[0], "Resources": {}, "Outputs": {}}
    for section in ("Resources", "Outputs"):
        forms: dict[str, list[Any]] = {}
        for template in templates:
            for name, part in template[section].items():
                if part not in forms.setdefault(name, []):
                    forms[name].append(part)
        whole[section] = {
            f"{name}{number or ''}": part for name, parts in forms.items() for number, part in enumerate(parts)
        }
    return whole


def refused(templates: list[Template]) -> list[str]:
    """Returns what the linter finds."""
    # Here alone: each worker would wait for it.
    from cfnlint import ManualArgs
    from cfnlint.api import lint

    settings = ManualArgs(regions=spread(REGIONS), ignore_checks=LINTED_APART)
    return [str(each) for each in lint(json.dumps(together(templates)), config=settings)]


def missing(template: Template) -> set[str]:
    """Returns the names that the template refers to and doesn't have."""
    named = {*asked_for([template["Resources"], template["Outputs"]])}
    named |= {name for each in template["Resources"].values() for name in as_list(each.get("DependsOn", []))}
    there = template["Resources"].keys() | template["Parameters"].keys()
    return {name for name in named - there if not name.startswith("AWS::")}


@pytest.mark.slow
def test_the_linter_accepts_every_deployment_in_every_kind_of_region() -> None:
    assert f"--regions {' '.join(REGIONS)} " in (ROOT / "Makefile").read_text(), "`make check` lints for the same"
    assert refused([each for _, each in enough(deployments())]) == []


def test_no_deployment_refers_to_what_it_doesnt_have() -> None:
    assert {name for _, each in deployments() for name in missing(each)} == set()
    broken = load()
    broken["Resources"]["KmsKeyUse"]["Condition"] = "HasBoundary"
    assert missing(translated(made(broken, KmsKey=SWITCHES["KmsKey"][1]))) == {"KmsKeyUse"}


def test_each_form_of_a_part_is_linted() -> None:
    parts = [
        {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": each}}} for each in (30, 30, "long")
    ]
    templates: list[Template] = [{"Resources": each, "Outputs": {}} for each in parts]
    assert list(together(templates)["Resources"]) == ["Queue", "Queue1"]
    assert ["'long' is not of type 'integer'" in each for each in refused(templates)] == [True]


@pytest.mark.parametrize("region", REGIONS)
def test_make_deploy_refuses_exactly_the_front_doors_that_a_region_lacks(region: str) -> None:
    for given, template in deployments():
        foreign = {each["Type"] for each in template["Resources"].values()} - kinds(region).keys()
        assert foreign <= {DOORS[given["FrontDoor"]]}
        if foreign:
            with pytest.raises(StackError, match=f"{region} has no {DOORS[given['FrontDoor']]}"):
                refuse_missing_door(given["FrontDoor"], region)
        else:
            refuse_missing_door(given["FrontDoor"], region)


def test_regions_differ_in_the_front_doors_that_they_have() -> None:
    assert [DOORS["FunctionUrl"] in kinds(each) for each in REGIONS] == [True, True, False, False, False]
    refuse_missing_door("FunctionUrl", "xx-new-1")  # unknown to the linter: AWS decides
