"""Runs of agents: prompt, history, transcript, replies."""
