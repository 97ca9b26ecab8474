"""The edge before a deployment (docs/guides/edge.md), played whole: edge.yaml's CloudFront before a Function URL, which
the local engine serves. It blocks nobody by a web ACL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from support.worlds.deployed import Deployed, until
from support.worlds.tenant import Tenant, new_workspace
from tools.stack import stack
from tools.stack.deployment import ROOT

SECRET, NEXT = "Zq7" * 12, "Xw4" * 12
EDGE = "baton-edge"


@dataclass(frozen=True)
class Edge:
    """``direct``: the API at its own address. ``by_edge``: the same one at CloudFront's."""

    direct: Deployed
    by_edge: Deployed

    def deploy(self, secret: str) -> str:
        """The host that CloudFront answers at."""
        cloudformation = self.direct.aws("cloudformation")
        url_id, _, rest = urlsplit(self.direct.stack.api_url).netloc.partition(".")
        parameters = {"Origin": f"{url_id}.{rest.partition('.localhost')[0]}.on.aws", "EdgeSecret": secret}
        known = EDGE in str(cloudformation.describe_stacks()["Stacks"])
        (cloudformation.update_stack if known else cloudformation.create_stack)(
            StackName=EDGE,
            TemplateBody=(ROOT / "edge.yaml").read_text(),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        )
        until(lambda: str(self._described()["StackStatus"]).endswith("_COMPLETE"))
        out = {each["OutputKey"]: each["OutputValue"] for each in self._described()["Outputs"]}
        return urlsplit(str(out["Url"])).netloc

    def _described(self) -> dict[str, Any]:
        (stack,) = self.direct.aws("cloudformation").describe_stacks(StackName=EDGE)["Stacks"]
        found: dict[str, Any] = stack
        return found

    def know(self, *secrets: str) -> None:
        """What `make deploy PARAMS='EdgeDigests=…'` does, for the function alone: a version with it is published."""
        functions, name = self.direct.aws("lambda"), self.direct.stack.functions["AllRoutes"]
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        digests = ",".join(sha256(secret.encode()).hexdigest() for secret in secrets)
        variables |= {"BATON_EDGE_DIGESTS": digests}
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
        version = functions.publish_version(FunctionName=name)["Version"]
        functions.update_alias(FunctionName=name, Name="live", FunctionVersion=version)


@pytest.fixture(scope="module")
def edge(another_home: Path) -> Iterator[Edge]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BATON_FRONT_DOOR", "FunctionUrl")
        running = stack.up(another_home, 0, notion_port=0)
    with running.http(timeout_seconds=45) as http:
        direct = Deployed(running, http)
        made = Edge(direct, direct)
        label = made.deploy(SECRET).partition(".")[0]
        headers = {
            "Host": f"{label}.cloudfront.localhost",
            "User-Agent": f"app/{running.engine_key}",
            "X-Forwarded-Proto": "https",
        }
        with httpx.Client(base_url=running.endpoint_url, headers=headers, timeout=45, trust_env=False) as by_edge:
            made = replace(made, by_edge=Deployed(running, by_edge, direct.ledger))
            try:
                yield made
            finally:
                made.know()
                direct.aws("cloudformation").delete_stack(StackName=EDGE)


@pytest.fixture(scope="module")
def team(edge: Edge) -> Tenant:
    """Made before anybody asks for a secret, and calls by the edge."""
    edge.know()
    return new_workspace(edge.by_edge)


def test_a_handoff_goes_by_the_edge_from_its_beginning_to_its_end(edge: Edge, team: Tenant) -> None:
    edge.know(SECRET)
    task_id = team.approved()
    claim = team.reviewer.post("/agents/reviewer/claims/wait?timeout=20", {"worker": "w-1"})
    assert claim["task"]["id"] == task_id
    team.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": {"done": True}})
    assert team.human.get(f"/tasks/{task_id}")["state"] == "done"


def test_around_the_edge_nobody_is_answered(edge: Edge, team: Tenant) -> None:
    edge.know(SECRET)
    around = replace(team.human, http=edge.direct.http)
    for method, path in (("GET", "/tasks"), ("GET", "/healthz"), ("POST", "/callbacks/x"), ("GET", "/nowhere")):
        assert around.refused(method, path) == (403, "forbidden")
    assert around.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 403
    assert around.send("GET", "/console/").status_code == 403
    forged = around.send("GET", "/healthz", headers={"X-Baton-Edge": sha256(SECRET.encode()).hexdigest()})
    assert forged.status_code == 403
    assert team.human.send("GET", "/healthz").status_code == 200
    assert team.human.send("GET", "/console/").status_code == 200


def test_a_secret_is_changed_while_callers_go_on(edge: Edge, team: Tenant) -> None:
    edge.know(SECRET)
    edge.know(SECRET, NEXT)
    assert team.human.send("GET", "/tasks").status_code == 200
    edge.deploy(NEXT)
    assert team.human.send("GET", "/tasks").status_code == 200
    edge.know(NEXT)
    assert team.human.send("GET", "/tasks").status_code == 200
    edge.deploy(SECRET)
    assert team.human.refused("GET", "/tasks") == (403, "forbidden")


def test_what_a_caller_sends_in_its_header_counts_for_nothing(edge: Edge, team: Tenant) -> None:
    edge.know(SECRET)
    assert team.human.send("GET", "/tasks", headers={"X-Baton-Edge": "mine"}).status_code == 200


def test_a_token_is_not_taken_in_the_open(edge: Edge, team: Tenant) -> None:
    assert team.human.send("GET", "/tasks", headers={"X-Forwarded-Proto": "http"}).status_code == 403
