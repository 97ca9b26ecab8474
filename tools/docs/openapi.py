"""docs/openapi.json, from the routes that the functions declare.

openapi.py           write it
openapi.py --check   fail if it isn't what the code says
"""

from __future__ import annotations

import json
import re
import sys
from http import HTTPStatus
from typing import Any, Literal

from pydantic import TypeAdapter

from api import handler as api
from api.handoffs.twining_routes import TwiningProblem
from baton.domain.access.rights import Right
from create_handoff_marker import handler as create_handoff_marker
from create_handoff_marker.shapes import MarkerProblem
from mcp_door import handler as mcp_door
from mcp_door.protocol import SERVED
from mcp_door.shapes import McpError
from notion_webhook import handler as notion_webhook
from rest.answers import JSON, PROBLEM_JSON, Problem
from rest.routing import PATTERNS, YAML_TYPES, Endpoint
from tools.docs.made_page import write_or_check
from wait import handler as wait

REF = "#/components/schemas/{model}"
PROBLEMS: dict[str, type] = {"marker": MarkerProblem, "twining": TwiningProblem, "mcp": McpError, "problem": Problem}
INTRODUCTION = """Serverless handoffs between AI agents. Times are RFC 3339 in UTC with milliseconds. Lists are \
`{items, next_cursor}`; a cursor belongs to the listing that gave it. Every answer of Baton's carries `X-Request-Id`. \
What doesn't reach Baton is answered by AWS's gateway or Function URL before it, with a body and headers of AWS's own: \
429 above the limit of the whole API, 413 for a body of megabytes, 500, 502 and 503 where a function failed, ended too \
late or wasn't to be had. Unknown fields and query parameters are refused. Whatever isn't 2xx wrote nothing but a \
count of the caller's requests. An agent that is switched off (`active: false`) is answered with 403 \
`inactive_agent`, except where it says otherwise."""
MEANINGS = {
    200: "Done",
    201: "Created",
    202: "Taken",
    204: "Done, or nothing to claim: no body",
    303: "For a browser, which wants `text/html` and shows no token: the page of the console that shows it",
    304: "What the caller has still holds: no body",
    400: "The body isn't JSON as Baton takes it: one object, UTF-8, at most 16 levels deep, no NaN, no duplicate keys",
    401: "No token",
    403: "A token that was refused (`token_refused`), or one that may not do this",
    404: "Unknown, here or in this workspace",
    409: "The state of things doesn't allow it; `code` says why",
    413: "The body is larger than 262,144 bytes; `errors` names its largest field",
    415: "The `Content-Type` names another character set than UTF-8",
    422: "A field, parameter or header is wrong; `errors` names it",
    429: "More than this caller may ask for; again after `Retry-After` seconds. Or more than the whole API takes: that "
    "answer is AWS's own, and has no `Retry-After`",
    500: "A fault of Baton's; the same request may be sent again. Where the function itself failed, the answer is "
    "AWS's own",
    503: "Too busy, or the tracker doesn't answer; the same request may be sent again after `Retry-After` seconds. "
    "Where no function answered in time, the answer is AWS's own, and has no `Retry-After`",
}
# Statuses that a kind of refusals never has.
_NEVER = {"marker": {404}, "twining": {404}, "mcp": {409}}
# What stands before Baton answers these as well, without its headers.
ALSO_OF_AWS = {413, 429, 500, 503}
REQUEST_ID = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "1 to 64 of `A-Za-z0-9_-`, else the gateway's own takes its place. Comes back in Baton's answer and "
    "is in every log line.",
    "schema": {"type": "string"},
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key with the same body gets the first answer again; with another body, 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
}

