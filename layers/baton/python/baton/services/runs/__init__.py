"""Use cases of process-task: run an agent on a claimed task."""
