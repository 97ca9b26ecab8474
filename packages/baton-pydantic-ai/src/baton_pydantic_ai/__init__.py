"""Baton for Pydantic AI: colleagues, people and memory as tools, and agents that do claimed tasks."""

from baton_pydantic_ai.running import run_claimed, serve
from baton_pydantic_ai.tools import ask_people, colleague, gated, memory, outcome_of

__all__ = ["ask_people", "colleague", "gated", "memory", "outcome_of", "run_claimed", "serve"]
