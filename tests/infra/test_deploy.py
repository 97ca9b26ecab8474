"""What `make deploy` gives a stack: what it had, what is asked for now, and what the account has room for."""

from __future__ import annotations

import io
import sys

import pytest

from infra.template import FRONT_DOORS, functions, load, shaped
from tools.admin import deploy_answers as answers
from tools.admin.deploy_answers import Account, Parameters
from tools.stack.background import StackError

TEMPLATE = load()
NEW, USUAL = Account(10, 10), Account(1_000, 1_000)
# Each (parameter, front door) by which a function reserves.
RESERVING = sorted(
    {
        (each["ReservedConcurrentExecutions"]["Fn::If"][1]["Ref"], door)
        for door in FRONT_DOORS
        for each in functions(shaped(TEMPLATE, door)).values()
        if "ReservedConcurrentExecutions" in each
    }
)


def deployed(**parameters: str) -> dict[str, object]:
    return {"Parameters": [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]}


def chosen(account: Account, **settled: str) -> tuple[Parameters, list[str]]:
    said: list[str] = []
    return answers.fitted(answers.defaults(TEMPLATE) | settled, settled, {}, account, said.append), said


def test_what_the_stack_has_wins_over_the_defaults_and_what_is_given_over_that() -> None:
    before = answers.as_deployed(deployed(LogLevel="DEBUG", RequestsPerSecond="7"), TEMPLATE)
    wanted = answers.defaults(TEMPLATE) | before | answers.given("RequestsPerSecond=9", TEMPLATE)
    assert (wanted["LogLevel"], wanted["RequestsPerSecond"], wanted["ListShards"]) == ("DEBUG", "9", "1")


def test_what_the_template_no_longer_has_is_forgotten() -> None:
    assert answers.as_deployed(deployed(GoneSince="1", LogLevel="INFO"), TEMPLATE) == {"LogLevel": "INFO"}
    assert answers.as_deployed(None, TEMPLATE) == {}


def test_parameters_are_given_as_a_shell_has_them() -> None:
    text = "Model='two words' AlarmTopicArn= BedrockModels=arn:a,arn:b"
    assert answers.given(text, TEMPLATE) == {"Model": "two words", "AlarmTopicArn": "", "BedrockModels": "arn:a,arn:b"}
    assert answers.given("", TEMPLATE) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Modell=x", "isn't a parameter"),
        ("LocalPort=4566", "isn't a parameter of a deployment"),
        ("NotionUrl=https://notion.example", "isn't a parameter of a deployment"),
        ("Runtime=python3.12", "RUNTIME"),
        ("LogLevel", "as Name=value"),
        ("LogLevel=LOUD", "one of DEBUG, INFO"),
        ("PublicUrl=http://baton.example", "https:// and a domain"),
        ("PublicUrl=https://baton.example/path", "https:// and a domain"),
        ("MaximumConcurrency=1", "from 2 to 1000"),
        ("MaximumConcurrency=1001", "from 2 to 1000"),
        ("WaitConcurrency=few", "from 0"),
        ("Model='a\"b'", "quotation mark"),
        ("ExistingTable=arn:aws:dynamodb:eu-west-1:111122223333:table/baton", "a table's name"),
        ("ExistingTableStream=arn:aws:dynamodb:eu-west-1:111122223333:table/baton/stream/x", "the label of a stream"),
        ("ExistingTableStream=2026-11-23", "the label of a stream"),
        ("KmsKey=alias/ours", "the ARN of a key of KMS"),
        ("PermissionsBoundary=bound", "the ARN of a managed policy"),
        ("Model='", "can't be read"),
    ],
)
def test_what_the_stack_could_not_have_is_refused_before_anything_is_built(text: str, problem: str) -> None:
    with pytest.raises(StackError, match=problem):
        answers.given(text, TEMPLATE)


def test_one_is_changed_at_the_terminal_and_enter_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("LogLevel=LOUD\nLogLevel=DEBUG\n\n"))
    before = answers.defaults(TEMPLATE)
    assert answers.asked(before, TEMPLATE) == before | {"LogLevel": "DEBUG"}
    said = capsys.readouterr().out
    assert "one of DEBUG, INFO" in said
    assert all(f"{name}=" not in said for name in ("LocalPort", "NotionUrl", "Runtime", "Release"))


def test_where_nobody_can_be_asked_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(StackError, match="YES=1"):
        answers.asked(answers.defaults(TEMPLATE), TEMPLATE)


def test_a_stack_name_that_leaves_no_room_for_the_functions_is_refused() -> None:
    longest = "b" * answers.LONGEST_STACK_NAME
    assert answers.checked_stack_name(longest) == longest
    for name, problem in ((longest + "b", "43 characters"), ("1st", "letter"), ("my_stack", "hyphens"), ("", "letter")):
        with pytest.raises(StackError, match=problem):
            answers.checked_stack_name(name)


