"""The model providers of process-task: a module each, imported only when it is used."""
