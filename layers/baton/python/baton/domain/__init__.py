"""The rules: frozen values and pure functions. Standard library only, no clock, no input or output."""