def test_a_new_account_reserves_nothing_and_answers_two_notices_at_once() -> None:
    wanted, said = chosen(NEW)
    assert (wanted["WaitConcurrency"], wanted["MaximumConcurrency"]) == ("0", "2")
    assert "10 functions at once" in said[0]
    answers.refuse_too_large(wanted, {}, NEW)
    assert answers.warning(wanted, NEW) == ""


@pytest.mark.parametrize(
    ("unreserved", "waits", "tools"), [(149, "0", "0"), (150, "50", "0"), (199, "50", "0"), (200, "50", "50")]
)
def test_each_reserve_is_taken_where_aws_keeps_its_hundred_beside_it(unreserved: int, waits: str, tools: str) -> None:
    wanted, _ = chosen(Account(unreserved, unreserved))
    assert (wanted["WaitConcurrency"], wanted["McpConcurrency"]) == (waits, tools)
    assert wanted["MaximumConcurrency"] == "10"


@pytest.mark.parametrize(("unreserved", "tools"), [(149, "0"), (150, "50")])
def test_a_stack_that_had_one_reserve_takes_the_other_where_there_is_room(unreserved: int, tools: str) -> None:
    before = {"WaitConcurrency": "50", "MaximumConcurrency": "10"}
    wanted = answers.defaults(TEMPLATE) | before
    fits = answers.fitted(wanted, before, before, Account(unreserved + 50, unreserved), lambda _: None)
    assert (fits["WaitConcurrency"], fits["McpConcurrency"]) == ("50", tools)


def test_the_url_has_a_reserve_of_its_own() -> None:
    wanted, _ = chosen(USUAL, FrontDoor="FunctionUrl")
    assert [wanted[f"{each}Concurrency"] for each in ("Url", "Wait", "Mcp")] == ["100", "0", "0"]


def test_what_was_settled_is_not_chosen_again() -> None:
    wanted, said = chosen(USUAL, WaitConcurrency="7", McpConcurrency="8", MaximumConcurrency="300")
    assert [wanted[f"{each}Concurrency"] for each in ("Wait", "Mcp", "Maximum")] == ["7", "8", "300"]
    assert len(said) == 1


def test_a_reserve_that_aws_refuses_is_refused_here() -> None:
    wanted, _ = chosen(NEW, WaitConcurrency="1")
    with pytest.raises(StackError, match="WaitConcurrency=1 is more than AWS lets this account reserve: 0"):
        answers.refuse_too_large(wanted, {}, NEW)


def test_reserves_count_together() -> None:
    room = Account(150, 150)
    answers.refuse_too_large(chosen(room, WaitConcurrency="20", McpConcurrency="30")[0], {}, room)
    with pytest.raises(StackError, match="WaitConcurrency=20 and McpConcurrency=31 is more than AWS lets"):
        answers.refuse_too_large(chosen(room, WaitConcurrency="20", McpConcurrency="31")[0], {}, room)


@pytest.mark.parametrize(("reserve", "door"), RESERVING)
def test_every_reserve_of_the_template_counts(reserve: str, door: str) -> None:
    wanted = answers.defaults(TEMPLATE) | {"FrontDoor": door}
    answers.refuse_too_large(wanted | {reserve: "900"}, {}, USUAL)
    with pytest.raises(StackError, match=f"{reserve}=901 is more than AWS lets this account reserve: 900"):
        answers.refuse_too_large(wanted | {reserve: "901"}, {}, USUAL)


def test_a_stack_may_go_on_with_what_it_has_reserved() -> None:
    full = Account(150, 100)  # the stack's own 50 are reserved
    wanted, _ = chosen(full, WaitConcurrency="50")
    answers.refuse_too_large(wanted, {"WaitConcurrency": "50"}, full)
    with pytest.raises(StackError, match="reserve: 50"):
        answers.refuse_too_large(wanted | {"WaitConcurrency": "51"}, {"WaitConcurrency": "50"}, full)


def test_notices_that_would_starve_the_api_are_warned_of() -> None:
    wanted, _ = chosen(NEW, MaximumConcurrency="5")
    assert "leave 3 for the API" in answers.warning(wanted, NEW)


def test_a_release_is_another_one_exactly_if_something_differs() -> None:
    first = answers.release("inputs", "", "")
    assert answers.release("inputs", first, "") == first
    assert answers.release("inputs", first, "17") == first  # what failed was another one, and this is deployed
    assert answers.release("other inputs", first, "") != first


def test_a_release_that_was_rolled_back_is_published_anew() -> None:
    before, failed = answers.release("before", "", ""), answers.release("inputs", "", "")
    again = answers.release("inputs", before, "17")
    assert again[:10] != failed[:10]  # SAM names the version by these
    assert answers.release("inputs", again, "") == again  # and there is nothing new in the next deployment
    assert answers.release("more", again, "") == answers.release("more", "", "")
