"""`make deploy` against the local engine: a second stack beside another, and the same once more."""

from __future__ import annotations

from support.worlds.deployed import Deployed
from support.worlds.second_stack import NAME, SecondStack, resources
from tools.stack import deployment


def test_a_second_stack_stands_beside_the_first_and_a_second_deployment_changes_nothing(
    first: Deployed, second: SecondStack
) -> None:
    others = resources(first, deployment.STACK_NAME)
    given, made, tags = second.parameters(), second.resources(), second.described()["Tags"]
    assert (given["LogLevel"], given["DeletionProtection"], given["WaitConcurrency"]) == ("DEBUG", "false", "50")
    assert all(f"{each}=50" in second.said for each in ("WaitConcurrency", "McpConcurrency"))
    assert {each["Key"]: each["Value"] for each in tags} == {"application": "baton", "stack": NAME, "team": "agents"}
    part = {"HttpStage"}  # $default, within its API
    assert {made[name] for name in made.keys() - part}.isdisjoint(others.values())

    assert "No changes to deploy" in second.deploy()
    assert (second.parameters(), second.resources(), second.described()["Tags"]) == (given, made, tags)
    assert resources(first, deployment.STACK_NAME) == others

    second.deploy(PARAMS="LogLevel=ERROR")
    assert second.parameters() == given | {"LogLevel": "ERROR", "Release": second.parameters()["Release"]}
    live = first.aws("lambda").get_function_configuration(FunctionName=made["Api"], Qualifier="live")
    assert live["Environment"]["Variables"]["BATON_LOG_LEVEL"] == "ERROR"  # it reaches those who call
