"""What each operator makes of a place, and that it refuses a place that isn't there exactly once."""

from __future__ import annotations

import ast

import pytest

from simulation.planted import operators as do
from simulation.planted.bug import bug
from simulation.planted.places import PRODUCT, Misplaced, file_of, scope_of
from simulation.planted.planting import changed_modules

MODULE = '''
NOT_USED = "attribute_exists(#pk) AND #version = :seen"


class Claim:
    def is_over(self, now: datetime) -> bool:
        """True if it is over."""
        return self.expires_at <= now and self.state is not None

    def renewed(self, now):
        if self.hard_deadline is not None:
            until = min(now, self.hard_deadline)
            return replace(self, expires_at=until, lease=1)
        if self.lease > 1 or now > self.expires_at or self.is_held:
            raise StaleClaim
        parts = [self.principal, self.key]
        return {"lease": self.lease + 1, **({} if now else {"ended": now})}


def commit(deps, change):
    def attempt():
        first = read(deps)
        second = read(change)
        return [each for each in first if each.is_open]

    return retried(attempt)
'''
CHANGES = {
    "condition": (do.condition("m:Claim.renewed", "it and now", "hard_deadline"), "deadline is not None and now:"),
    "condition by what it guards": (do.never("m:Claim.renewed", "StaleClaim"), "if False:\n            raise"),
    "condition of a comprehension": (do.always("m:commit", "is_open"), "for each in first if True]"),
    "compare": (do.compare("m:Claim.is_over", "<", "expires_at"), "self.expires_at < now and"),
    "operand": (do.operand("m:Claim.renewed", "it - 1", "lease", "2 of 2"), "{'lease': self.lease - 1 + 1"),
    "drop_operand": (do.drop_operand("m:Claim.is_over", "state"), "return self.expires_at <= now\n"),
    "drop_operand of three": (do.drop_operand("m:Claim.renewed", "is_held"), "lease > 1 or now > self.expires_at:"),
    "drop_operand of a choice": (do.drop_operand("m:Claim.renewed", "ended"), "**{}}"),
    "call": (do.call("m:commit", "retried", "it or attempt()"), "return retried(attempt) or attempt()"),
    "keep_argument": (do.keep_argument("m:Claim.renewed", "min", 0), "until = now\n"),
    "argument": (do.argument("m:Claim.renewed", "replace", "lease", "it + 1"), "expires_at=until, lease=1 + 1)"),
    "argument by its place": (do.argument("m:commit", "read", 0, "None", "change"), "second = read(None)"),
    "drop_argument": (do.drop_argument("m:Claim.renewed", "replace", "lease"), "replace(self, expires_at=until)"),
    "drop_argument by its place": (do.drop_argument("m:Claim.renewed", "min", 1), "min(now)"),
    "item": (do.item("m:Claim.renewed", "2", "lease"), "{'lease': 2, **"),
    "drop_item": (do.drop_item("m:Claim.renewed", "principal"), "parts = [self.key]"),
    "drop_item of a dict": (do.drop_item("m:Claim.renewed", "ended"), "**({} if now else {})"),
    "value": (do.value("m:Claim.is_over", "False", "expires_at"), "return False\n"),
    "value of a constant": (do.value("m:NOT_USED", "it + ''"), "#version = :seen' + ''"),
    "text": (do.text("m:NOT_USED", "=", ">="), "'attribute_exists(#pk) AND #version >= :seen'"),
    "drop_clause": (do.drop_clause("m:NOT_USED", "#pk"), "NOT_USED = '#version = :seen'"),
    "statement": (do.statement("m:Claim.renewed", "log()\nit", "StaleClaim"), "log()\n            raise StaleClaim"),
    "drop_statement": (do.drop_statement("m:Claim.renewed", "min"), "not None:\n            pass\n            return"),
    "later": (do.later("m:commit.attempt", "first", "deps"), "second = read(change)\n        first = read(deps)\n"),
}  # fmt: skip
NOT_ONCE = {
    "no such function": do.never("m:Claim.ended", "lease"),
    "a function in another": do.never("m:attempt", "is_open"),
    "no such part": do.never("m:Claim.is_over", "expires_at"),
    "two such parts": do.argument("m:commit", "read", 0, "None"),
    "one of two of which there are three": do.drop_operand("m:Claim.renewed", "self", "1 of 2"),
    "no such argument": do.drop_argument("m:Claim.renewed", "replace", "slot"),
    "a text that has it twice": do.text("m:NOT_USED", "#", ":"),
    "two such clauses": do.drop_clause("m:NOT_USED", "#"),
    "a docstring": do.text("m:Claim.is_over", "True", "False"),
    "an annotation": do.operand("m:Claim.is_over", "None", "datetime"),
}


def changed(operator: do.Operator) -> str:
    module = ast.parse(MODULE)
    operator.apply(scope_of(module, operator.place))
    return ast.unparse(ast.fix_missing_locations(module))


@pytest.mark.parametrize(("operator", "has"), CHANGES.values(), ids=CHANGES)
def test_operator_changes_its_place_alone(operator: do.Operator, has: str) -> None:
    text, before = changed(operator), ast.unparse(ast.parse(MODULE))
    assert has not in before
    assert text.count(has) == 1


@pytest.mark.parametrize("operator", NOT_ONCE.values(), ids=NOT_ONCE)
def test_place_that_is_not_there_once_is_refused(operator: do.Operator) -> None:
    with pytest.raises(Misplaced):
        changed(operator)


def test_module_is_found_by_the_end_of_its_path() -> None:
    assert (PRODUCT / file_of("steps/claims/take_task:take_task")).is_file()
    assert file_of("take_task:take_task") == file_of("claims/take_task:take_task")


@pytest.mark.parametrize("place", ["take_tusk:take_task", "ake_task:take_task", "__init__:nothing"])
def test_module_that_is_not_there_once_is_refused(place: str) -> None:
    with pytest.raises(Misplaced):
        file_of(place)


def test_operator_that_changes_nothing_is_refused() -> None:
    with pytest.raises(Misplaced, match="nothing changes"):
        changed_modules(bug("none", do.compare("sweep_rules:_used_up", ">=", "max_attempts")))
