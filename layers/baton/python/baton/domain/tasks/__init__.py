"""The task: its state machine, its trail, and when it is looked at again."""
