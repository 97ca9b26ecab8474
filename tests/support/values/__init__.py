"""Values to begin with: tasks, changes, requests, items."""
