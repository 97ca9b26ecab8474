"""template.yaml as CloudFormation gets it, after SAM has written out its functions, layers, mappings and schedules."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import deployment
from infra.template import Template

_TRANSLATE = """
import json, sys
from samtranslator.translator.transform import transform

template = json.load(sys.stdin)
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::LayerVersion":
        resource["Properties"]["ContentUri"] = "s3://bucket/" + resource["Properties"]["ContentUri"]
template["Globals"]["Function"]["CodeUri"] = "s3://bucket/functions"
policies = type("NoPolicies", (), {"load": lambda self: {}})()
json.dump(transform(template, json.loads(sys.argv[1]), policies), sys.stdout)
"""


def translated(template: Template, **parameters: str) -> Template:
    """By the SAM of the lock, with these parameters. The caller doesn't change what it gets: it is kept for the next
    who asks."""
    return _translated(json.dumps(template), json.dumps(parameters))


@cache
def _translated(text: str, parameters: str) -> Template:
    python = deployment.environment_of_tools() / "sam" / "bin" / "python"
    finished = subprocess.run(
        [python, "-P", "-c", _TRANSLATE, parameters],
        input=text,
        env={"AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    template: Template = json.loads(finished.stdout)
    return template


def resolved(value: Any, known: dict[str, str]) -> str:
    """A text as CloudFormation puts it together, with these parameters. Raises for a reference to anything else."""
    match value:
        case str():
            return value
        case {"Ref": str(name)}:
            return known[name]
        case {"Fn::Sub": str(text)}:
            for name, given in known.items():
                text = text.replace(f"${{{name}}}", given)
            if "${" in text:
                raise KeyError(text)
            return text
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(resolved(part, known) for part in parts)
        case {"Fn::Select": [index, {"Fn::Split": [str(between), whole]}]}:
            return resolved(whole, known).split(between)[int(index)]
    raise KeyError(str(value))