SIGNATURE = {
    "name": "X-Notion-Signature",
    "in": "header",
    "description": "`sha256=` and the HMAC-SHA256 of the body's very bytes, keyed with the verification token.",
    "schema": {"type": "string"},
}
MCP_HEADERS: dict[str, dict[str, Any]] = {
    "McpProtocolVersion": {
        "name": "MCP-Protocol-Version",
        "in": "header",
        "description": f"The version that the request speaks: {', '.join(SERVED)}. Without a handshake the body's "
        "`_meta` says the same, and the other two headers say what the body says. `initialize` takes no notice of it.",
        "schema": {"type": "string"},
    },
    "McpMethod": {"name": "Mcp-Method", "in": "header", "schema": {"type": "string"}},
    "McpName": {
        "name": "Mcp-Name",
        "in": "header",
        "description": "Of `tools/call`: the tool's name.",
        "schema": {"type": "string"},
    },
}
MCP_MEANINGS = {
    400: "No message of the protocol, or one whose headers contradict it",
    401: "No token, or one that was refused: `WWW-Authenticate` tells which",
    403: "A web page of a foreign `Origin`",
    404: "An unknown method, in the era without a handshake",
    422: "The query is wrong",
}
_LICENSE = {"name": "MIT", "identifier": "MIT"}
SESSION = (
    "A page of the console sends `<session_id>.<session_key>`. The browser adds the cookie "
    "`__Host-baton-<session_id>`, the other half of the secret, and `Sec-Fetch-Site: same-origin`. All three are "
    "needed. With `Authorization` the header means nothing."
)
BATON_SESSION = {
    "name": "Baton-Session",
    "in": "header",
    "description": "`new`: the browser keeps half of the session's secret in a cookie. For pages of this origin; 403 "
    "`foreign_origin` to others.",
    "schema": {"const": "new"},
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The `ETag` of an answer that the caller has: 304 if it still holds.",
    "schema": {"type": "string"},
}
CACHE_CONTROL = {
    "name": "Cache-Control",
    "in": "header",
    "description": "`max-age=30`: the caller takes an answer that is up to 30 s old, so 304 may be answered without "
    "making it anew. Without it, or with anything else, the answer is of now. Only for callers that read everything.",
    "schema": {"type": "string"},
}
LOCATION = {"Location": {"description": "Relative to the address asked.", "schema": {"type": "string"}}}
ETAG = {"ETag": {"description": "Weak, and of the caller's own view.", "schema": {"type": "string"}}}
PARAMETERS = {
    "RequestId": REQUEST_ID,
    "IdempotencyKey": IDEMPOTENCY_KEY,
    "NotionSignature": SIGNATURE,
    "IfNoneMatch": IF_NONE_MATCH,
    "CacheControl": CACHE_CONTROL,
    "BatonSession": BATON_SESSION,
    **MCP_HEADERS,
}
# An operation has the tag of its subject, which is the folder of its handler; of another function, the one below.
TAGS = {
    "tasks": "Tasks: their lists, trails and notes; what humans decide",
    "claims": "Work: claims, heartbeats, checkpoints, ends, callbacks",
    "handoffs": "Handoffs, chains of them, and inboxes",
    "escalations": "Handoff markers, and what waits for manual review",
    "conversations": "People and agents that Baton runs, talking",
    "memory": "The blackboard: what agents know together; the graph of handoffs",
    "agents": "Agents, tools, and routes of work",
    "questions": "What workers ask people, and what these approve ([questions](./spec/questions.md))",
    "alerts": "What somebody should look at",
    "stats": "How it goes: what has ended, how agents are, who decided what",
    "bell": "Where to listen for news ([the bell](./spec/bell.md))",
    "access": "Tokens, sessions and settings",
    "tracker": "Notion",
    "mcp": "The Model Context Protocol",
    "health": "Whether the API answers",
}
_TAG_OF = {"create_handoff_marker": "escalations", "mcp_door": "mcp", "notion_webhook": "tracker"}
# Each deployment has an address of its own: the output ApiUrl.
SERVERS = [
    {
        "url": "https://{host}",
        "description": "A deployment: its stack's output `ApiUrl`. `make stack` prints the local one's.",
        "variables": {"host": {"default": "baton.example.com"}},
    }
]
UNSIGNED = "The signature isn't that of the body"


class Schemas:
    """Every shape once, under its own name."""

    def __init__(self, types: set[type]) -> None:
        inputs: list[tuple[type, Literal["validation"], TypeAdapter[Any]]] = [
            (each, "validation", TypeAdapter(each)) for each in sorted(types, key=lambda each: each.__name__)
        ]
        self._references, defined = TypeAdapter.json_schemas(inputs, ref_template=REF)
        self.all: dict[str, Any] = _tidied(defined["$defs"])

    def reference(self, type_: type) -> dict[str, Any]:
        return dict(self._references[type_, "validation"])

    def shape(self, type_: type) -> dict[str, Any]:
        shape: dict[str, Any] = self.all[type_.__name__]
        return shape


