"""The models that think for the agents that process-task runs: a module per provider, imported only when asked."""
