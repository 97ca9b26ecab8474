"""Permissions and counting decisions: rules of the oracle about people, their rights, and the rules that bind
them."""
