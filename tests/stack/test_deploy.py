"""`make deploy` against the local engine: a second stack beside the session's, and the same once more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import deployment
from support.worlds.deployed import Deployed, until

STACK = "baton-second"


def deploy(deployed: Deployed, **variables: str) -> str:
    """What the program said; it has to succeed."""
    variables = {"STACK": STACK, "YES": "1", "ARCHITECTURE": deployment.ARCHITECTURE, **variables}
    given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    given |= {"PYTHONPATH": os.pathsep.join(sys.path), "SAM_CLI_POLL_DELAY": "0.5"}
    with deployment.built(deployment.fingerprint(), say=print) as folder:
        finished = subprocess.run(
            [sys.executable, deployment.ROOT / "scripts" / "deploy.py"],
            env={**given, **deployment.credentials(deployed.stack.access), "BUILT": str(folder), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def described(deployed: Deployed, name: str = STACK) -> dict[str, Any]:
    (stack,) = deployed.aws("cloudformation").describe_stacks(StackName=name)["Stacks"]
    found: dict[str, Any] = stack
    return found


def parameters(deployed: Deployed) -> dict[str, str]:
    return {each["ParameterKey"]: each["ParameterValue"] for each in described(deployed)["Parameters"]}


def resources(deployed: Deployed, name: str = STACK) -> dict[str, str]:
    """The physical id of each."""
    found = deployed.aws("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}


@pytest.fixture
def second(deployed: Deployed) -> Iterator[str]:
    """What the first deployment said."""
    try:
        given = "LogLevel=DEBUG DeletionProtection=false BedrockModels=arn:aws:bedrock:us-east-1::foundation-model/a"
        yield deploy(deployed, PARAMS=given, TAGS="team=agents")
    finally:
        deployed.aws("cloudformation").delete_stack(StackName=STACK)
        until(lambda: STACK not in str(deployed.aws("cloudformation").describe_stacks()["Stacks"]))


def test_a_second_stack_stands_beside_the_first_and_a_second_deployment_changes_nothing(
    deployed: Deployed, second: str
) -> None:
    first = resources(deployed, deployment.STACK_NAME)
    given, made, tags = parameters(deployed), resources(deployed), described(deployed)["Tags"]
    assert (given["LogLevel"], given["DeletionProtection"], given["WaitConcurrency"]) == ("DEBUG", "false", "50")
    assert "WaitConcurrency=50" in second
    assert {each["Key"]: each["Value"] for each in tags} == {"application": "baton", "stack": STACK, "team": "agents"}
    part = {"HttpStage"}  # $default, within its API
    assert {made[name] for name in made.keys() - part}.isdisjoint(first.values())

    assert "No changes to deploy" in deploy(deployed)
    assert (parameters(deployed), resources(deployed), described(deployed)["Tags"]) == (given, made, tags)
    assert resources(deployed, deployment.STACK_NAME) == first

    deploy(deployed, PARAMS="LogLevel=ERROR")
    assert parameters(deployed) == given | {"LogLevel": "ERROR", "Release": parameters(deployed)["Release"]}
    live = deployed.aws("lambda").get_function_configuration(FunctionName=made["Api"], Qualifier="live")
    assert live["Environment"]["Variables"]["BATON_LOG_LEVEL"] == "ERROR"  # it reaches those who call
