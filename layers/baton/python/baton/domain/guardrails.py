"""A workspace's rules for what agents hand to each other (spec/protocol.md §4): how much of it, no secrets, and none of
the words that a human forbade.

They hold for every text at any depth, the keys of objects included. A refusal names the rule and the field and never
what was found: it goes back to an agent, and into logs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import GuardrailRefused, InvalidInput
from baton.domain.secret_shapes import apart, secrets_in
from baton.domain.wildcards import ONE, RUN, compiled

if TYPE_CHECKING:
    from collections.abc import Mapping

REFUSE, MASK, OFF = "refuse", "mask", "off"
MAX_PATTERNS = 50
MAX_PATTERN = 200
MIN_TEXT, MAX_TEXT = 1_000, 262_144
MIN_ITEMS, MAX_ITEMS = 100, 100_000
# Masks may be longer than what they hide: that many can't make a content outgrow what the store takes.
MAX_MASKS = 200
MAX_SHOWN_KEY = 64
_BOUNDS = {"max_text_characters": (MIN_TEXT, MAX_TEXT), "max_items": (MIN_ITEMS, MAX_ITEMS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrails:
    """``secrets``: what becomes of what looks like one: ``refuse``, ``mask`` or ``off``. ``forbidden_patterns``: looked
    for anywhere in a text, whatever the case; ``*`` stands for any run of characters, ``?`` for one.
    ``max_text_characters``: of any one text or key; by default as many as a whole body may have. ``max_items``: of any
    one array or object."""

    secrets: str = REFUSE
    forbidden_patterns: tuple[str, ...] = ()
    max_text_characters: int = MAX_TEXT
    max_items: int = 10_000

    def changed(self, values: Mapping[str, Any]) -> Guardrails:
        """A copy with the given fields. Raises ``InvalidInput`` naming the field."""
        after = replace(self, **values)
        if after.secrets not in {REFUSE, MASK, OFF}:
            raise InvalidInput("guardrails.secrets", "must be 'refuse', 'mask' or 'off'")
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(after, name) <= high:
                raise InvalidInput(f"guardrails.{name}", f"must be from {low} to {high}")
        if len(after.forbidden_patterns) > MAX_PATTERNS:
            raise InvalidInput("guardrails.forbidden_patterns", f"must be at most {MAX_PATTERNS} patterns")
        for number, pattern in enumerate(after.forbidden_patterns):
            _check_pattern(f"guardrails.forbidden_patterns[{number}]", pattern)
        return after

    def public(self) -> dict[str, Any]:
        return {
            "secrets": self.secrets,
            "forbidden_patterns": list(self.forbidden_patterns),
            "max_text_characters": self.max_text_characters,
            "max_items": self.max_items,
        }


def from_public(values: Mapping[str, Any]) -> Guardrails:
    """The inverse of ``public``. What isn't known is left out, what isn't there gets its default."""
    known = {f.name for f in fields(Guardrails)}
    kept: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in known}
    return Guardrails(**kept)


def checked(content: dict[str, Any], rules: Guardrails, at: str) -> dict[str, Any]:
    """``content`` itself, or a copy with its secrets masked where ``rules`` say so. Raises ``GuardrailRefused``.

    ``content``: JSON, at most 16 levels deep. ``at``: what it is called in the request, empty for the whole body.
    """
    found: dict[str, Any] = _Walk(rules).value(content, at, "")
    return found


class _Walk:
    """One content, from the top down: the first thing that a rule refuses ends it."""

    def __init__(self, rules: Guardrails) -> None:
        self._rules = rules
        self._patterns = compiled(rules.forbidden_patterns)
        self._masks = 0

    def value(self, value: Any, path: str, name: str) -> Any:
        """``name``: the key of the nearest object."""
        match value:
            case str():
                return self._text(value, path, name)
            case dict():
                return self._object(value, path)
            case list() | tuple():
                self._must_be_few(value, path)
                items = [self.value(item, f"{path}[{number}]", name) for number, item in enumerate(value)]
                return value if all(map(_is, items, value)) else items
            case _:
                return value

    def _object(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        self._must_be_few(value, path)
        found: dict[str, Any] = {}
        is_same = True
        for number, (key, item) in enumerate(value.items()):
            kept_key = _free(self._text(key, _by_position(path, number), ""), found)
            found[kept_key] = self.value(item, _below(path, key, number), key)
            is_same = is_same and kept_key == key and found[kept_key] is item
        return value if is_same else found

    def _text(self, text: str, path: str, name: str) -> str:
        if len(text) > self._rules.max_text_characters:
            raise GuardrailRefused("max_text_characters", path)
        if (number := self._patterns.first_in(text)) is not None:
            raise GuardrailRefused(f"forbidden_patterns[{number}]", path)
        if self._rules.secrets == OFF:
            return text
        return self._without_secrets(text, path, name)

    def _without_secrets(self, text: str, path: str, name: str) -> str:
        """Looked at again until none is found: a mask may change what stands next to something else."""
        while secrets := apart(secrets_in(text, name)):
            self._masks += len(secrets)
            if self._rules.secrets == REFUSE or self._masks > MAX_MASKS:
                raise GuardrailRefused(f"secrets.{secrets[0].name}", path)
            for secret in reversed(secrets):
                text = f"{text[: secret.start]}[masked: {secret.name}]{text[secret.end :]}"
        return text

    def _must_be_few(self, value: Any, path: str) -> None:
        if len(value) > self._rules.max_items:
            raise GuardrailRefused("max_items", path or "body")


def _below(path: str, key: str, number: int) -> str:
    """By its name, unless it holds a secret or makes no name."""
    is_name = key and len(key) <= MAX_SHOWN_KEY and key.isprintable() and not any(secrets_in(key))
    return ".".join(filter(None, (path, key))) if is_name else _by_position(path, number)


def _by_position(path: str, number: int) -> str:
    """Counted from 0, as items of arrays are."""
    return f"{path}[key {number}]"


def _free(key: str, taken: Mapping[str, Any]) -> str:
    """Two keys may look the same once they are masked."""
    if key not in taken:
        return key
    return next(name for n in range(2, len(taken) + 3) if (name := f"{key} ({n})") not in taken)


def _is(one: Any, other: Any) -> bool:
    return one is other


def _check_pattern(field: str, pattern: str) -> None:
    if len(pattern) > MAX_PATTERN or not pattern.isprintable():
        raise InvalidInput(field, f"must be 1 to {MAX_PATTERN} printable characters")
    if not pattern.replace(RUN, "").replace(ONE, "").strip():
        raise InvalidInput(field, "must hold something besides * and ?, or it would forbid everything")
