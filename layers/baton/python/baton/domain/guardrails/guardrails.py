"""Guardrails: a workspace's rules for content that agents send (docs/spec/protocol.md §4): limits of size, secrets and
forbidden patterns.

They apply to every text at any depth, the keys of objects included. A refusal names the rule and the field, never the
text that was found: it goes back to an agent and into logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from operator import is_
from typing import Any

from baton.domain import errors
from baton.domain.guardrails.secret_shapes import maskable, secrets_in
from baton.domain.guardrails.wildcards import ONE, RUN, compiled

REFUSE, MASK, OFF = "refuse", "mask", "off"
MAX_PATTERNS = 50
MAX_PATTERN = 200
MIN_TEXT, MAX_TEXT = 1_000, 262_144
MIN_ITEMS, MAX_ITEMS = 100, 100_000
# A mask can be longer than the secret: this bounds how much longer a content gets, so that it fits the store.
MAX_MASKS = 200
MAX_SHOWN_KEY = 64
_BOUNDS = {"max_text_characters": (MIN_TEXT, MAX_TEXT), "max_items": (MIN_ITEMS, MAX_ITEMS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrails:
    """A workspace's rules for content."""

    secrets: str = REFUSE  # what happens to a text that looks like a secret: ``REFUSE``, ``MASK`` or ``OFF``
    forbidden_patterns: tuple[str, ...] = ()  # matched anywhere, without case (``wildcards``)
    max_text_characters: int = MAX_TEXT  # of any one text or key; the default is the limit of a whole body
    max_items: int = 10_000  # of any one array or object

    def changed(self, values: Mapping[str, Any]) -> Guardrails:
        """Returns a copy with the given fields. Raises ``InvalidInput`` for the first bad field."""
        after = replace(self, **values)
        if after.secrets not in {REFUSE, MASK, OFF}:
            raise errors.InvalidInput("guardrails.secrets", "must be 'refuse', 'mask' or 'off'")
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(after, name) <= high:
                raise errors.InvalidInput(f"guardrails.{name}", f"must be from {low} to {high}")
        if len(after.forbidden_patterns) > MAX_PATTERNS:
            raise errors.InvalidInput("guardrails.forbidden_patterns", f"must be at most {MAX_PATTERNS} patterns")
        for number, pattern in enumerate(after.forbidden_patterns):
            _check_pattern(f"guardrails.forbidden_patterns[{number}]", pattern)
        return after

    def public(self) -> dict[str, Any]:
        return {**asdict(self), "forbidden_patterns": list(self.forbidden_patterns)}


def from_public(values: Mapping[str, Any]) -> Guardrails:
    """The inverse of ``public``. Unknown fields are left out, missing ones get their default."""
    known = {f.name for f in fields(Guardrails)}
    kept: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in known}
    return Guardrails(**kept)


def checked(content: dict[str, Any], rules: Guardrails, at: str) -> dict[str, Any]:
    """Returns ``content``, or a copy with masked secrets if ``rules`` say so. Raises ``GuardrailRefused``.

    ``content``: JSON, at most 16 levels deep. ``at``: its field in the request, empty for the whole body.
    """
    found: dict[str, Any] = _Walk(rules, at).value(content)
    return found


def checked_reason(reason: str, rules: Guardrails) -> str:
    """Returns the reason of a decision that stops something, after the guardrails. A mask that names the rule replaces
    a reason that ``rules`` refuse: they never prevent the decision."""
    try:
        return str(checked({"reason": reason}, rules, "")["reason"])
    except errors.GuardrailRefused as refusal:
        return f"[masked: refused by the guardrail {refusal.rule}]"


class _Walk:
    """Checks one content from the top down and raises at the first violation."""

    def __init__(self, rules: Guardrails, at: str) -> None:
        self._rules = rules
        self._patterns = compiled(rules.forbidden_patterns)
        self._masks = 0
        self._at = at
        # Key (None in a list) and index of each level, from the whole on: made into text only for a refusal.
        self._path: list[tuple[str | None, int]] = []

    def value(self, value: Any, name: str = "", at: tuple[str | None, int] = ("", 0)) -> Any:
        """Returns the checked value. ``name``: the key of the nearest object. ``at``: its own key and index."""
        self._path.append(at)
        match value:
            case str():
                value = self._text(value, name)
            case dict():
                value = self._object(value)
            case list() | tuple():
                value = self._list(value, name)
        self._path.pop()
        return value

    def _list(self, value: list[Any] | tuple[Any, ...], name: str) -> Any:
        self._must_be_few(value)
        items = [self.value(item, name, (None, number)) for number, item in enumerate(value)]
        return value if all(map(is_, items, value)) else items

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        self._must_be_few(value)
        found: dict[str, Any] = {}
        for number, (key, item) in enumerate(value.items()):
            kept_key = _free(self.value(key, at=("", number)), found)
            found[kept_key] = self.value(item, key, (key, number))
        return value if all(map(is_, found.values(), value.values())) and [*found] == [*value] else found

    def _text(self, text: str, name: str) -> str:
        if len(text) > self._rules.max_text_characters:
            raise self._refusal("max_text_characters")
        if (number := self._patterns.first_in(text)) is not None:
            raise self._refusal(f"forbidden_patterns[{number}]")
        if self._rules.secrets == REFUSE:
            for found in sorted(secrets_in(text, name), key=lambda each: each.start):
                raise self._refusal(f"secrets.{found.name}")
        return self._masked(text, name) if self._rules.secrets == MASK else text

    def _masked(self, text: str, name: str) -> str:
        secrets = maskable(text, name, MAX_MASKS)
        self._masks += len(secrets)
        if self._masks > MAX_MASKS:
            raise self._refusal(f"secrets.{secrets[0].name}")
        kept, start = [], 0
        for secret in secrets:
            kept += [text[start : secret.start], f"[masked: {secret.name}]"]
            start = secret.end
        return "".join((*kept, text[start:])) if secrets else text

    def _must_be_few(self, value: Any) -> None:
        if len(value) > self._rules.max_items:
            raise self._refusal("max_items")

    def _refusal(self, rule: str) -> errors.GuardrailRefused:
        where = self._at
        for key, number in self._path[1:]:
            where = f"{where}[{number}]" if key is None else _below(where, key, number)
        return errors.GuardrailRefused(rule, where or "body")


def _below(path: str, key: str, number: int) -> str:
    """Returns the path of a key: by its text, or by its position (counted from 0 as in arrays) if the text holds a
    secret or is no plain name."""
    is_name = key and len(key) <= MAX_SHOWN_KEY and key.isprintable() and not any(secrets_in(key))
    return ".".join(filter(None, (path, key))) if is_name else f"{path}[key {number}]"


def _free(key: str, taken: Mapping[str, Any]) -> str:
    """Returns the key with a number if it is taken: two keys can be equal once they are masked."""
    if key not in taken:
        return key
    return next(name for n in range(2, len(taken) + 3) if (name := f"{key} ({n})") not in taken)


def _check_pattern(field: str, pattern: str) -> None:
    if len(pattern) > MAX_PATTERN or not pattern.isprintable():
        raise errors.InvalidInput(field, f"must be 1 to {MAX_PATTERN} printable characters")
    if not pattern.replace(RUN, "").replace(ONE, "").strip():
        raise errors.InvalidInput(field, "must hold something besides * and ?, or it would forbid everything")
