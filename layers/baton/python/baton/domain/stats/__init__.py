"""How it goes: counts of what has ended, and who decided what."""
