"""The long polls, in a function of their own so that waiting never starves work."""
