"""Reads a YAML body under JSON's limits: one document of mappings, lists and texts.

The value is built from PyYAML's events, without its constructors. Nothing can name a class, set an anchor, repeat or
merge anything, so a body never grows beyond its size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml

from baton.domain import errors
from rest.errors import MalformedYaml
from rest.strict_json import EMPTY, MAX_BYTES, MAX_DEPTH, JsonBody, read_json, shown

_TEXT = "tag:yaml.org,2002:str"
_RESOLVER = yaml.resolver.Resolver()
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(body: bytes) -> JsonBody:
    """Returns the same value as for the content in JSON. An empty body is an empty mapping. Raises ``MalformedYaml``,
    and all that ``read_json`` raises."""
    if len(body) > MAX_BYTES:
        raise errors.TooLarge("body", f"is larger than {MAX_BYTES} bytes")
    try:
        content = _document(yaml.parse(body.decode(), Loader=_PARSER))
    except UnicodeDecodeError as exc:
        raise MalformedYaml("body", "must be UTF-8") from exc
    except yaml.YAMLError as exc:  # its message is left out, as it quotes the body
        mark = getattr(exc, "problem_mark", None)
        raise MalformedYaml("body", f"is not YAML (line {mark.line + 1})" if mark else "is not YAML") from None
    return read_json(json.dumps(content, separators=(",", ":")).encode())


def _document(events: Iterator[Any]) -> dict[str, Any]:
    found: Any = EMPTY.value
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            found = _value(next(events), events, ())
        if documents > 1:
            raise MalformedYaml("body", "must be one YAML document")
    if not isinstance(found, dict):
        raise MalformedYaml("body", "must be a mapping")
    return found


def _value(event: Any, events: Iterator[Any], path: tuple[str, ...]) -> Any:
    """Builds the value that begins with ``event``, from that event and as many of ``events`` as it needs."""
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _malformed(path, "must not use anchors or aliases")
    if event.tag is not None:
        raise _malformed(path, "must not have a tag")
    if isinstance(event, yaml.ScalarEvent):
        return _text(event, path)
    if len(path) >= MAX_DEPTH:
        raise _malformed(path[:1], f"must not be nested more than {MAX_DEPTH} levels deep")
    return _mapping(events, path) if isinstance(event, yaml.MappingStartEvent) else _list(events, path)


def _mapping(events: Iterator[Any], path: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if isinstance(event, yaml.CollectionStartEvent):
            raise _malformed(path, "must have texts as names")
        key = _value(event, events, path)
        if key in found:
            raise _malformed((*path, key), "is given twice")
        found[key] = _value(next(events), events, (*path, key))
    return found


def _list(events: Iterator[Any], path: tuple[str, ...]) -> list[Any]:
    found: list[Any] = []
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        found.append(_value(event, events, (*path, str(len(found)))))
    return found


def _text(event: Any, path: tuple[str, ...]) -> str:
    """Refuses unquoted text that a YAML reader might take for another type: ``yes``, ``1.10``, ``2026-01-31``."""
    tag: Any = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
    if tag != _TEXT:
        raise _malformed(path, "must be a text: put it in quotes if it is one")
    return str(event.value)


def _malformed(path: tuple[str, ...], message: str) -> MalformedYaml:
    return MalformedYaml(".".join(map(shown, path)) or "body", message)