def document() -> dict[str, Any]:
    routes = [*create_handoff_marker.routes, *api.routes, *wait.routes, *mcp_door.routes, *notion_webhook.routes]
    used = set(PROBLEMS.values())
    for route in routes:
        used |= {shape for shape in route.answers.values() if shape is not None}
        used |= {reader.schema for reader in (route.body, route.query) if reader is not None} - {object}
    schemas = Schemas(used)
    paths: dict[str, Any] = {}
    for route in sorted(routes, key=lambda route: (route.path, route.method)):
        paths.setdefault(route.shown_path, {})[route.method.lower()] = _operation(route, schemas)
    queries = {route.query.schema.__name__ for route in routes if _takes_query(route)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Baton", "version": "0.1.0", "description": INTRODUCTION, "license": _LICENSE},
        "servers": SERVERS,
        "tags": [{"name": name, "description": what} for name, what in TAGS.items()],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "`baton_<id>_<secret>`"},
                "session": {"type": "apiKey", "in": "header", "name": "Baton-Session", "description": SESSION},
            },
            "parameters": PARAMETERS,
            "responses": _all_refusals(schemas),
            "schemas": {name: shape for name, shape in sorted(schemas.all.items()) if name not in queries},
        },
    }


def _operation(route: Endpoint, schemas: Schemas) -> dict[str, Any]:
    summary, _, rest = (route.handler.__doc__ or "").strip().partition("\n")
    said = [
        " ".join(rest.split()),
        f"For {route.only.who} only." if route.only else "",
        f"A human needs the right `{route.least_right}`." if route.least_right not in {None, Right.READER} else "",
        "An agent that is switched off may still call this." if route.while_off else "",
    ]
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [_tag(route)],
        "summary": summary,
        "description": " ".join(filter(None, said)) or summary,
        "parameters": _parameters(route, schemas),
    }
    if route.any_value:
        operation["requestBody"] = {"required": False, "content": {"application/json": {"schema": {}}}}
    elif route.body is not None:
        types = ["application/json", *(YAML_TYPES[:1] if route.takes_yaml else ())]
        content = {each: {"schema": schemas.reference(route.body.schema)} for each in types}
        shape = schemas.shape(route.body.schema)
        shape["additionalProperties"] = route.body.is_raw
        is_required = bool(shape.get("required"))
        operation["requestBody"] = {"required": is_required, "content": content}
    if not route.needs_token:
        operation["security"] = []
    elif _kind_of(route) == "mcp":
        operation["security"] = [{"token": []}]
    operation["responses"] = _responses(route, schemas)
    return {name: value for name, value in operation.items() if value != ""}


def _tag(route: Endpoint) -> str:
    package, *rest = route.handler.__module__.split(".")
    if package == "wait":
        return "claims" if route.path.endswith("/claims/wait") else "tasks"
    return rest[0] if package == "api" else _TAG_OF[package]


def _parameters(route: Endpoint, schemas: Schemas) -> list[dict[str, Any]]:
    found = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", **_form_of(name)}}
        for name in re.findall(r"{(\w+)}", route.shown_path)
    ]
    if route.query is not None and _takes_query(route):
        shape = schemas.shape(route.query.schema)
        for name, schema in shape["properties"].items():
            is_required = name in shape.get("required", ())
            found.append({"name": name, "in": "query", "required": is_required, "schema": _without_null(schema)})
    named = {
        "IdempotencyKey": route.is_idempotent,
        "NotionSignature": _is_signed(route),
        "IfNoneMatch": route.is_tagged,
        "CacheControl": route.made_of_tasks,
        "BatonSession": route.opens_session,
    }
    if route.needs_token and _kind_of(route) == "mcp":
        named |= dict.fromkeys(MCP_HEADERS, True)
    headers = ["RequestId", *(name for name, is_taken in named.items() if is_taken)]
    return [*found, *({"$ref": f"#/components/parameters/{name}"} for name in headers)]


def _takes_query(route: Endpoint) -> bool:
    """False also for one that takes no notice of it."""
    return route.query is not None and route.query.schema is not object


