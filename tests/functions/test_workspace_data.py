"""A workspace that an operator reads out, thins out and removes (tools/admin/baton_admin.py), in a table with a
neighbour's items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from baton import bootstrap
from baton.adapters.dynamodb import keys
from baton.domain.agents.tool import ToolMode
from baton.domain.tasks.task import Task
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from golden.test_completeness import stored
from support.clock import NOON
from support.fakes.dynamo import create_table
from support.fakes.fake_dynamo.client import Key
from support.fakes.store import TABLE
from support.gateway import Gateway
from support.values.tokens import is_given
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.operators import Line, data_of, dynamo_of, exported
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, World, human
from tools.admin import baton_admin, verify_trail
from tools.admin.workspace_data import EXPORTED, LEFT_OUT, NotEmptied, StillClaimed, remove_secret

NEIGHBOUR = "acme-2"  # begins with the other's name
DAY = 86_400


def keys_of(world: World, workspace: str = WORKSPACE) -> set[Key]:
    contents = dynamo_of(world).contents().items()
    of_it = keys.of_workspace(workspace)
    return {
        k for k, i in contents if k[0].startswith(of_it) or (i.get("workspace") == {"S": workspace} and not is_given(k))
    }


@pytest.fixture
def talk() -> AgentRuns:
    """A conversation with a delegation, a note, and a task that waits; and all of that in the neighbour's workspace."""
    agents: dict[str, Line] = {"anna": {"tools": ("ask_bert",)}, "bert": {}}
    runs = AgentRuns(agents, {"anna": [calls(("ask_bert", {})), says("Thanks")], "bert": [says("Here")]})
    runs.tool("ask_bert", "bert", mode=ToolMode.DELEGATE)
    runs.open()
    runs.start("anna")
    runs.world.settle()
    World(store=runs.world.store, clock=runs.world.clock).settle(NEIGHBOUR)
    Team(world=runs.world).ask("auditor")
    for workspace in (WORKSPACE, NEIGHBOUR):
        issue_token(runs.deps, human(workspace), TokenRequest(kind=human().kind, subject="alice"))
    return runs


def talk_tasks(talk: AgentRuns) -> list[Task]:
    return list(talk.world.store.lists.tasks_of_day(WORKSPACE, NOON.date(), 100, None).items)


def lines(text: str) -> list[Line]:
    return [json.loads(line) for line in text.splitlines()]


# Reading out


def test_an_export_has_each_task_with_its_trail_and_says_when_it_was(talk: AgentRuns) -> None:
    data, _ = data_of(talk.world)
    text = exported(data)
    first, *rest, last = lines(text)
    tasks = [line for line in rest if line["kind"] == "task"]
    assert (first["workspace"], first["begun_at"]) == (WORKSPACE, tasks[0]["read_at"])
    assert (last["kind"], last["tasks"], last["items"]) == ("end", len(tasks), len(rest) - len(tasks))
    assert {line["task"]["state"] for line in tasks} == {"done", "delegated"}
    for line in tasks:
        assert line["events"][-1]["hash"] == line["head_hash"]
        assert line["body"]
    assert verify_trail.verify_export(text).startswith(f"{len(tasks)} trails")
    assert any("Thanks" in json.dumps(line["content"]) for line in rest if line.get("of") == "RUN/ENTRY")
    assert NEIGHBOUR not in text


def test_every_kind_of_item_is_exported_or_left_out_for_a_reason() -> None:
    kinds = {keys.kind_of_item(pk, sk) for pk, sk, _ in stored()}
    kinds = {kind for kind in kinds if not kind.startswith(("TASK/", "TRAIL/EVENTS", "CIRCUITS"))}
    assert kinds - EXPORTED - LEFT_OUT == set()
    assert set() == EXPORTED & LEFT_OUT


def test_nothing_secret_is_exported(talk: AgentRuns) -> None:
    claimed = talk.world.claim("auditor")
    _, token = issue_token(talk.deps, human(), TokenRequest(kind=human().kind, subject="bob"))
    text = exported(data_of(talk.world)[0])
    secret = token.rpartition("_")[2]
    digests = {
        item["digest"]["S"] for item in dynamo_of(talk.world).contents().values() if item["sk"]["S"] == keys.TOKEN
    }
    assert digests - {""}
    assert not any(each in text for each in {claimed.claim_id, secret, *digests})


def test_a_task_that_changes_meanwhile_is_shown_as_of_one_moment(talk: AgentRuns) -> None:
    data, table = data_of(talk.world)
    table.meanwhile[2] = lambda: talk.world.claim("auditor")
    assert verify_trail.verify_export(exported(data))


