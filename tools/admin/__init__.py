"""What an operator runs: a deployment, its smoke test, its table, a workspace's data, an exported trail."""
