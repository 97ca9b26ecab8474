"""The budget that `make deploy` creates, over the local engine's API of AWS Budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tools.admin.budget import DOLLARS, TOPIC, Budget
from tools.stack import deployment
from tools.stack.engine import Access

OF = {"AccountId": "000000000000", "BudgetName": "baton-eu-north-1"}
ALARMS, TICKETS = (f"arn:aws:sns:eu-north-1:000000000000:{each}" for each in ("alarms", "tickets"))
SOMEBODY = {"SubscriptionType": "EMAIL", "Address": "somebody@example.com"}


@pytest.fixture(scope="module")
def client(engine_alone: Access) -> Any:
    return deployment.client("budgets", engine_alone)


@pytest.fixture
def budget(client: Any) -> Iterator[Budget]:
    made = Budget(client, OF["AccountId"], OF["BudgetName"])
    yield made
    made.remove()


def asked(dollars: str = "50", topic: str = ALARMS) -> dict[str, str]:
    return {DOLLARS: dollars, TOPIC: topic}


def found(client: Any) -> dict[tuple[str, float], list[str]]:
    """The subscribers of each notification, by its type and threshold; the limit by an empty type and its dollars."""
    told = {
        (each["NotificationType"], each["Threshold"]): sorted(
            every["Address"]
            for every in client.describe_subscribers_for_notification(**OF, Notification=each)["Subscribers"]
        )
        for each in client.describe_notifications_for_budget(**OF)["Notifications"]
    }
    limit = client.describe_budget(**OF)["Budget"]["BudgetLimit"]
    return told | {("", float(limit["Amount"])): [limit["Unit"]]}


def about(client: Any, kind: str) -> dict[str, Any]:
    (notification,) = [
        each
        for each in client.describe_notifications_for_budget(**OF)["Notifications"]
        if each["NotificationType"] == kind
    ]
    return {**OF, "Notification": notification}


def test_a_budget_is_created_once_and_follows_the_parameters(client: Any, budget: Budget) -> None:
    budget.refuse_unseen()
    for dollars, topic in (("50", ALARMS), ("50", ALARMS), ("75", ALARMS), ("75", TICKETS)):
        budget.settle(asked(dollars, topic))
        assert found(client) == {("ACTUAL", 80): [topic], ("FORECASTED", 100): [topic], ("", float(dollars)): ["USD"]}


def test_subscribers_that_people_added_stay_and_notifications_that_they_removed_come_back(
    client: Any, budget: Budget
) -> None:
    budget.settle(asked())
    client.create_subscriber(**about(client, "ACTUAL"), Subscriber=SOMEBODY)
    client.delete_notification(**about(client, "FORECASTED"))
    budget.settle(asked(topic=TICKETS))
    assert found(client)["ACTUAL", 80] == sorted([TICKETS, SOMEBODY["Address"]])
    assert found(client)["FORECASTED", 100] == [TICKETS]
    client.delete_subscriber(**about(client, "ACTUAL"), Subscriber={"SubscriptionType": "SNS", "Address": TICKETS})
    budget.settle(asked(topic=TICKETS))
    assert found(client)["ACTUAL", 80] == sorted([TICKETS, SOMEBODY["Address"]])


def test_a_budget_that_is_gone_may_be_removed_again(client: Any, budget: Budget) -> None:
    budget.settle(asked())
    budget.remove()
    budget.remove()
    with pytest.raises(ClientError, match="NotFound"):
        client.describe_budget(**OF)
