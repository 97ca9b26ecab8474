"""template.yaml as CloudFormation gets it, after SAM has written out its functions, layers, mappings and schedules."""

from __future__ import annotations

import atexit
import json
import subprocess
from functools import cache
from typing import Any

from infra.template import Template
from tools.stack import deployment

# For each line of input one of output; to import SAM takes as long as to translate ten times.
_TRANSLATE = """
import json, sys
from samtranslator.translator.transform import transform

policies = type("NoPolicies", (), {"load": lambda self: {}})()
for line in sys.stdin:
    template, parameters = json.loads(line)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            resource["Properties"]["ContentUri"] = "s3://bucket/" + resource["Properties"]["ContentUri"]
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/functions"
    print(json.dumps(transform(template, parameters, policies)), flush=True)
"""


def translated(template: Template, **parameters: str) -> Template:
    """By the SAM of the lock, with these parameters. The caller doesn't change what it gets: it is kept for the next
    who asks."""
    return _translated(json.dumps([template, parameters]))


@cache
def _translated(line: str) -> Template:
    process = _translator()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, "SAM refuses the template, and says why above"
    template: Template = json.loads(answer)
    return template


@cache
def _translator() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [deployment.environment_of_tools() / "sam" / "bin" / "python", "-P", "-c", _TRANSLATE],
        env={"AWS_DEFAULT_REGION": "us-east-1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)  # ends with its input
    return process


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
