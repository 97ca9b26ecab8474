"""edge.yaml: CloudFront with a web ACL before a deployment's API, as docs/guides/edge.md has it deployed."""

from __future__ import annotations

import json
from typing import Any

import yaml

from infra.template import ROOT, Loader
from rest.edge import HEADER

TEMPLATE: dict[str, Any] = yaml.load((ROOT / "edge.yaml").read_text(), Loader=Loader)
GUIDE = (ROOT / "docs/guides/edge.md").read_text()
PARAMETERS, RESOURCES = TEMPLATE["Parameters"], TEMPLATE["Resources"]
CONFIG = RESOURCES["Distribution"]["Properties"]["DistributionConfig"]
ORIGIN = CONFIG["Origins"][0]
# AWS's own policies, by the ids that its documentation gives them.
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_VIEWER_EXCEPT_HOST_HEADER = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
LONGEST_POLL_SECONDS = 25


def test_cloudfront_proves_itself_with_the_header_that_functions_look_for() -> None:
    (header,) = ORIGIN["OriginCustomHeaders"]
    assert header == {"HeaderName": header["HeaderName"], "HeaderValue": {"Ref": "EdgeSecret"}}
    assert header["HeaderName"].lower() == HEADER
    assert not HEADER.startswith(("x-amz-", "x-edge-"))  # CloudFront keeps these for itself
    assert PARAMETERS["EdgeSecret"]["NoEcho"] is True
    assert "Default" not in PARAMETERS["EdgeSecret"]


def test_everything_of_a_request_reaches_the_api_but_the_host() -> None:
    """Authorization, queries, bodies, and every method that there is."""
    behaviour = CONFIG["DefaultCacheBehavior"]
    policies = (behaviour["CachePolicyId"], behaviour["OriginRequestPolicyId"])
    assert policies == (CACHING_DISABLED, ALL_VIEWER_EXCEPT_HOST_HEADER)
    assert set(behaviour["AllowedMethods"]) == {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}
    assert "CacheBehaviors" not in CONFIG


def test_no_token_is_sent_in_the_open() -> None:
    assert CONFIG["DefaultCacheBehavior"]["ViewerProtocolPolicy"] == "https-only"
    assert ORIGIN["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"


def test_a_long_poll_is_waited_for() -> None:
    assert ORIGIN["CustomOriginConfig"]["OriginReadTimeout"] > LONGEST_POLL_SECONDS


def test_one_address_is_bounded_and_told_so_as_the_api_tells_it() -> None:
    acl = RESOURCES["WebAcl"]["Properties"]
    (rule,) = acl["Rules"]
    rate = rule["Statement"]["RateBasedStatement"]
    assert (acl["Scope"], rate["AggregateKeyType"], rate["Limit"]) == (
        "CLOUDFRONT",
        "IP",
        {"Ref": "RequestsPerAddress"},
    )
    block = rule["Action"]["Block"]["CustomResponse"]
    assert (block["ResponseCode"], block["ResponseHeaders"]) == (429, [{"Name": "retry-after", "Value": "60"}])
    body = json.loads(acl["CustomResponseBodies"][block["CustomResponseBodyKey"]]["Content"])
    assert (body["status"], body["code"]) == (429, "rate_limited")


def test_no_sample_of_a_request_shows_its_token() -> None:
    acl = RESOURCES["WebAcl"]["Properties"]
    seen = [acl["VisibilityConfig"], *(rule["VisibilityConfig"] for rule in acl["Rules"])]
    assert [each["SampledRequestsEnabled"] for each in seen] == [False, False]


def test_an_acl_of_ones_own_takes_the_place_of_the_stacks() -> None:
    assert CONFIG["WebACLId"] == {"Fn::If": ["OwnWebAcl", {"Fn::GetAtt": ["WebAcl", "Arn"]}, {"Ref": "WebAclArn"}]}
    assert RESOURCES["WebAcl"]["Condition"] == "OwnWebAcl"


def test_the_guide_names_every_parameter_and_the_region() -> None:
    assert [name for name in PARAMETERS if name not in GUIDE] == []
    assert "--region us-east-1" in GUIDE
    assert "EdgeDigests" in GUIDE
