"""Has the modules of packaging/ judged: the construct is compiled against the CDK's own types and synthesised, and
Terraform's is read by the parser of Terraform itself. They come from npm's registry at the first run. Exit status: 0
nothing found, 1 something, 2 they couldn't run."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.node import NODE, Node

PACKAGING = Path(__file__).parents[2] / "packaging"
PACKAGES = (
    "aws-cdk-lib@2.276.0",
    "constructs@10.8.1",
    "typescript@5.9.3",
    "@types/node@24.19.2",
    "@cdktf/hcl2json@0.21.0",
)
APP = """
import { App, Stack } from "aws-cdk-lib";
import { Baton } from "./baton";

const app = new App({ outdir: process.argv[2] });
const stack = new Stack(app, "Mine");
new Baton(stack, "Baton", { folder: process.argv[3], parameters: { LogLevel: "DEBUG" } }).output("ApiUrl");
app.synth();
"""
READER = """
const { parse } = require("@cdktf/hcl2json");
const text = require("fs").readFileSync(process.argv[2], "utf8");
parse("main.tf", text).then((found) => console.log(JSON.stringify(found)));
"""
PARAMETERS = {"CodeBucket", "CodePrefix", "Release"}
COMPILED = ("--strict", "--module", "commonjs", "--target", "es2022", "--skipLibCheck", "--types", "node")


def main() -> int:
    parser = argparse.ArgumentParser(description="The judges of the Terraform module and the CDK construct")
    parser.add_argument("python", help="of the environment that has node")
    parser.add_argument("home", type=Path, help="where the judges are installed")
    asked = parser.parse_args()
    node = Node(asked.python, asked.home.resolve())
    try:
        node.install(PACKAGES)
        problems = [*_of_the_construct(node), *_of_the_module(node)]
    except subprocess.SubprocessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(problems) or "the CDK construct and the Terraform module: nothing found")
    return 1 if problems else 0


def _of_the_construct(node: Node) -> Iterator[str]:
    folder, package, out = (node.home / name for name in ("app", "package", "synthesised"))
    for each in (folder, package / "code", out):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    (package / "template.json").write_text("{}", encoding="utf-8")
    (package / "code" / "Api.zip").write_bytes(b"")
    shutil.copy(PACKAGING / "cdk" / "baton.ts", folder / "baton.ts")
    (folder / "app.ts").write_text(APP, encoding="utf-8")
    types = ("--typeRoots", str(node.home / "node_modules" / "@types"))
    compiled = node.run("tsc", *COMPILED, *types, str(folder / "app.ts"))
    if compiled.returncode:
        yield f"the construct doesn't compile:\n{compiled.stdout}{compiled.stderr}"
        return
    _run(node, folder / "app.js", out, package)
    resources = json.loads((out / "Mine.template.json").read_text(encoding="utf-8"))["Resources"]
    nested: list[dict[str, Any]] = [
        each["Properties"] for each in resources.values() if each["Type"] == "AWS::CloudFormation::Stack"
    ]
    if [each["Parameters"].keys() for each in nested] != [PARAMETERS | {"LogLevel"}]:
        yield f"the construct gives a stack {nested}"


def _of_the_module(node: Node) -> Iterator[str]:
    reader = node.home / "reader.js"
    reader.write_text(READER, encoding="utf-8")
    module = json.loads(_run(node, reader, PACKAGING / "terraform" / "main.tf"))
    (stack,) = module["resource"]["aws_cloudformation_stack"]["baton"]
    if missing := [name for name in PARAMETERS if f"{name} =" not in stack["parameters"]]:
        yield f"the module doesn't give {missing}"
    if stack["capabilities"] != ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]:
        yield "CloudFormation would refuse the module's stack"


def _run(node: Node, program: Path, *arguments: Path) -> str:
    command = [node.python, "-c", NODE, str(program), *map(str, arguments)]
    return subprocess.run(command, check=True, timeout=300, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
