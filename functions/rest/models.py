"""Strict models for bodies and queries: no unknown field, no number for a text, no ``true`` for 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import date, datetime
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from baton.domain import times
from baton.domain.ids import ID_PATTERN, SLUG_PATTERN
from baton.domain.tasks.task import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS
from rest import routing
from rest.errors import InvalidFields
from rest.shape import json_form
from rest.strict_json import JsonBody, shown

MAX_REASON = 2_000
MAX_PAGE = 100
FIRST_YEAR, LAST_YEAR = 2, 9_998
MAX_DIGITS = 15
NOT_A_TIME = "must be a time with an offset, such as 2026-01-31T12:00:00Z"
# The most errors in one answer. More tell nothing new, and cost time.
MAX_ERRORS = 20
# A visible character: neither white space nor invisible.
SAYS_SOMETHING = (
    r"[^\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    r"\u2028-\u202f\u205f-\u206f\u2800\u2d7f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff]"
)
_MESSAGES = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "string_type": "must be a string",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "frozen_set_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}


class Body(BaseModel):
    # Of some 130 models a function needs a few before it is stopped: each is built with its first request.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class NoFields(Body):
    """An empty object, or no body at all."""


def _without_defaults(schema: dict[str, Any]) -> None:
    for property_ in schema["properties"].values():
        property_.pop("default", None)


class Part(Body):
    """Fields left out keep their value, so defaults aren't shown."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    def given(self) -> dict[str, Any]:
        """Returns the fields that the caller sent, nested ones too."""
        return self.model_dump(exclude_unset=True, exclude={"version"})


class Changes(Part):
    """Fields left out keep their value, so defaults aren't shown. ``version``: the version that the change is based on;
    any other current version refuses it."""

    version: Annotated[int, Field(ge=0, lt=2**53)] = 0

    @property
    def expected_version(self) -> int | None:
        return self.version if "version" in self.model_fields_set else None


class Query(BaseModel):
    """Query parameters: texts, parsed by each field's type."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Model = TypeVar("Model", bound=BaseModel)
Slug = Annotated[str, StringConstraints(pattern=SLUG_PATTERN, max_length=63)]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Worker = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Reason = Annotated[str, StringConstraints(max_length=MAX_REASON)]


def _instant(text: object) -> datetime:
    """Parses RFC 3339 only: other texts that could be meant as times, as ``"-1"``, are refused."""
    if not isinstance(text, str):
        raise ValueError(NOT_A_TIME)  # noqa: TRY004 - pydantic takes only ValueError for a refusal
    try:
        return times.parse_rfc3339(text)
    except ValueError as exc:
        raise ValueError(NOT_A_TIME) from exc


def _in_supported_years(at: datetime) -> datetime:
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        raise ValueError(f"must be in the years {FIRST_YEAR} to {LAST_YEAR}")
    return at


# In UTC a time may fall into the year before or after, and neither 0 nor 10000 is a year.
YEARS = "^(?!0000|0001|9999)[0-9]{4}-"
Instant = Annotated[
    AwareDatetime,
    BeforeValidator(_instant),
    AfterValidator(_in_supported_years),
    Field(json_schema_extra={"pattern": YEARS}),
]
LeaseSeconds = Annotated[int, Field(ge=MIN_LEASE_SECONDS, le=MAX_LEASE_SECONDS)]


def _digits(text: object) -> int:
    if isinstance(text, int):
        return text
    if not re.fullmatch(rf"[0-9]{{1,{MAX_DIGITS}}}", str(text)):
        raise ValueError("must be a whole number")
    return int(str(text))


def _seconds(text: object) -> float:
    if isinstance(text, int):
        return text
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", str(text)):
        raise ValueError("must be a number of seconds")
    return float(str(text))


def _day(text: object) -> date:
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError("must be a day such as 2026-01-31")
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise ValueError("is not a day of the calendar") from exc


from_digits = BeforeValidator(_digits)
from_seconds = BeforeValidator(_seconds)
Day = Annotated[date, BeforeValidator(_day)]
QueryInstant = Annotated[AwareDatetime, BeforeValidator(_instant)]
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE), from_digits]
EventNumber = Annotated[int, Field(ge=0, lt=10**MAX_DIGITS), from_digits]


class PageQuery(Query):
    limit: Limit = 25
    cursor: Annotated[str | None, StringConstraints(max_length=2_000)] = None


def few(most: int, least: int = 0) -> Any:
    """Bounds of a list. Only its first wrong item is reported."""
    return Field(min_length=least or None, max_length=most, fail_fast=True)


class Bounds:
    """Checks how many items and fields a value has, by the model's own schema. It runs before the other checks:
    validating 100,000 wrong items takes seconds, and nobody reads the errors."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return self._model.model_json_schema()

    def check(self, value: Any) -> None:
        """Raises ``InvalidFields``."""
        self._check(value, self._schema, ())

    def _check(self, value: Any, schema: dict[str, Any], path: tuple[int | str, ...]) -> None:
        if isinstance(value, list):
            self._check_list(value, self._of_type(schema, "array"), path)
        elif isinstance(value, dict):
            self._check_object(value, self._of_type(schema, "object"), path)

    def _check_list(self, value: list[Any], schema: dict[str, Any], path: tuple[int | str, ...]) -> None:
        _must_be_few(len(value), schema.get("maxItems"), "items", path)
        for number, item in enumerate(value if "items" in schema else ()):
            self._check(item, schema["items"], (*path, number))

    def _check_object(self, value: dict[str, Any], schema: dict[str, Any], path: tuple[int | str, ...]) -> None:
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        _must_be_few(len(value), schema.get("maxProperties"), "fields", path)
        if others is False and len(value) > len(known) + MAX_ERRORS:
            unknown = islice((name for name in value if name not in known), MAX_ERRORS)
            raise InvalidFields((_path((*path, name)), _MESSAGES["extra_forbidden"]) for name in unknown)
        for name, item in value.items():
            below = known.get(name, others)
            if isinstance(below, dict):
                self._check(item, below, (*path, name))

    def _of_type(self, schema: dict[str, Any], type_: str) -> dict[str, Any]:
        """Returns the part of the schema for this type, or an empty one."""
        if "$ref" in schema:
            return self._of_type(self._schema["$defs"][schema["$ref"].rpartition("/")[2]], type_)
        if schema.get("type") == type_:
            return schema
        return next((found for each in schema.get("anyOf", ()) if (found := self._of_type(each, type_))), {})


