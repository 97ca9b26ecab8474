"""Warnings about requests: shared cases, planted traps, and the console's rules in Node.js."""
