"""The command `baton`. It talks to the API only."""

VERSION = "0.1.0"
