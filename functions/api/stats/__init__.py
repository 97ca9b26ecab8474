"""How it goes, and who decided what."""
