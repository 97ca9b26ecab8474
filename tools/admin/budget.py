"""The budget that a stack asks for with ``MonthlyBudget``.

A budget belongs to the account, not to a region, and CloudFormation has no such resource in many regions. So `make
deploy` creates, changes and removes it through the API of AWS Budgets. The stack's parameters say what was asked for. A
budget is created after the stack has the parameter, and removed before the stack loses it: no budget is left that no
stack knows of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tools.stack.background import StackError

DOLLARS, TOPIC = "MonthlyBudget", "AlarmTopicArn"  # parameters of template.yaml
# Each kind of notification, with the percentage of the budget at which it is sent.
TELLS = (("ACTUAL", 80), ("FORECASTED", 100))


def is_asked_for(parameters: Mapping[str, str]) -> bool:
    return int(parameters.get(DOLLARS, 0)) > 0


def of(session: Any, stack: str, region: str) -> Budget:
    account = session.create_client("sts", region_name=region).get_caller_identity()["Account"]
    return Budget(session.create_client("budgets", region_name=region), account, f"{stack}-{region}")


@dataclass(frozen=True)
class Budget:
    """A budget for the costs of the whole account: AWS tells a stack's own costs apart only once its tag is activated
    for cost allocation. ``name``: the stack's and the region's."""

    client: Any
    account: str
    name: str

    def refuse_unseen(self) -> None:
        """Raises StackError if these credentials may not read the budget."""
        try:
            self._found()
        except (ClientError, BotoCoreError) as error:
            raise StackError(
                f"these credentials can't read the account's budgets: {error}. To deploy without one: {DOLLARS}=0"
            ) from error

    def settle(self, parameters: Mapping[str, str]) -> None:
        """Creates the budget, or changes it, as the stack's parameters ask for it. Subscribers that people have added
        stay. Raises StackError."""
        try:
            self._put(parameters[DOLLARS], {"SubscriptionType": "SNS", "Address": parameters[TOPIC]})
        except (ClientError, BotoCoreError) as error:
            raise StackError(
                f"the stack is deployed, but its budget {self.name} isn't: {error}. Run `make deploy` again with the "
                "right budgets:ModifyBudget"
            ) from error

    def remove(self) -> None:
        """Removes the budget, if there is one. Raises StackError."""
        try:
            self.client.delete_budget(**self._of)
        except self.client.exceptions.NotFoundException:
            return
        except (ClientError, BotoCoreError) as error:
            raise StackError(f"the budget {self.name} can't be removed: {error}. Nothing was changed") from error

    @property
    def _of(self) -> dict[str, str]:
        return {"AccountId": self.account, "BudgetName": self.name}

    def _found(self) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self.client.describe_budget(**self._of)["Budget"]
        except self.client.exceptions.NotFoundException:
            return None
        return found

    def _put(self, dollars: str, teller: Mapping[str, str]) -> None:
        limit = {"Amount": dollars, "Unit": "USD"}
        wanted = {"BudgetName": self.name, "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": limit}
        notifications = [
            {
                "NotificationType": kind,
                "ComparisonOperator": "GREATER_THAN",
                "Threshold": percent,
                "ThresholdType": "PERCENTAGE",
            }
            for kind, percent in TELLS
        ]
        found = self._found()
        if found is None:
            told = [{"Notification": each, "Subscribers": [teller]} for each in notifications]
            self.client.create_budget(AccountId=self.account, Budget=wanted, NotificationsWithSubscribers=told)
            return
        if float(found["BudgetLimit"]["Amount"]) != float(dollars):
            self.client.update_budget(AccountId=self.account, NewBudget=wanted)
        for each in notifications:
            self._tell(each, teller)

    def _tell(self, notification: Mapping[str, Any], teller: Mapping[str, str]) -> None:
        about = {**self._of, "Notification": notification}
        try:
            told = self.client.describe_subscribers_for_notification(**about)["Subscribers"]
        except self.client.exceptions.NotFoundException:
            self.client.create_notification(**about, Subscribers=[teller])
            return
        topics = [each for each in told if each["SubscriptionType"] == "SNS"]  # at most one, as AWS allows
        if topics and teller not in topics:
            self.client.update_subscriber(**about, OldSubscriber=topics[0], NewSubscriber=teller)
        elif not topics:
            self.client.create_subscriber(**about, Subscriber=teller)
