"""The store's contract over moto, which neither we nor the local engine's authors wrote. In one thread: moto isn't
atomic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.ports.store import Store
from support.fakes.dynamo import Wire, create_table
from support.faults.soak import IS_WHOLE
from support.faults.threads import StillClock
from support.same_store import contract

pytestmark = pytest.mark.slow

# Many tasks: moto copies the whole table for each item of a transaction.
TOO_LONG = (
    "test_a_long_conversation_is_read_whole",
    "test_a_run_in_one_workspace_is_not_one_in_the_other",
    "test_an_agents_queue_tells_what_it_can_do",
    "test_any_mixture_is_read_in_order",
    "test_due_ends_though_what_it_names_is_moved_on_meanwhile",
    "test_due_goes_on_past_every_page",
    "test_many_are_read_by_id_each_once_and_unknown_ones_left_out",
    "test_many_big_bodies_are_all_read",
    "test_marking_while_pages_are_read_shows_none_twice_and_leaves_none_out",
    "test_more_than_a_page_is_read_to_the_end_without_loss_or_repeat",
    "test_the_same_ids_live_side_by_side",
    "test_what_is_done_in_one_workspace_is_not_done_in_the_other",
    "test_what_is_due_of_a_lower_priority_is_found_behind_more_than_a_page_of_what_is_not",
)
# Long ones: under ``make soak`` alone. The fake and the local engine are held to them every time.
LONG = (
    "test_a_full_neighbour_is_as_good_as_none",
    "test_a_hundred_messages_are_acknowledged_at_once",
    "test_a_long_trail_is_told_in_parts",
    "test_a_long_transcript_is_read_to_its_end",
    "test_a_page_may_be_a_tasks_in_each_of_two_workspaces",
    "test_a_reader_goes_on_from_the_last_id_that_it_knows",
    "test_a_run_whose_account_has_moved_goes_on_counting",
    "test_a_saved_row_circuit_or_webhook_leaves_the_neighbours",
    "test_a_scope_sees_so_many_of_each_type",
    "test_a_used_key_says_more_than_a_full_hour",
    "test_an_account_that_goes_on_while_it_is_moved_stays",
    "test_an_agents_many_claims_are_all_told",
    "test_an_hour_holds_so_many_of_one_caller_and_no_more",
    "test_and_what_is_ours_is_found",
    "test_claims_come_before_everything_else",
    "test_due_rows_come_the_longest_due_first_and_none_early",
    "test_entries_are_listed_newest_first_however_they_are_spread",
    "test_errands_are_due_in_time_after_claims_and_before_everything_else",
    "test_events_are_read_from_any_entry_on",
    "test_every_page_of_places_is_shown",
    "test_exactly_full_pages_end",
    "test_many_open_pages_come_page_by_page_each_once_though_they_move",
    "test_many_pages_of_work_and_marks_are_all_told",
    "test_much_open_work_is_read_to_the_end_and_leaves_with_its_claim",
    "test_outputs_of_many_tasks_are_read_together",
    "test_rows_may_be_let_go_while_due_ones_are_read",
    "test_taking_tasks_while_reading_on_skips_none",
    "test_the_longest_due_come_first_in_their_shard",
    "test_the_longest_due_come_first_whatever_their_shard",
    "test_the_tasks_of_many_events_are_read_at_once",
    "test_what_humans_decided_keeps_its_places_and_leaves_the_others_theirs",
    "test_what_is_over_leaves_every_view_and_the_older_ones_show",
    "test_what_needs_a_human_is_listed_by_urgency_and_age",
)
# What it says of capacity isn't what is documented.
UNTRUE = ("test_a_write_costs_what_is_documented",)
globals().update(contract(most_cases=1, without=(*UNTRUE, *TOO_LONG) if IS_WHOLE else (*UNTRUE, *TOO_LONG, *LONG)))
_numbers = count()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        parse_queries_as_json(client.meta.events)
        yield client


@pytest.fixture
def wire(client: Any) -> Iterator[Wire]:
    name = f"contract-{next(_numbers)}"
    create_table(client, name)
    yield Wire(client, name)
    client.delete_table(TableName=name)


@pytest.fixture
def store(wire: Wire) -> Store:
    return DynamoStore(Table(wire.client, wire.table, Patience(StillClock())))
