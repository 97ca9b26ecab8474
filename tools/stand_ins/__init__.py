"""What stands in for services of others on this machine."""
