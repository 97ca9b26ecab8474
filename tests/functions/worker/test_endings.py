"""How a program ends, and what becomes of its task: real workers, real programs, Baton in this process."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from baton.domain.times import rfc3339
from baton_cli.worker.report_spool import ReportSpool, SpooledReport
from support.worlds.http_agents import ALICE, message
from support.worlds.worker_processes import PATIENCE_SECONDS, SLUG, WorkerProcesses
from support.worlds.world import agent

pytestmark = pytest.mark.slow
CRITERION = "Every change is listed"

OVER = "work.sh printed more than 262144 bytes on its standard output. The first 40,000 characters of it are kept."


def said(home: WorkerProcesses, task_id: str) -> tuple[str, str, str]:
    task = home.task(task_id)
    return task["state"], task["failure"]["type"], task["failure"]["description"]


def test_program_gets_its_task_and_completes_it(home: WorkerProcesses) -> None:
    task_id = home.hand_off(context={"state": {"a": 1}})
    program = home.script("cat > $FOLDER/task; env > $FOLDER/env; echo '{\"ok\": true}'")
    code, summary = home.run("--once", program=(program,))
    assert (code, summary) == (0, {"done": 1, "failed": 0, "released": 0, "lost": 0})
    assert (home.task(task_id)["state"], home.task(task_id)["output"]) == ("done", {"ok": True})
    given: dict[str, Any] = json.loads(home.file("task").read_text())
    assert (given["task"]["id"], given["body"]["context"]["state"]) == (task_id, {"a": 1})
    assert "claim_id" not in given
    environment = dict(line.split("=", 1) for line in home.file("env").read_text().splitlines())
    assert environment["BATON_TASK_ID"] == task_id
    assert environment["BATON_EFFECT_KEY"] == given["effect_key"] == f"baton-{task_id}"
    assert "BATON_TOKEN" not in environment


def test_a_program_that_copies_its_input_changes_no_number(home: WorkerProcesses) -> None:
    written = '{"amounts":[12345678901234567.10,1E2,0.10,-0.0]}'
    first = home.hand_off()
    assert home.run("--once", program=("echo", written))[0] == 0
    gateway = home.agents.gateway
    assert f'"output":{written}' in gateway.get(ALICE, f"/tasks/{first}").text
    sent = json.dumps(message("architect", SLUG, context={"state": "ODD"})).replace('"ODD"', written)
    second = gateway.post(agent("architect"), "/handoffs", sent).json["task"]["id"]
    copied = home.script("sed 's/.*\"state\": \\({[^}]*}\\).*/\\1/'")
    assert home.run("--once", program=(copied,))[0] == 0
    assert f'"output":{written}' in gateway.get(ALICE, f"/tasks/{second}").text


def test_verb_that_a_program_names_is_done_with_its_body(home: WorkerProcesses) -> None:
    deliverable = {"type": "code", "description": "It", "acceptance_criteria": [CRITERION]}
    task_id = home.hand_off(expectations={"deliverables": [deliverable]})
    answer = {
        "baton": "complete",
        "output": 1,
        "verification": {"acceptance_criteria_met": [{"criterion": CRITERION, "met": True}]},
        "continuation": {"suggested_next": "qa", "reason": "Test it"},
    }
    assert home.run("--once", program=("echo", json.dumps(answer)))[0] == 0
    task = home.task(task_id)
    assert (task["state"], task["output"]) == ("done", 1)
    handoff = home.agents.gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json
    assert handoff["completion"]["continuation"]["target_agent"] == "qa"
    rejected = home.hand_off()
    assert home.run("--once", program=("echo", '{"baton": "reject", "reason": "Not my trade"}'))[0] == 1
    assert home.task(rejected)["state"] == "rejected"


def test_report_that_a_proxy_refuses_as_too_large_is_kept_and_a_short_one_says_so(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    home.fault = lambda _method, path: "large" if path.endswith("/complete") else None
    worker = home.start("--once", program=("echo", '{"found": "much"}'))
    _, log = worker.communicate(timeout=PATIENCE_SECONDS)
    assert worker.returncode == 1
    state, kind, description = said(home, task_id)
    assert (state, kind) == ("failed", "error")
    assert "too large (HTTP 413)" in description
    (kept,) = home.file(".local/state/baton/worker").iterdir()
    assert json.loads(kept.read_text())["body"]["output"] == {"found": "much"}
    assert kept.name in description
    assert str(kept) in log
    assert home.asked.count(f"/tasks/{task_id}/complete") == 3


def test_report_of_a_killed_worker_that_a_proxy_refuses_as_too_large_holds_up_no_other_one(
    home: WorkerProcesses,
) -> None:
    spool = ReportSpool(home.file(".local/state/baton/worker"))
    for number in (1, 2):
        body = {"claim_id": f"clm_{number}", "output": number}
        spool.add(SpooledReport(home.url, SLUG, f"/tasks/task_{number}/complete", body, f"key-{number}"))
    home.fault = lambda _method, path: "large" if path == "/tasks/task_1/complete" else None
    task_id = home.hand_off()
    assert home.run("--once", program=("echo", "{}"))[0] == 0
    assert home.task(task_id)["state"] == "done"
    (kept,) = home.file(".local/state/baton/worker").iterdir()
    assert json.loads(kept.read_text())["body"]["output"] == 1
    assert [home.asked.count(f"/tasks/task_{number}/complete") for number in (1, 2)] == [1, 1]


def test_checkpoint_that_a_proxy_refuses_as_too_large_doesnt_keep_the_report_back(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    home.fault = lambda _method, path: "large" if path.endswith("/checkpoints") else None
    program = home.script('echo \'{"step_name": "a", "state": {}}\' >&$BATON_CHECKPOINT_FD; echo {}')
    assert home.run("--once", program=(program,))[0] == 0
    assert home.task(task_id)["state"] == "done"
    assert home.asked.count(f"/tasks/{task_id}/checkpoints") == 3


def test_completion_that_baton_refuses_is_a_failure_that_says_why(home: WorkerProcesses) -> None:
    deliverable = {"type": "code", "description": "It", "acceptance_criteria": [CRITERION]}
    task_id = home.hand_off(expectations={"deliverables": [deliverable]})
    assert home.run("--once", program=("echo", "{}"))[0] == 1
    state, kind, description = said(home, task_id)
    assert (state, kind) == ("failed", "validation")
    assert "criteria_unreported" in description
    assert CRITERION in description


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        ("echo on its way; echo it broke >&2; exit 3", "error", "work.sh ended with exit code 3.\nit broke"),
        ("echo '{\"a\": '", "validation", 'work.sh printed something that isn\'t JSON: {"a":'),
        (
            "head -c 50000000 /dev/zero | tr '\\0' x",
            "validation",
            OVER,
        ),
        ('printf "\\033[31mred" >&2; exit 1', "error", "work.sh ended with exit code 1.\n\\x1b[31mred"),
        (
            'echo "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" >&2; exit 1',
            "error",
            "The program failed. What it said of it was refused (guardrail).",
        ),
    ],
    ids=["exit code", "invalid JSON", "50 MB", "escapes", "a secret"],
)
def test_failure_tells_what_the_program_left(home: WorkerProcesses, text: str, kind: str, description: str) -> None:
    task_id = home.hand_off()
    assert home.run("--once", program=(home.script(text),))[0] == 1
    assert said(home, task_id) == ("failed", kind, description)


def test_verbose_worker_tells_at_once_what_its_program_says(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    program = home.script("echo 'half \033[1mdone' >&2; while [ ! -e $FOLDER/go ]; do sleep 0.05; done")
    worker = home.start("--once", "--verbose", program=(program,))
    assert worker.stderr is not None
    told: dict[str, str] = {}
    while told.get("action") != "said":
        told = json.loads(worker.stderr.readline())
    assert (told["task_id"], told["message"]) == (task_id, "half \\x1b[1mdone")
    home.file("go").touch()
    assert home.ended(worker)[0] == 0


def test_exit_code_75_and_a_signal_bring_the_task_back(home: WorkerProcesses) -> None:
    for text in ("exit 75", "kill -9 $$"):
        task_id = home.hand_off()
        assert home.run("--task", task_id, program=(home.script(text),))[0] == 1
        assert (home.task(task_id)["state"], home.task(task_id)["attempt"]) == ("delegated", 1)


def test_program_that_hangs_and_will_not_end_is_killed_with_all_it_started(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    program = home.script("trap '' TERM\n(trap '' TERM; setsid sleep 1000) &\nsleep 1000 & sleep 1000")
    assert home.run("--once", "--time-limit", "1", "--grace", "1", program=(program,))[0] == 1
    assert home.left() == []
    task = home.task(task_id)
    assert (task["state"], task["failure"]["type"], task["attempt"]) == ("delegated", "timeout", 1)


def test_what_a_program_leaves_running_is_killed_when_it_has_ended(home: WorkerProcesses) -> None:
    home.hand_off()
    program = home.script("sleep 1000 &\nsetsid sleep 1000 &\nsetsid -f sleep 1000\necho 1")
    assert home.run("--once", program=(program,))[0] == 0
    assert home.left() == []


def test_checkpoints_are_saved_in_order_and_given_to_the_next_attempt(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    line = '{{\\"step_name\\": \\"{0}\\", \\"state\\": {{\\"n\\": {1}}}}}'
    first = home.script(
        f'echo "{line.format("read", 1)}" >&3; echo nonsense >&3; echo "{line.format("sort", 2)}" >&3; exit 75'
    )
    assert home.run("--once", program=(first,))[0] == 1
    home.clock.advance(10)
    assert home.run("--once", program=(home.script("cat > $FOLDER/task", "second.sh"),))[0] == 0
    given = json.loads(home.file("task").read_text())
    assert (given["checkpoint"]["step_name"], given["checkpoint"]["state"]) == ("sort", {"n": 2})
    assert given["effect_key"] == f"baton-{task_id}"
    assert home.trail(task_id).count("checkpoint_saved") == 2


def test_effect_key_of_a_retry_is_that_of_what_it_retries(home: WorkerProcesses) -> None:
    first = home.hand_off()
    assert home.run("--once", program=("false",))[0] == 1
    handoff = home.task(first)["handoff_id"]
    home.agents.gateway.post(agent("architect"), f"/handoffs/{handoff}/retry", {})
    assert home.run("--once", program=(home.script("cat > $FOLDER/task"),))[0] == 0
    given = json.loads(home.file("task").read_text())
    assert (given["task"]["retry_of"], given["effect_key"]) == (first, f"baton-{first}")


def test_program_that_cannot_be_started_costs_no_attempt_and_ends_the_worker(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    program = home.file("odd")
    program.write_text("#!/no/such/shell\n")
    program.chmod(0o755)
    assert home.run(program=(str(program),))[0] == 1
    assert (home.task(task_id)["state"], home.task(task_id)["attempt"]) == ("delegated", 0)
    assert home.run(program=("./nowhere",))[0] == 2


def test_worker_serves_all_agents_of_a_file_and_ends_when_idle(home: WorkerProcesses) -> None:
    tasks = [home.hand_off(), home.hand_off("qa")]
    home.script("echo '\"a program for '$BATON_AGENT'\"'")
    home.file("agents.toml").write_text(
        '[agents.auto-code]\ncommand = ["./work.sh"]\n[agents.qa]\ncommand = ["./work.sh"]\nconcurrency = 2\n'
    )
    token = home.token_for_all()
    code, summary = home.run("--routes", "agents.toml", "--idle-timeout", "1s", program=(), BATON_TOKEN=token)
    assert (code, summary["done"]) == (0, 2)
    assert [home.task(each)["output"] for each in tasks] == ["a program for auto-code", "a program for qa"]


def test_needs_are_never_taken(home: WorkerProcesses) -> None:
    home.agents.gateway.put(ALICE, f"/agents/{SLUG}", {"approval": "manual"})
    task_id = home.hand_off()
    assert home.run("--idle-timeout", "1s", program=("true",))[0] == 0
    assert home.task(task_id)["state"] == "needs"


def test_refusal_that_stays_ends_the_worker_as_any_command(home: WorkerProcesses) -> None:
    assert home.run("--agent", "nobody", program=("true",))[0] == 4
    assert home.run("--task", "task_nowhere", program=("true",))[0] == 3
    assert home.run("--agent", SLUG, program=("true",), BATON_TOKEN="baton_x_y")[0] == 4


def test_text_without_a_report_of_the_criteria_is_kept_in_the_failure(home: WorkerProcesses) -> None:
    deliverable = {"type": "code", "description": "It", "acceptance_criteria": [CRITERION]}
    task_id = home.hand_off(expectations={"deliverables": [deliverable]})
    assert home.run("--once", "--output-text", program=("echo", "Half an hour of work"))[0] == 1
    failure = home.task(task_id)["failure"]
    assert failure["partial_progress"] == {"output": {"text": "Half an hour of work"}}


def recipes() -> dict[str, list[str]]:
    """The command lines of the guide that begin with `baton worker`, by what they run."""
    guide = (Path(__file__).parents[3] / "docs/guides/run-a-worker.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```", guide.partition("### Recipes")[2], re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    words = [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ baton worker")]
    return {each[each.index("--") + 1]: each[2:] for each in words}


# It does as its prompt says: what is asked, and the last line that is asked for.
MODEL = """#!{python}
import json, sys
assert any("end_with" in word for word in sys.argv[1:]), sys.argv
task = json.load(sys.stdin)
assert list(task)[:2] == ["asked", "end_with"]
criteria = task["asked"].get("acceptance_criteria", [])
report = [{{"criterion": each, "met": True, "evidence": "seen"}} for each in criteria]
print("I did: " + task["asked"]["summary"])
print(json.dumps({{"baton": "complete", "verification": {{"acceptance_criteria_met": report}}}}))
"""


@pytest.mark.parametrize("model", ["claude", "codex"])
@pytest.mark.parametrize("criteria", [[], [CRITERION, "Nothing else is"]])
def test_recipes_of_the_guide_do_tasks_with_and_without_criteria(
    home: WorkerProcesses, model: str, criteria: list[str]
) -> None:
    deliverable = {"type": "code", "description": "It", "acceptance_criteria": criteria}
    task_id = home.hand_off(summary="Sign the notes", expectations={"deliverables": [deliverable]})
    program = home.folder / model
    program.write_text(MODEL.format(python=sys.executable))
    program.chmod(0o755)
    arguments = recipes()[model]
    arguments[arguments.index("--agent") + 1] = SLUG
    end = arguments.index("--")
    path = f"{home.folder}:{os.environ['PATH']}"
    worker = home.start("--once", *arguments[:end], program=tuple(arguments[end + 1 :]), PATH=path)
    out, errors = worker.communicate(timeout=PATIENCE_SECONDS)
    assert worker.returncode == 0, (out, errors)
    assert "acceptance criteria" in errors, "a warning at start"
    task = home.task(task_id)
    assert (task["state"], task["output"]) == ("done", {"text": "I did: Sign the notes"})


def test_release_names_when_the_task_is_ready_again(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    later = rfc3339(home.clock.now() + timedelta(hours=2))
    home.run("--once", program=("echo", json.dumps({"baton": "release", "not_before": later})))
    task = home.task(task_id)
    assert (task["state"], task["ready_at"]) == ("delegated", later)


def test_worker_for_one_task_that_reaches_nobody_ends_with_no_answer(home: WorkerProcesses) -> None:
    home.fault = lambda _method, _path: "away"
    assert home.run("--once", "--idle-timeout", "1s", program=("true",))[0] == 5


def test_an_outage_is_no_idleness_and_is_noticed_to_be_over(home: WorkerProcesses) -> None:
    """Away for longer than the worker may idle; the work that came meanwhile is done."""
    task_id = home.hand_off()
    away_until = time.monotonic() + 2.5
    home.fault = lambda _method, _path: "away" if time.monotonic() < away_until else None
    code, summary = home.run("--idle-timeout", "1s", program=("echo", "{}"))
    assert (code, summary["done"]) == (0, 1)
    assert home.task(task_id)["state"] == "done"
    assert time.monotonic() - away_until < 25