def _form_of(name: str) -> dict[str, Any]:
    return {"minLength": 1} if name == "proxy" else {"pattern": PATTERNS[name]}


def _is_signed(route: Endpoint) -> bool:
    return route.body is not None and route.body.is_raw and not route.any_value and not route.needs_token


def _kind_of(route: Endpoint) -> str:
    if route.path == "/handoff-markers":
        return "marker"
    return next(kind for kind, shape in PROBLEMS.items() if shape is route.problem)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is left out, never null."""
    kept = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    return kept[0] if len(kept) == 1 else {name: value for name, value in schema.items() if value is not None}


def _responses(route: Endpoint, schemas: Schemas) -> dict[str, Any]:
    refused = {status for status in route.answers if status >= HTTPStatus.BAD_REQUEST}
    given = {status: shape for status, shape in route.answers.items() if status not in refused}
    found = {str(status): _response(status, shape, schemas) for status, shape in given.items()}
    if route.may_be_text:
        found["200"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    kind = _kind_of(route)
    refusals = {str(status): {"$ref": f"#/components/responses/{kind}-{status}"} for status in _refusals(route)}
    if route.is_tagged:
        found["200"]["headers"] = ETAG
        found["304"] = {"description": MEANINGS[304], "headers": ETAG}
    if route.page is not None:
        found["303"] = {"description": MEANINGS[303], "headers": LOCATION}
    refusals |= {str(status): {"$ref": f"#/components/responses/problem-{status}"} for status in refused}
    if _is_signed(route):
        refusals["401"] = {"$ref": "#/components/responses/unsigned-401"}
    return found | refusals


def _response(status: int, shape: type | None, schemas: Schemas) -> dict[str, Any]:
    if shape is None:
        return {"description": MEANINGS[status]}
    return {"description": MEANINGS[status], "content": {"application/json": {"schema": schemas.reference(shape)}}}


def _refusals(route: Endpoint) -> list[int]:
    if route.refuses is not None:
        return list(route.refuses)
    found = {422, 500, *route.refusals}
    if route.needs_token:
        found |= {401, 403, 429}
    if route.needs_token or route.body is not None:
        found.add(503)
    if "{" in route.path:
        found.add(404)
    if route.method != "GET":
        found.add(409)
    if route.body is not None:
        found |= {400, 413, 415}
    return sorted(found)


def _all_refusals(schemas: Schemas) -> dict[str, Any]:
    unsigned = {"description": UNSIGNED, "content": {PROBLEM_JSON: {"schema": schemas.reference(Problem)}}}
    return {"unsigned-401": unsigned} | {
        f"{kind}-{status}": _refusal(kind, status, schemas.reference(shape))
        for kind, shape in PROBLEMS.items()
        for status in MEANINGS
        if status >= HTTPStatus.BAD_REQUEST and status not in _NEVER.get(kind, ())
    }


def _refusal(kind: str, status: int, problem: dict[str, Any]) -> dict[str, Any]:
    if kind == "mcp":
        either = {"anyOf": [problem, {"type": "object"}]} if status in ALSO_OF_AWS else problem
        return {"description": MCP_MEANINGS.get(status, MEANINGS[status]), "content": {JSON: {"schema": either}}}
    content: dict[str, Any] = {PROBLEM_JSON: {"schema": problem}}
    if status in ALSO_OF_AWS:
        content[JSON] = {"schema": {"type": "object"}}
    return {"description": MEANINGS[status], "content": content}


def _tidied(value: Any) -> Any:
    """Without the titles that pydantic makes of names, with docstrings as Markdown, and with sets as what they take:
    lists in which something may be said twice."""
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _tidied(item) for name, item in value.items() if not (name == "title" and isinstance(item, str))}
    if kept.get("default", ...) is None and not _takes_null(kept):
        del kept["default"]  # it may be left out, and is never null
    if kept.get("type") == "array":
        kept.pop("uniqueItems", None)
    if isinstance(kept.get("description"), str):
        kept["description"] = " ".join(kept["description"].replace("``", "`").split())
    return kept


def _takes_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", []) or not {"type", "$ref"} & set(schema)


def main() -> int:
    return write_or_check("openapi.json", lambda: json.dumps(document(), ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
