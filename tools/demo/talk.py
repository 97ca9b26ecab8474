"""The demo's scenes of agents that Baton runs itself: a conversation that finds its agent, and one that asks two others
at once. With BATON_MODEL_URL set, a real model plays them; else a script does, and says so."""

from __future__ import annotations

import json
import textwrap
import time
from typing import Any

from tools.demo.stage import BOLD, DIM, PLAIN, WIDTH, Player, Refused, heading

# A real model on a laptop takes its time.
MOST_SECONDS = 300
POLL_SECONDS = 0.5

AGENTS: dict[str, dict[str, Any]] = {
    "sales": {
        "name": "Sales",
        "tools": ["handoff_to_translator"],
        "system_prompt": "You answer first. Whatever has to be translated, you hand over to the translator.",
    },
    "translator": {"name": "Translator", "system_prompt": "You translate what you are asked to, and add nothing."},
    "planner": {
        "name": "Planner",
        "tools": ["ask_researcher", "ask_critic"],
        "system_prompt": "First ask the researcher and the critic, both in the same reply. Then sum up in two lines.",
    },
    "researcher": {"name": "Researcher", "system_prompt": "You name three facts about the topic, in one line each."},
    "critic": {
        "name": "Critic",
        "system_prompt": "You name the two strongest doubts about the topic, in one line each.",
    },
}
TOPIC = {"name": "topic", "type": "string", "required": True, "description": "What it is about"}
TOOLS: dict[str, dict[str, Any]] = {
    "handoff_to_translator": {
        "description": "Hand off to the translator.",
        "config": {
            "target_agent": "translator",
            "handoff_instructions": "Translate the text.",
            "context_variables": [
                {"name": "target_language", "type": "string", "required": True},
                {"name": "text", "type": "string", "required": True},
            ],
        },
    },
    "ask_researcher": {
        "description": "Ask the researcher for facts.",
        "config": {"target_agent": "researcher", "mode": "delegate", "history": "none", "context_variables": [TOPIC]},
    },
    "ask_critic": {
        "description": "Ask the critic for doubts.",
        "config": {"target_agent": "critic", "mode": "delegate", "history": "none", "context_variables": [TOPIC]},
    },
}


def scene_a_conversation(player: Player) -> None:
    heading("7. A conversation finds its agent", "Agents that Baton runs itself; a handoff tool takes it along.")
    _hire(player)
    _talk(player, "sales", "Please translate into French: the workshop is moved to Thursday.")


def scene_two_at_once(player: Player) -> None:
    heading("8. One agent asks two others at once", "It waits, at no cost, and goes on with what they found.")
    _talk(player, "planner", "Should we move the nightly jobs to the cheaper region?")


def _hire(player: Player) -> None:
    with player.stack.http(player.tokens["human"]) as client:
        for slug in AGENTS:
            client.put(f"/agents/{slug}", json={"runtime": "run"}).raise_for_status()
        for name, tool in TOOLS.items():
            client.put(f"/tools/{name}", json={"type": "handoff", **tool}).raise_for_status()
        for slug, values in AGENTS.items():
            client.put(f"/agents/{slug}", json=values).raise_for_status()
    print(f"           {DIM}The human defines the tools and gives them to the agents: that approves their use.{PLAIN}")
    player.send("human", "GET", "/tools/handoff_to_translator/schema")


def _talk(player: Player, agent: str, message: str) -> None:
    body = {"agent": agent, "message": message}
    begun = player.send("human", "POST", "/conversations", body, show=("conversation_id", "task.id", "task.state"))
    conversation = f"/conversations/{begun['conversation_id']}"
    print(f"{DIM}    human  {BOLD}GET {conversation}/messages?after=…{PLAIN}  {DIM}as they come{PLAIN}")
    after, until = "", time.monotonic() + MOST_SECONDS
    with player.stack.http(player.tokens["human"]) as client:
        while time.monotonic() < until:
            state = client.get(conversation).raise_for_status().json()["state"]  # before what was said until then
            page = client.get(f"{conversation}/messages", params={"after": after} if after else {}).raise_for_status()
            items, after = page.json()["items"], page.json()["after"]
            for item in items:
                _show(item)
            if not items and state == "idle":
                break
            time.sleep(POLL_SECONDS)
        else:
            raise Refused(f"the conversation wasn't answered within {MOST_SECONDS} s")
    player.send("human", "GET", conversation, show=("agent", "state", "usage"))


def _show(item: dict[str, Any]) -> None:
    said = item["text"] or json.dumps(item["data"].get("content", ""), ensure_ascii=False)
    text = textwrap.shorten(said.replace("\n", " "), WIDTH, placeholder=" …")
    print(f"           {item['agent']:<13} {DIM}{item['type']:<18}{PLAIN} {text}", flush=True)
