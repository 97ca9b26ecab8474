"""What in a database keeps parts of a task from being shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from baton.adapters.notion.database_schema import DatabaseSchema, Lack, Property
from baton.domain.settings.tracker_settings import TrackerSettings, folded
from baton.ports.tracker import TrackerProblem

ERROR, WARNING = "error", "warning"
_OPTIONAL = ("priority", "due", "client", "project", "task_id")
_CONSEQUENCE = {
    "priority": "pages don't show priorities",
    "due": "pages don't show due dates",
    "client": "pages aren't linked to clients",
    "project": "pages aren't linked to projects",
    "task_id": "a page whose making ended unclear is found again only by its title and time",
}


def problems_of(schema: DatabaseSchema, settings: TrackerSettings) -> Iterator[TrackerProblem]:
    if schema.title is None:
        yield TrackerProblem("title", ERROR, "The database has no title property", "check tracker.database.")
    if len(schema.sources) > 1:
        yield TrackerProblem(
            "database",
            WARNING,
            f'The database has {len(schema.sources)} data sources; "{schema.sources[0]}", the first, is used',
            "give the id of the data source that you mean as tracker.database.",
        )
    yield from _of_status(schema, settings)
    for role in _OPTIONAL:
        found = schema.find(role, settings)
        if isinstance(found, Lack):
            yield _lacking(role, settings, found, _CONSEQUENCE[role])
    yield from _of_priorities(schema, settings)


def _of_status(schema: DatabaseSchema, settings: TrackerSettings) -> Iterator[TrackerProblem]:
    found = schema.find("status", settings)
    if isinstance(found, Lack):
        yield _lacking("status", settings, found, "pages show no states, and nobody can close a task in Notion")
        return
    yield from _missing_options(found, settings.statuses, "statuses")
    closing = (*settings.closed_statuses, *settings.cancelled_statuses)
    if not any(found.option(word) for word in closing):
        yield TrackerProblem(
            found.name,
            WARNING,
            f'"{found.name}" has no option that closes a task ({", ".join(closing)}), so people can close none',
            "add one in Notion, or name yours in tracker.closed_statuses.",
        )


def _of_priorities(schema: DatabaseSchema, settings: TrackerSettings) -> Iterator[TrackerProblem]:
    found = schema.find("priority", settings)
    if isinstance(found, Property):
        yield from _missing_options(found, settings.priorities, "priorities")


def _missing_options(found: Property, named: Mapping[str, str], setting: str) -> Iterator[TrackerProblem]:
    """Yields the missing options of a status property. A select's options are created when they are first written."""
    if found.type != "status":
        return
    uses: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for key, word in named.items():
        uses.setdefault(folded(word), []).append(key)
        words.setdefault(folded(word), word)
    for word, keys in uses.items():
        if found.option(word) is None:
            yield TrackerProblem(
                found.name,
                WARNING,
                f'"{found.name}" has no option "{words[word]}" ({", ".join(keys)})',
                f"add it in Notion, or name another in tracker.{setting}.",
            )


def _lacking(role: str, settings: TrackerSettings, lack: Lack, consequence: str) -> TrackerProblem:
    problem = lack.problem[0].upper() + lack.problem[1:]
    return TrackerProblem(settings.properties[role], WARNING, f"{problem}, so {consequence}", lack.what_to_do)
