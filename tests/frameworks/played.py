"""A scene in a process of its framework's environment, and what came of it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENES = ROOT / "tests/frameworks/scenes"
# By the module of its scenes: the environment in .baton, which is its lock's name too. Claude Code's part is played by
# its MCP client, in the environment of the tests.
ENVIRONMENTS = {
    "openai_agents": "openai-agents",
    "langgraph": "langgraph",
    "strands": "strands",
    "pydantic_ai": "pydantic-ai",
    "claude_code": "dev",
}
ADAPTED = tuple(name for name in ENVIRONMENTS if name != "claude_code")
BEHAVIOURS = {
    "colleague": "hands work to a colleague, and gets the outcome",
    "claimed_task": "does a claimed task: variables in, criteria reported",
    "waits_for_colleague": "is put down while a colleague works",
    "approval": "has one tool call approved, done once",
    "whole_call": "has people see all of a call before they approve it",
    "question": "asks a person in the middle of its work",
    "several_at_once": "waits for all three at once",
    "other_process": "goes on in another process",
    "one_resumes": "of two that resume at once, one goes on",
    "lost_claim": "stops before the next model call when the claim is lost",
    "repeats": "makes nothing twice that the framework repeats",
    "killed": "goes on after a kill -9, and does no effect twice",
    "forged": "executes nothing from a state that it didn't sign",
    "memory": "remembers and recalls",
    "streaming": "tells its events while it works",
    "hostile_model": "survives a model that calls nonsense",
}
SCENE_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Played:
    is_good: bool
    said: str  # what the process printed; of a bad one its last lines


def python_of(name: str, environments: Path) -> Path:
    return environments / ENVIRONMENTS[name] / "bin/python"


def command(name: str, scene: str, environments: Path) -> list[str]:
    return [str(python_of(name, environments)), "-P", "-m", f"frameworks.scenes.{name}", scene]


def path_of(name: str) -> str:
    folders = [ROOT / "tests", ROOT / "packages/baton-client/src"]
    if name == "claude_code":
        folders += [ROOT / "packages/baton-mcp/src"]
    else:
        folders += [ROOT / f"packages/baton-{ENVIRONMENTS[name]}/src"]
    return ":".join(map(str, folders))


def play(name: str, scene: str, environments: Path, environment: Mapping[str, str]) -> Played:
    """Plays a scene to its end."""
    env = {**environment, "PYTHONPATH": path_of(name)}
    try:
        done = subprocess.run(
            command(name, scene, environments), env=env, cwd=ROOT, capture_output=True, text=True, timeout=SCENE_SECONDS
        )
    except subprocess.TimeoutExpired as late:
        said = late.stderr or b""
        return Played(False, f"it isn't over after {SCENE_SECONDS} s\n{said.decode(errors='replace')[-1500:]}")
    if done.returncode == 0:
        return Played(True, done.stdout)
    return Played(False, "\n".join((done.stdout + done.stderr).splitlines()[-25:]))


def cannot(name: str) -> dict[str, str]:
    """What a framework can't do, and why: ``CANNOT`` of its scenes, read without the framework."""
    module = SCENES / f"{name}.py"
    for each in ast.parse(module.read_text(encoding="utf-8")).body:
        match each:
            case (
                ast.Assign(targets=[ast.Name(id="CANNOT")], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id="CANNOT"), value=ast.expr() as value)
            ):
                found: dict[str, str] = ast.literal_eval(value)
                return found
    return {}