def test_an_export_that_was_cut_short_or_altered_is_told(talk: AgentRuns) -> None:
    text = exported(data_of(talk.world)[0])
    whole = lines(text)
    for cut in (whole[:-1], whole[1:], [line for line in whole if line["kind"] != "task"], []):
        with pytest.raises(verify_trail.NotATrail):
            verify_trail.verify_export("\n".join(map(json.dumps, cut)))
    (number, task) = next((n, line) for n, line in enumerate(whole) if line["kind"] == "task")
    task["events"].pop()
    with pytest.raises(verify_trail.Broken, match=task["id"]):
        verify_trail.verify_export("\n".join(map(json.dumps, [*whole[:number], task, *whole[number + 1 :]])))


def test_the_program_verifies_an_export(talk: AgentRuns, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "acme.jsonl"
    file.write_text(exported(data_of(talk.world)[0]), encoding="utf-8")
    assert verify_trail.main(["--export", str(file)]) == verify_trail.INTACT
    assert "trails with" in capsys.readouterr().out


def test_a_task_that_cannot_be_read_keeps_no_other_back(talk: AgentRuns) -> None:
    task = talk_tasks(talk)[0]
    dynamo = dynamo_of(talk.world)
    dynamo.put({**dynamo.contents()[keys.head(WORKSPACE, task.id)], "s": {"N": "99"}})
    text = exported(data_of(talk.world)[0])
    (unreadable,) = [line for line in lines(text) if line["kind"] == "unreadable task"]
    assert (unreadable["id"], unreadable["error"]) == (task.id, "WrittenByNewer")
    with pytest.raises(verify_trail.NotATrail, match=f"could not read 1 tasks: {task.id}"):
        verify_trail.verify_export(text)


# Thinning out


def test_what_was_said_long_ago_goes_and_everything_else_stays(talk: AgentRuns) -> None:
    data, _ = data_of(talk.world)
    before = dynamo_of(talk.world).contents()
    assert data.prune(30) == {"transcript entries": 0, "late results": 0}
    talk.world.clock.advance(31 * DAY)
    counted = data.prune(30)
    gone = before.keys() - dynamo_of(talk.world).contents().keys()
    assert counted["transcript entries"] == len(gone) > 0
    assert {keys.kind_of_item(*key) for key in gone} == {"RUN/ENTRY"}
    assert verify_trail.verify_export(exported(data))


def test_a_conversation_goes_on_after_what_was_said_in_it_is_gone(talk: AgentRuns) -> None:
    conversation = next(task for task in talk_tasks(talk) if task.state == "done").workflow_id
    talk.world.clock.advance(31 * DAY)
    data_of(talk.world)[0].prune(30)
    listed = list_conversations(talk.deps, human(), ConversationFilter(), 10, None).items
    assert conversation in [each.root.workflow_id for each in listed]
    talk.model.script["anna"] = [says("Hello again")]
    assert talk.say(conversation, "Are you there?").state == "done"
    assert "Hello again" in [text for _, text in talk.told(conversation)]


def test_a_task_that_goes_on_keeps_what_was_said(talk: AgentRuns) -> None:
    talk.model.script["anna"] = [calls(("ask_bert", {})), says("Thanks")]
    task = talk.start("anna", until_quiet=False)
    talk.world.clock.advance(60)
    talk.notify(WORKSPACE, "anna", task.id)
    talk.world.clock.advance(400 * DAY)
    said = talk.entries(task.id)
    assert (talk.task(task.id).state, len(said) > 0) == ("waiting", True)
    data_of(talk.world)[0].prune(30)
    assert talk.entries(task.id) == said


# Removing


def test_a_removed_workspace_leaves_nothing_and_its_neighbour_everything(talk: AgentRuns) -> None:
    neighbours = {key: dynamo_of(talk.world).contents()[key] for key in keys_of(talk.world, NEIGHBOUR)}
    data, _ = data_of(talk.world)
    found = len(keys_of(talk.world))
    assert data.remove() >= found
    assert keys_of(talk.world) == set()
    assert {key: dynamo_of(talk.world).contents()[key] for key in keys_of(talk.world, NEIGHBOUR)} == neighbours
    assert data.remove() == 0


def test_who_had_a_token_is_refused_afterwards(talk: AgentRuns) -> None:
    api = Gateway(talk.deps)
    _, token = issue_token(talk.deps, human(), TokenRequest(kind=human().kind, subject="bob"))
    shown = {"authorization": f"Bearer {token}"}
    assert api.send(None, "GET", "/tasks", headers=shown).status == 200
    data_of(talk.world)[0].remove()
    assert api.send(None, "GET", "/tasks", headers=shown).status == 403


def test_a_workspace_with_live_claims_is_left_as_it_is(talk: AgentRuns) -> None:
    claimed = talk.world.claim("auditor")
    before = dynamo_of(talk.world).contents()
    data, _ = data_of(talk.world)
    with pytest.raises(StillClaimed, match=claimed.details.task.id):
        data.remove()
    assert dynamo_of(talk.world).contents() == before
    assert data.remove(force=True) > 0
    assert keys_of(talk.world) == set()


def test_a_claim_whose_lease_is_over_holds_up_nothing(talk: AgentRuns) -> None:
    talk.world.claim("auditor")
    talk.world.clock.advance(3_600)
    assert data_of(talk.world)[0].remove() > 0


def test_a_removal_that_was_broken_off_goes_on(talk: AgentRuns) -> None:
    data, table = data_of(talk.world)

    def dies(**_: Any) -> Any:
        raise KeyboardInterrupt

    write, table.batch_write_item = table.batch_write_item, dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        data.remove()
    table.batch_write_item = write  # type: ignore[method-assign]
    assert data.remove() > 0
    assert keys_of(talk.world) == set()


def late_note(number: int) -> Line:
    """Sorts behind everything that a scan has seen."""
    return {"pk": {"S": f"{keys.of_workspace(WORKSPACE)}ZZZ"}, "sk": {"S": f"{number:04d}"}}


def test_what_is_written_meanwhile_is_removed_too(talk: AgentRuns) -> None:
    data, table = data_of(talk.world)
    for scan in range(4, 12):
        table.meanwhile[scan] = partial(dynamo_of(talk.world).put, late_note(scan))
    data.remove()
    assert keys_of(talk.world) == set()


def test_a_workspace_that_is_written_to_without_end_is_told(talk: AgentRuns) -> None:
    data, table = data_of(talk.world)
    table.meanwhile = {scan: partial(dynamo_of(talk.world).put, late_note(scan)) for scan in range(1_000)}
    with pytest.raises(NotEmptied):
        data.remove()


def test_a_secret_is_removed_if_there_is_one() -> None:
    asked: list[Line] = []

    class Secrets:
        def delete_secret(self, **request: Any) -> None:
            asked.append(request)
            if "nobody" in request["SecretId"]:
                raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "DeleteSecret")

    assert remove_secret(Secrets(), "baton/acme/notion")
    assert not remove_secret(Secrets(), "baton/nobody/notion")
    assert asked[0] == {"SecretId": "baton/acme/notion", "RecoveryWindowInDays": 7}


