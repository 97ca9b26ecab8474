"""The terminal of the command line's tests, for attacks that reach a person's screen."""

from functions.cli.conftest import nobodys_home, terminal

__all__ = ["nobodys_home", "terminal"]