def _must_be_few(count: int, most: int | None, what: str, path: tuple[int | str, ...]) -> None:
    if most is not None and count > most:
        raise InvalidFields([(_path(path), f"must have at most {most} {what}")])


def strict(model: type[Model]) -> routing.InputReader[Model]:
    bounds = Bounds(model)

    def read(body: JsonBody) -> Model:
        bounds.check(body.value)
        # From the text: in strict mode pydantic takes texts for dates and enumerations only from JSON.
        found = _validated(lambda: model.model_validate_json(body.text), _path)
        return _exact(found, body.value) if body.is_exact else found

    return routing.InputReader(model, read)


def query(model: type[Model], *lists: str) -> routing.InputReader[Model]:
    """Returns a reader for query parameters. ``lists`` are those that may be repeated, or have several values with
    commas between them."""

    def read(pairs: list[tuple[str, str]]) -> Model:
        return _validated(lambda: model.model_validate(_query_fields(pairs, lists)), lambda loc: _path(loc[:1]))

    return routing.InputReader(model, read)


def plain(model: BaseModel) -> dict[str, Any]:
    """Returns the fields that were sent, as plain JSON with numbers as they were written. A field of type ``Any`` has
    them already."""
    fields, extra = type(model).model_fields, model.__pydantic_extra__ or {}
    given = {name: getattr(model, name) for name in fields if name in model.model_fields_set}
    return {name: _plain(value) for name, value in given.items() if not fields[name].exclude} | extra


def without(given: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return plain(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else json_form(value)


def _exact(model: Model, given: dict[str, Any]) -> Model:
    """Puts the numbers of free content back as they were written: pydantic reads them as ``float``."""
    for name, field in type(model).model_fields.items():
        alias = field.alias or name
        if name in model.model_fields_set and alias in given:
            model.__dict__[name] = _with_given_numbers(model.__dict__[name], given[alias])
    for name in model.__pydantic_extra__ or ():
        model.__pydantic_extra__[name] = given[name]  # type: ignore[index]
    return model


def _with_given_numbers(value: Any, given: Any) -> Any:
    match value:
        case BaseModel():
            return _exact(value, given)
        case tuple():
            return tuple(map(_with_given_numbers, value, given))
        case dict() | list() | float():
            return given
        case _:
            return value


def _query_fields(pairs: list[tuple[str, str]], lists: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            found.setdefault(name, []).extend(value.split(","))
        elif name in found:
            raise InvalidFields([(shown(name), "is given twice")])
        else:
            found[name] = value
    return found


def _validated(validate: Callable[[], Model], path: Callable[[tuple[int | str, ...]], str]) -> Model:
    try:
        return validate()
    except ValidationError as exc:
        # Never ``input``: the caller's data is neither logged nor sent back.
        errors = _innermost(exc.errors(include_url=False, include_context=False, include_input=False))
        listed = dict.fromkeys((path(error["loc"]), _message(error)) for error in errors[:MAX_ERRORS])
        raise InvalidFields(list(listed)) from None


def _innermost(errors: list[Any]) -> list[Any]:
    """Drops the errors of lists that only report a wrong item inside."""
    within = {error["loc"][:length] for error in errors for length in range(len(error["loc"]))}
    return [error for error in errors if error["loc"] not in within]


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(shown(str(part)) for part in loc if part not in {"", "[key]"}) or "body"


def _message(error: Any) -> str:
    if (error.get("ctx") or {}).get("pattern") == SAYS_SOMETHING:
        return "must have a visible character"
    message: str = _MESSAGES.get(error["type"], error["msg"])
    return re.sub(r"^[A-Z]\w+ should", "must", message.removeprefix("Value error, "))
