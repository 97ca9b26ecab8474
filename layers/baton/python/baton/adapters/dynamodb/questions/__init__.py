"""Questions to people, as items."""
