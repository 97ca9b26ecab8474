"""What baton-client knows of docs/openapi.json: ``types.py`` by datamodel-code-generator, in an environment of its own
(requirements/types.in), ``operations.py``, a function for each operation, and ``answer_shapes.py``, its answers.

    python -m tools.docs.client_types [--check]
"""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/openapi.json"
PACKAGE = ROOT / "packages/baton-client/src/baton_client"
PROGRAM = Path(sys.prefix).parent / "types/bin/datamodel-codegen"
OPTIONS = (
    *("--input-file-type", "openapi", "--output-model-type", "typing.TypedDict", "--target-python-version", "3.11"),
    *("--use-standard-collections", "--use-union-operator", "--enum-field-as-literal", "all", "--collapse-root-models"),
    *("--no-use-closed-typed-dict", "--use-schema-description", "--use-single-line-docstring", "--disable-timestamp"),
    *("--formatters", "builtin", "--custom-file-header", "# Made from docs/openapi.json by `make openapi`."),
)
HEAD = '''# Made from docs/openapi.json by `make openapi`.
"""Every operation of the API, as a request whose answer has a type, for ``Baton.send`` and ``AsyncBaton.send``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from baton_client.core import Request, new_key, with_query

if TYPE_CHECKING:
    from baton_client import types as t
'''
# No program of Baton's callers asks for these: they are there for those who look in the wrong place.
LEFT_OUT = "/.well-known/"
# Asks for a text to be drawn: a program takes JSON.
TEXTUAL = {"get_chain": {"format"}}
# A repeat does nothing twice, and takes no key.
REPEATABLE = {"heartbeat", "acknowledge_inbox"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def main() -> int:
    document = json.loads(DOCUMENT.read_text())
    made = {
        PACKAGE / "types.py": types(),
        PACKAGE / "operations.py": operations(document),
        PACKAGE / "answer_shapes.py": answer_shapes(document),
    }
    if "--check" not in sys.argv:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} isn't what the API says: run `make openapi` and commit it", file=sys.stderr)
    return 1 if stale else 0


def types() -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "types.py"
        subprocess.run([PROGRAM, "--input", DOCUMENT, "--output", made, *OPTIONS], check=True)
        return formatted(made.read_text(encoding="utf-8"))


def formatted(text: str) -> str:
    ruff = str(Path(sys.executable).parent / "ruff")
    command = [ruff, "format", "--quiet", "--stdin-filename", str(PACKAGE / "made.py")]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True, cwd=ROOT).stdout


def operations(document: dict[str, Any]) -> str:
    parts = [HEAD]
    for path, verbs in document["paths"].items():
        if LEFT_OUT not in path:
            parts += [_operation(document, path, method, each) for method, each in verbs.items()]
    return formatted("\n\n".join(parts))


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    left_out = TEXTUAL.get(operation["operationId"], set())
    found = [_resolved(document, each) for each in operation.get("parameters", [])]
    found = [each for each in found if each["name"] not in left_out]
    body, answer = _body(operation), _answer(operation)
    takes_key = any(each["name"] == "Idempotency-Key" for each in found)
    inside = [each for each in found if each["in"] == "path"]
    query = sorted((each for each in found if each["in"] == "query"), key=lambda each: not each.get("required"))
    given = [f"{_name(each)}: str" for each in inside] + ([f"body: {body}"] if body else [])
    given += ["*"] if query or takes_key else []
    given += [_argument(each) for each in query] + (["key: str | None = None"] if takes_key else [])
    named = ", ".join(f'"{each["name"]}": {_name(each)}' for each in query)
    for each in inside:
        path = path.replace(f"{{{each['name']}}}", f"{{quote({_name(each)}, safe='')}}")
    told = f'f"{path}"' if inside else f'"{path}"'
    said = [f'"{method.upper()}"', f"with_query({told}, {{{named}}})" if query else told]
    said += (["body"] if body else []) + (["key=key or new_key()"] if takes_key else [])
    said += ["repeatable=True"] if operation["operationId"] in REPEATABLE else []
    summary = "\n    ".join(_wrapped(operation["summary"]))
    lines = [f"def {operation['operationId']}("]
    lines += [f"    {each}," for each in given]
    lines += [f") -> Request[{answer}]:", f'    """{summary}"""', "    return Request(", f"        {', '.join(said)}"]
    return "\n".join([*lines, "    )", ""]).replace(
        "def " + operation["operationId"] + "(\n)", f"def {operation['operationId']}()"
    )


def _argument(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kind = "list[str]" if schema.get("type") == "array" else PLAIN.get(schema.get("type", ""), "str")
    if "enum" in schema:
        kind = f"Literal[{', '.join(map(json.dumps, schema['enum']))}]"
    return f"{_name(parameter)}: {kind}" + ("" if parameter.get("required") else " | None = None")


def _name(parameter: dict[str, Any]) -> str:
    name = str(parameter["name"])
    return f"{name}_" if keyword.iskeyword(name) else name


def _resolved(document: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    reference = found.get("$ref", "")
    named: dict[str, Any] = document["components"]["parameters"][reference.rpartition("/")[2]] if reference else found
    return named


def _body(operation: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return "" if content is None else _type(content["schema"])


def _answer(operation: dict[str, Any]) -> str:
    """The bodies of the answers that aren't refusals, None for one without."""
    good = {status: each for status, each in operation["responses"].items() if status.startswith("2")}
    kinds = [
        _type(each["content"]["application/json"]["schema"]) if each.get("content") else "None"
        for each in good.values()
    ]
    return " | ".join(dict.fromkeys(kinds)) or "None"


def _type(schema: dict[str, Any]) -> str:
    return f"t.{schema['$ref'].rpartition('/')[2]}" if "$ref" in schema else "Any"


SHAPES_HEAD = '''# Made from docs/openapi.json by `make openapi`.
"""The answers of every operation that aren't refusals, by which ``genuine.py`` knows Baton."""

from __future__ import annotations
'''


def answer_shapes(document: dict[str, Any]) -> str:
    """Names: of the fields that a shape always has. Operations: method and path → status → the shape, "text" for plain
    text, or both with a blank between; None for an answer without a body."""
    found = {
        f"{method.upper()} {path}": {
            int(status): _shape(answer.get("content", {}))
            for status, answer in operation["responses"].items()
            if int(status) < 400
        }
        for path, verbs in document["paths"].items()
        for method, operation in verbs.items()
    }
    shapes = {shape for answers in found.values() for shape in answers.values() if shape is not None}
    used = sorted({shape.removesuffix("text").strip() for shape in shapes})
    schemas = document["components"]["schemas"]
    names = {name: " ".join(schemas.get(name, {}).get("required", [])) for name in used}
    written = f"NAMES: dict[str, str] = {names!r}\n\nOPERATIONS: dict[str, dict[int, str | None]] = {found!r}\n"
    return formatted(f"{SHAPES_HEAD}\n{written}")


def _shape(content: dict[str, Any]) -> str | None:
    if not content:
        return None
    schema = content.get("application/json", {}).get("schema", {})
    names = [schema.get("$ref", "").rpartition("/")[2], "text" if "text/plain" in content else ""]
    return " ".join(filter(None, names))


def _wrapped(text: str) -> Iterator[str]:
    from textwrap import wrap

    yield from wrap(text, 105)


if __name__ == "__main__":
    sys.exit(main())
