"""What `make deploy` says when AWS Budgets refuses a request. tests/stack/test_budget.py tests the budget itself."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError

from tools.admin import budget as budgets
from tools.admin.budget import Budget
from tools.stack.background import StackError

ASKED = {"MonthlyBudget": "50", "AlarmTopicArn": "arn:topic"}


class Refusing:
    """A client whose every request is refused."""

    exceptions = botocore.session.Session().create_client("budgets", region_name="us-east-1").exceptions

    def __getattr__(self, operation: str) -> Any:
        def refuse(**_: Any) -> None:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, operation)

        return refuse


BUDGET = Budget(Refusing(), "111122223333", "baton-eu-north-1")


def test_without_the_right_to_read_budgets_a_deployment_is_refused() -> None:
    with pytest.raises(StackError, match=r"can't read the account's budgets: .*AccessDenied.* MonthlyBudget=0"):
        BUDGET.refuse_unseen()


def test_a_budget_that_cant_be_created_is_an_error() -> None:
    with pytest.raises(
        StackError, match=r"the stack is deployed, but its budget baton-eu-north-1 isn't: .*AccessDenied"
    ):
        BUDGET.settle(ASKED)


def test_a_budget_that_cant_be_removed_is_an_error_before_anything_changes() -> None:
    with pytest.raises(StackError, match=r"baton-eu-north-1 can't be removed: .*AccessDenied.* Nothing was changed"):
        BUDGET.remove()


def test_a_budget_is_asked_for_by_a_number_of_dollars() -> None:
    assert [budgets.is_asked_for(each) for each in (ASKED, {"MonthlyBudget": "0"}, {})] == [True, False, False]


@pytest.mark.parametrize(
    ("region", "address"), [("eu-north-1", "budgets.amazonaws.com"), ("cn-north-1", "budgets.amazonaws.com.cn")]
)
def test_all_regions_of_a_partition_have_one_address_for_budgets(region: str, address: str) -> None:
    client = botocore.session.Session().create_client("budgets", region_name=region)
    assert client.meta.endpoint_url == f"https://{address}"
