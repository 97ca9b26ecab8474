"""Promises about what may stand before a deployment's API: a domain of its own, and the edge of edge.yaml."""

from __future__ import annotations

from typing import Any

from infra.register import Problems, check, check_of, check_whole
from infra.template import GATEWAY, Template, environment, functions, of_type
from rest.edge import DIGESTS

DOMAIN, CERTIFICATE, DIGESTS_PARAMETER = "DomainName", "CertificateArn", "EdgeDigests"
IN_THE_CLOUD = [
    "HasDomain",
    {"Fn::Sub": "https://${DomainName}"},
    {"Fn::Sub": "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}"},
]


@check_of(GATEWAY)
def a_domain_leads_to_the_api(template: Template) -> Problems:
    """By its own certificate, and without a path."""
    (domain,) = of_type(template, "AWS::ApiGatewayV2::DomainName").values() or [{}]
    (settings,) = domain.get("DomainNameConfigurations", [{}])
    if domain.get("DomainName") != {"Ref": DOMAIN} or settings.get("CertificateArn") != {"Ref": CERTIFICATE}:
        yield "the domain isn't the one that was asked for"
    if settings.get("SecurityPolicy") != "TLS_1_2":
        yield "the domain takes old TLS"
    mapping = template["Resources"].get("DomainMapping", {})
    wanted = {"ApiId": {"Ref": "HttpApi"}, "DomainName": {"Ref": "Domain"}, "Stage": "$default"}
    if mapping.get("Properties") != wanted or mapping.get("DependsOn") != "HttpStage":
        yield "the domain leads elsewhere, or to a stage that isn't there yet"


@check_whole
def callers_are_told_of_the_domain(template: Template) -> Problems:
    """That every function says the same as the outputs, service_checks holds."""
    _, at_the_gateway, _ = template["Outputs"]["ApiUrl"]["Value"]["Fn::If"]
    if at_the_gateway["Fn::If"][-1] != {"Fn::If": IN_THE_CLOUD}:
        yield "nobody is told of the domain"


@check_whole
def what_is_not_asked_for_is_not_there(template: Template) -> Problems:
    parameters = template["Parameters"]
    for name, default in ((DOMAIN, ""), (CERTIFICATE, ""), (DIGESTS_PARAMETER, ""), ("DisableExecuteApi", "false")):
        if parameters[name]["Default"] != default:
            yield f"{name} is somebody's by default"
    for name in ("Domain", "DomainMapping"):
        if template["Resources"][name].get("Condition") != "HasDomain":
            yield f"{name} is there without a domain"
    disabled = template["Resources"]["HttpApi"]["Properties"].get("DisableExecuteApiEndpoint")
    if disabled != {"Fn::If": ["HasNoExecuteApi", True, {"Ref": "AWS::NoValue"}]}:
        yield "the API's own address isn't open by default, or can't be shut"


@check_whole
def a_domain_that_can_not_work_is_refused_before_anything_is_changed(template: Template) -> Problems:
    rules = [
        (rule.get("RuleCondition"), each["Assert"])
        for rule in template.get("Rules", {}).values()
        for each in rule["Assertions"]
    ]
    wanted = {
        "without a certificate": (_is_given(DOMAIN), _is_given(CERTIFICATE)),
        "a certificate alone": (_is_given(CERTIFICATE), _is_given(DOMAIN)),
        "of a Function URL": (_is_given(DOMAIN), {"Fn::Equals": [{"Ref": "FrontDoor"}, GATEWAY]}),
        "no address at all": ({"Fn::Equals": [{"Ref": "DisableExecuteApi"}, "true"]}, _is_given(DOMAIN)),
    }
    for what, rule in wanted.items():
        if rule not in rules:
            yield f"nothing refuses a domain: {what}"


def _is_given(parameter: str) -> dict[str, Any]:
    return {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]}


@check
def every_function_knows_the_edge(template: Template) -> Problems:
    """By a digest: nobody who may list functions learns the secret."""
    for name in functions(template):
        if environment(template, name).get(DIGESTS) != {"Ref": DIGESTS_PARAMETER}:
            yield f"{name} doesn't know which edge it is behind"
