"""Baton for the OpenAI Agents SDK: ``serve`` does claimed tasks, ``colleague`` hands work to other agents."""

from baton_openai_agents.outward import colleague, memory, outcome_of
from baton_openai_agents.serving import run_claimed, serve
from baton_openai_agents.tools import ask_people, effect_key, gated

__all__ = ["ask_people", "colleague", "effect_key", "gated", "memory", "outcome_of", "run_claimed", "serve"]
