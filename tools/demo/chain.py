"""The demo's scene of a chain: the crew of docs/spec/protocol.md §9 hands one piece of work on, rolls it back, and
finishes it."""

from __future__ import annotations

from typing import Any

from tools.demo.stage import DIM, PLAIN, Player, heading, hire

CREW: dict[str, Any] = {
    "architect": {"accepts": ["design_request"], "produces": ["specification", "decision"]},
    "auto-code": {"accepts": ["specification", "bug_report"], "produces": ["code", "tests"]},
    "qa": {"accepts": ["code"], "produces": ["test_results"]},
    "ciso": {"accepts": ["code"], "produces": ["security_report"]},
}
CRITERIA = ["Includes unit tests", "Passes type checking"]


def scene_a_chain(player: Player) -> None:
    heading("6. A chain, with evidence and a rollback", "Four agents of a capabilities.yaml, claiming over HTTP.")
    _hire(player)
    workflow_id = _begin(player)
    _design(player)
    _build(player)
    _test_and_fail(player)
    security_review = _mend_and_retest(player)
    _draw(player, workflow_id)
    _complete(player, "ciso", security_review, output="no findings")


def _hire(player: Player) -> None:
    player.send("human", "POST", "/agents/import", {"agents": CREW}, show=("items",))
    hire(player, {slug: {} for slug in CREW}, approval="auto")
    print(
        f"           {DIM}The human gives each a token, and lets them hand on without asking (approval: auto).{PLAIN}"
    )


def _begin(player: Player) -> str:
    body = {"source": {"agent": "watcher"}, "target": {"agent": "architect", "reason": "Design authentication module"}}
    made = player.send("human", "POST", "/handoffs", body, show=("task.id", "task.state", "task.depth"))
    return str(made["task"]["workflow_id"])


def _claim(player: Player, slug: str) -> dict[str, Any]:
    path = f"/agents/{slug}/claims/wait?timeout=20"
    claim: dict[str, Any] = player.send(slug, "POST", path, {}, show=("fence", "lease_seconds"))
    return claim


def _complete(player: Player, slug: str, claim: dict[str, Any], *, refused: bool = False, **said: Any) -> None:
    path = f"/tasks/{claim['task']['id']}/complete"
    show = ("status", "code", "criteria") if refused else ("state",)
    player.send(slug, "POST", path, {"claim_id": claim["claim_id"], **said}, show=show, refused=refused)


def _design(player: Player) -> None:
    claim = _claim(player, "architect")
    body = {
        "claim_id": claim["claim_id"],
        "source": {"agent": "architect", "phase": "design_complete"},
        "target": {"agent": "auto-code", "reason": "Implement auth module"},
        "context": {"artifacts": [{"type": "specification", "path": "/TODO/auth-module.md"}]},
        "expectations": {
            "deliverables": [{"type": "code", "description": "Auth module", "acceptance_criteria": CRITERIA}]
        },
    }
    player.send("architect", "POST", "/handoffs", body, show=("task.id", "task.state", "task.depth"))
    _complete(player, "architect", claim, output={"designed": True})


def _build(player: Player) -> None:
    claim = _claim(player, "auto-code")
    print("           Done is not enough: every criterion has to be reported.")
    _complete(player, "auto-code", claim, refused=True, output="done!")
    _complete(
        player,
        "auto-code",
        claim,
        deliverables=[{"type": "code", "files_created": ["/src/auth/jwt.ts"], "files_modified": ["/src/app.ts"]}],
        verification={"acceptance_criteria_met": [{"criterion": each, "met": True} for each in CRITERIA]},
        continuation={"suggested_next": "qa", "reason": "Test auth implementation"},
    )


def _test_and_fail(player: Player) -> None:
    claim = _claim(player, "qa")
    body = {
        "claim_id": claim["claim_id"],
        "failure": {"type": "blocker", "description": "Missing test fixtures"},
        "rollback_request": {"target_agent": "auto-code", "reason": "Add test fixtures"},
    }
    player.send("qa", "POST", f"/tasks/{claim['task']['id']}/fail", body, show=("state",))


def _mend_and_retest(player: Player) -> dict[str, Any]:
    """The claim on what is left."""
    retest = {"suggested_next": "qa", "reason": "Retest auth implementation"}
    _complete(player, "auto-code", _claim(player, "auto-code"), continuation=retest)
    review = {"suggested_next": "ciso", "reason": "Security review"}
    _complete(player, "qa", _claim(player, "qa"), output="12 passed", continuation=review)
    return _claim(player, "ciso")


def _draw(player: Player, workflow_id: str) -> None:
    path = f"/workflows/{workflow_id}/chain?format=text"
    print(f"{DIM}    human  GET {path}{PLAIN}\n")
    with player.stack.http(player.tokens["human"]) as client:
        print(client.get(path).raise_for_status().text)
