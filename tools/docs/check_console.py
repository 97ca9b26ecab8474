"""Checks the console's modules with `tsc --checkJs`: their types are in JSDoc, those of the API's answers come from
docs/openapi.json.

TypeScript and the libraries' types come from npm, at the versions of requirements/vendor.json, into .baton/console.
Exit status: 0 all is well, also where npm's registry can't be reached (that is said); else a module is wrong.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tools.docs import vendor
from tools.docs.npm import node, npm
from tools.stack.deployment import ROOT

HOME = ROOT / ".baton" / "console"
STATIC = ROOT / "functions" / "console" / "static"
CONFIG = {
    "compilerOptions": {
        "allowJs": True,
        "checkJs": True,
        "noEmit": True,
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noFallthroughCasesInSwitch": True,
        "target": "ES2023",
        "module": "ESNext",
        "moduleResolution": "bundler",
        "lib": ["ES2024", "DOM", "DOM.Iterable"],
        "types": [],
        "skipLibCheck": True,
    },
    "include": ["static/**/*.js", "api.d.ts"],
}
# What is in static/vendor/ has its types in the packages that it came from.
LIBRARIES = {
    "preact": 'export * from "preact";',
    "hooks": 'export * from "preact/hooks";',
    "signals": 'export * from "@preact/signals";',
    "htm": 'export { default } from "htm";',
}


def declarations(document: dict[str, Any]) -> str:
    """The module `api`: a type for each schema of the document."""
    schemas = document["components"]["schemas"]
    lines = [f"  export type {name} = {typed(schema)};" for name, schema in sorted(schemas.items())]
    return "\n".join(['declare module "api" {', *lines, "}", ""])


def typed(schema: dict[str, Any]) -> str:
    """A schema as TypeScript says it."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(typed(each) for each in schema[several])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    return _of_type(schema)


def _of_type(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"({typed(schema.get('items', {}))})[]"
    if kind == "object":
        return "{" + " ".join(_fields(schema)) + "}" if schema.get("properties") else "Record<string, any>"
    return {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}.get(
        str(kind), "any"
    )


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    required = set(schema.get("required", ()))
    for name, value in schema["properties"].items():
        yield f"{json.dumps(name)}{'' if name in required else '?'}: {typed(value)};"


def install() -> None:
    """Raises subprocess.SubprocessError where npm can't."""
    listed = vendor.listed()
    wanted = [*listed["types"], *(f"{package['name']}@{package['version']}" for package in listed["packages"])]
    marker = HOME / "installed"
    if marker.exists() and marker.read_text(encoding="utf-8") == "\n".join(wanted):
        return
    HOME.mkdir(parents=True, exist_ok=True)
    print(f"installing {wanted[0]} …", flush=True)
    npm("install", "--prefix", str(HOME), *wanted, folder=HOME)
    marker.write_text("\n".join(wanted), encoding="utf-8")


def stage() -> None:
    """Lays the modules out beside the libraries' types: the minified libraries themselves are not checked."""
    static = HOME / "static"
    shutil.rmtree(static, ignore_errors=True)
    shutil.copytree(STATIC, static, ignore=shutil.ignore_patterns("vendor"))
    (static / "vendor").mkdir()
    for name, content in LIBRARIES.items():
        (static / "vendor" / f"{name}.d.ts").write_text(content + "\n", encoding="utf-8")
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    (HOME / "api.d.ts").write_text(declarations(document), encoding="utf-8")
    (HOME / "tsconfig.json").write_text(json.dumps(CONFIG), encoding="utf-8")


def main() -> int:
    try:
        install()
    except subprocess.SubprocessError as error:
        print(f"NOT CHECKED: the console's types, as npm's registry can't be reached ({type(error).__name__})")
        return 0
    stage()
    return node(HOME / "node_modules" / "typescript" / "bin" / "tsc", "--project", ".", folder=HOME)


if __name__ == "__main__":
    sys.exit(main())
