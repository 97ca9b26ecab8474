"""Baton for Strands Agents: tools that hand work to others and ask people, and the running of claimed tasks."""

from baton_strands.claimed import run_claimed, serve
from baton_strands.tools import ask_people, colleague, gated, memory, outcome_of

__all__ = ["ask_people", "colleague", "gated", "memory", "outcome_of", "run_claimed", "serve"]
