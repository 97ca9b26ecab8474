"""The long polls, apart so that waiting never starves work."""
