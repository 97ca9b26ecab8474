"""`make remove` removes a stack. It refuses while the stack's bus has rules, because AWS would fail to delete the bus
after it has deleted the functions. It prints what stays and the commands that delete it, asks, and waits until the
stack is gone. These variables say which stack:

    STACK         its name, baton if not said
    REGION        else the one that AWS's own settings name
    YES           anything: asks nothing, for CI
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from tools.admin import budget as budgets
from tools.admin.deploy import described, place
from tools.stack.background import StackError

WAIT = {"Delay": 3, "MaxAttempts": 1200}  # seconds between two looks; an hour in all


@dataclass(frozen=True)
class Removal:
    """The removal of one stack, with the clients of ``session``."""

    session: Any
    stack: str
    region: str

    def run(self, *, asks: bool) -> None:
        """Raises StackError if the stack can't be removed, or nobody agrees."""
        cloudformation = self._client("cloudformation")
        found = described(cloudformation, self.stack)
        if found is None:
            raise StackError(f"there is no stack {self.stack} in {self.region}")
        made = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in self._there(cloudformation)}
        if rules := list(self._rules(made.get("Bus"))):
            raise StackError(
                f"{made['Bus']} has rules, and AWS deletes no bus that has any. These commands delete them:\n"
                + "\n".join(rules)
            )
        parameters = {each["ParameterKey"]: each["ParameterValue"] for each in found.get("Parameters", [])}
        print(f"{self.stack} in {self.region} will be deleted, with the messages in its queues and all of its logs.")
        print("What stays, and how to delete it:")
        table = made.get("Table") or parameters.get("ExistingTable", "")
        print("\n".join(self._staying(table, made.get("CallbackKey", ""), made.get("BackupVault", ""))))
        if asks:
            self._ask()
        if budgets.is_asked_for(parameters):
            budgets.of(self.session, self.stack, self.region).remove()
        self._delete(cloudformation, found["StackId"])

    def _client(self, service: str) -> Any:
        return self.session.create_client(service, region_name=self.region)

    def _there(self, cloudformation: Any) -> list[dict[str, str]]:
        """The stack's resources that exist."""
        pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=self.stack)
        every = [each for page in pages for each in page["StackResourceSummaries"]]
        return [each for each in every if each["ResourceStatus"] != "DELETE_COMPLETE" and "PhysicalResourceId" in each]

    def _rules(self, bus: str | None) -> Iterator[str]:
        """Yields the commands that delete the rules on the bus."""
        if bus is None:
            return
        events = self._client("events")
        where = f"--region {self.region} --event-bus-name {bus}"
        for page in events.get_paginator("list_rules").paginate(EventBusName=bus):
            for rule in page["Rules"]:
                name = rule["Name"]
                if by := rule.get("ManagedBy"):
                    yield f"  the rule {name} belongs to {by}: delete what created it, such as an archive"
                    continue
                targets = events.list_targets_by_rule(Rule=name, EventBusName=bus)["Targets"]
                if ids := " ".join(each["Id"] for each in targets):
                    yield f"  aws events remove-targets {where} --rule {name} --ids {ids}"
                yield f"  aws events delete-rule {where} --name {name}"

    def _staying(self, table: str, callback_key: str, vault: str) -> Iterator[str]:
        """Yields what outlives the stack, with the command that deletes it."""
        where, off = f"--region {self.region}", "--no-deletion-protection-enabled"
        if table:
            yield f"  the table: aws dynamodb update-table {where} --table-name {table} {off}"
            yield f"    and then aws dynamodb delete-table {where} --table-name {table}"
        if vault:
            yield f"  backups: each, aws backup delete-recovery-point {where} --backup-vault-name {vault} …"
            yield f"    and then aws backup delete-backup-vault {where} --backup-vault-name {vault}"
        yield f"  the callback key: aws secretsmanager delete-secret {where} --secret-id {callback_key}"
        yield f"  Notion's tokens, {self.stack}/<workspace>/notion: the same for each"
        yield f"  layers, {self.stack}-core and {self.stack}-dependencies: each version,"
        yield f"             aws lambda delete-layer-version {where} --layer-name … --version-number …"
        yield f"  uploads: the folder {self.stack} in SAM's bucket (aws-sam-cli-managed-default-…)"

    def _ask(self) -> None:
        try:
            answer = input("Type the stack's name to delete it: ").strip()
        except EOFError:
            raise StackError("nobody is there to be asked: make remove YES=1 asks nothing") from None
        if answer != self.stack:
            raise StackError("nothing was removed")

    def _delete(self, cloudformation: Any, stack_id: str) -> None:
        cloudformation.delete_stack(StackName=stack_id)
        print(f"deleting {self.stack} …")
        try:
            cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack_id, WaiterConfig=WAIT)
        except WaiterError as error:
            failed = [each for each in self._there(cloudformation) if each["ResourceStatus"] == "DELETE_FAILED"]
            why = "\n".join(f"  {each['LogicalResourceId']}: {each['ResourceStatusReason']}" for each in failed)
            raise StackError(f"{self.stack} isn't deleted. Mend this, and run it again:\n{why or error}") from error
        print(f"{self.stack} is gone")


def main() -> int:
    environ: Mapping[str, str] = os.environ
    session = botocore.session.get_session()
    try:
        stack, region = place(session, environ, "remove")
        Removal(session, stack, region).run(asks=not environ.get("YES"))
    except (StackError, BotoCoreError, ClientError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
