"""Actors that attack: agents and people that try to leave the rules that bind them, and people who leave."""
