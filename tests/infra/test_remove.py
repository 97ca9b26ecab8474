"""`make remove` refuses a stack whose bus has rules, as AWS would fail halfway."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import WaiterError

from tools.admin.remove import Removal
from tools.stack.background import StackError

STACK, REGION, BUS = "baton", "eu-central-1", "baton-events"


@dataclass
class Account:
    """An account with one stack, as AWS answers: it is the session and each of its clients. The local engine can't
    stand in for it, as it deletes a bus with its rules. ``late``: a rule that is added when the deletion begins."""

    rules: dict[str, list[str]] = field(default_factory=dict)
    late: str = ""
    managed_by: str = ""
    dollars: str = "0"
    resources: dict[str, str] = field(
        default_factory=lambda: {"Table": "baton-Table-1", "Bus": BUS, "CallbackKey": "arn:key", "Api": "baton-api"}
    )
    removed_budgets: list[str] = field(default_factory=list)
    stands: bool = True

    def create_client(self, _service: str, region_name: str) -> Account:
        assert region_name == REGION
        return self

    def get_paginator(self, operation: str) -> _Pages:
        return _Pages(getattr(self, operation))

    def get_waiter(self, _name: str) -> Account:
        return self

    def describe_stacks(self, **_: Any) -> dict[str, Any]:
        given = [{"ParameterKey": "MonthlyBudget", "ParameterValue": self.dollars}]
        return {"Stacks": [{"StackId": "arn:stack", "Parameters": given}]}

    def list_stack_resources(self) -> dict[str, Any]:
        failed = {
            "ResourceStatus": "DELETE_FAILED",
            "ResourceStatusReason": "EventBus can't be deleted since it has rules.",
        }
        return {
            "StackResourceSummaries": [
                {"LogicalResourceId": name, "PhysicalResourceId": each, "ResourceStatus": "CREATE_COMPLETE"}
                | (failed if name == "Bus" and "Api" not in self.resources else {})
                for name, each in self.resources.items()
            ]
        }

    def list_rules(self) -> dict[str, Any]:
        managed = {"ManagedBy": self.managed_by} if self.managed_by else {}
        return {"Rules": [{"Name": name} | managed for name in self.rules]}

    def list_targets_by_rule(self, **asked: str) -> dict[str, Any]:
        return {"Targets": [{"Id": each} for each in self.rules[asked["Rule"]]]}

    def get_caller_identity(self) -> dict[str, str]:
        return {"Account": "111122223333"}

    def delete_budget(self, **asked: str) -> None:
        self.removed_budgets.append(asked["BudgetName"])

    def delete_stack(self, **_: Any) -> None:
        self.rules |= {self.late: []} if self.late else {}
        self.resources.pop("Api", None)
        if not self.rules:
            self.resources.clear()

    def wait(self, **_: Any) -> None:
        if self.resources:
            raise WaiterError("StackDeleteComplete", "DELETE_FAILED", {})
        self.stands = False


@dataclass(frozen=True)
class _Pages:
    operation: Any

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        yield self.operation()


def removed(account: Account, *, asks: bool = False) -> str:
    """Returns why the stack wasn't removed; empty if it was."""
    try:
        Removal(account, STACK, REGION).run(asks=asks)
    except StackError as why:
        return str(why)
    return ""


def test_rules_on_the_bus_are_refused_with_the_commands_that_delete_them() -> None:
    account = Account({"tell-slack": ["slack", "queue"], "count": []})
    on = f"--region {REGION} --event-bus-name {BUS}"
    assert removed(account).splitlines()[1:] == [
        f"  aws events remove-targets {on} --rule tell-slack --ids slack queue",
        f"  aws events delete-rule {on} --name tell-slack",
        f"  aws events delete-rule {on} --name count",
    ]
    assert (account.stands, "Api" in account.resources) == (True, True)
    account.rules.clear()
    assert removed(account) == ""
    assert not account.stands


def test_a_rule_of_another_service_is_named_with_its_owner() -> None:
    said = removed(Account({"Events-Archive-all": []}, managed_by="events.amazonaws.com"))
    assert (
        "the rule Events-Archive-all belongs to events.amazonaws.com: delete what created it, such as an archive"
        in said
    )


def test_a_failed_deletion_tells_awss_reason_and_may_be_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    account = Account(late="just-now")
    assert removed(account).endswith("Bus: EventBus can't be deleted since it has rules.")
    account.late = ""
    assert "delete-rule" in removed(account)
    account.rules.clear()
    assert removed(account) == ""
    assert "baton is gone" in capsys.readouterr().out


def test_it_prints_what_stays_and_asks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    account = Account()
    for answer, why in (("yes\n", "nothing was removed"), ("", "YES=1")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        assert why in removed(account, asks=True)
        assert account.stands
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{STACK}\n"))
    assert removed(account, asks=True) == ""
    said = capsys.readouterr().out
    for stays in (
        "delete-table --region eu-central-1 --table-name baton-Table-1",
        "--secret-id arn:key",
        "baton/<workspace>/notion",
    ):
        assert stays in said


@pytest.mark.parametrize(("dollars", "gone"), [("50", ["baton-eu-central-1"]), ("0", [])])
def test_a_budget_is_removed_with_its_stack(dollars: str, gone: list[str]) -> None:
    account = Account(dollars=dollars)
    assert removed(account) == ""
    assert account.removed_budgets == gone


def test_the_vault_of_a_stack_that_copied_its_table_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    account = Account()
    Removal(account, STACK, REGION).run(asks=False)
    assert "backup" not in capsys.readouterr().out
    account = Account()
    account.resources["BackupVault"] = "baton1a2b3c4d"
    Removal(account, STACK, REGION).run(asks=False)
    assert (
        "aws backup delete-backup-vault --region eu-central-1 --backup-vault-name baton1a2b3c4d"
        in capsys.readouterr().out
    )
