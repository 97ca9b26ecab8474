"""Who may read what of all subjects."""
