"""Every REST route that has no function of its own."""
