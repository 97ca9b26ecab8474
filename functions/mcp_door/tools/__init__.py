"""One module per tool. Each says what a model is told, and which routes it plays."""