# The program, over moto


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    with mock_aws():
        create_table(boto3.client("dynamodb"), TABLE)
        monkeypatch.setenv("BATON_TABLE", TABLE)
        monkeypatch.setenv("BATON_SECRETS_PREFIX", "baton")
        bootstrap.forget_all()

        def run(*words: str) -> int:
            monkeypatch.setattr("sys.argv", ["baton_admin.py", *words])
            return baton_admin.main()

        yield run
        bootstrap.forget_all()


def test_an_operator_exports_and_removes_a_workspace(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    for workspace in (WORKSPACE, NEIGHBOUR):
        assert command("bootstrap", "--workspace", workspace, "--demo") == 0
        boto3.client("secretsmanager").create_secret(Name=f"baton/{workspace}/notion", SecretString="ntn_1")
    capsys.readouterr()
    assert command("export", "--workspace", WORKSPACE) == 0
    text = capsys.readouterr().out
    assert verify_trail.verify_export(text).startswith("0 trails")
    assert {line["id"] for line in lines(text) if line.get("of") == "AGENTS/AGENT"} >= {"AGENT#scout"}
    assert command("prune", "--workspace", WORKSPACE, "--older-than", "30") == 1
    assert command("remove", "--workspace", WORKSPACE) == 1
    assert command("prune", "--workspace", WORKSPACE, "--older-than", "30", "--yes") == 0
    assert command("remove", "--workspace", WORKSPACE, "--yes") == 0
    scanned = boto3.client("dynamodb").scan(TableName=TABLE)["Items"]
    left = {item["pk"]["S"].split("#")[1] for item in scanned if item["pk"]["S"].startswith("WS#")}
    assert left == {NEIGHBOUR}
    assert {item["workspace"]["S"] for item in scanned if item["sk"]["S"] == keys.TOKEN} == {NEIGHBOUR}
    with pytest.raises(ClientError, match=r"marked (for deletion|deleted)"):
        boto3.client("secretsmanager").get_secret_value(SecretId=f"baton/{WORKSPACE}/notion")
    assert boto3.client("secretsmanager").get_secret_value(SecretId=f"baton/{NEIGHBOUR}/notion")


@pytest.mark.parametrize("days", ["0", "-1", "1.5", "36501", "many"])
def test_a_number_of_days_that_is_none_is_refused(command: Callable[..., int], days: str) -> None:
    with pytest.raises(SystemExit):
        command("prune", "--workspace", WORKSPACE, "--older-than", days, "--yes")
