"""The bell: who listens, and what is rung."""
