"""Steps that several use cases share. None is a use case by itself, and none calls one."""
