"""The interfaces between the use cases and the outside: store, queues, bus, clock, ids, tracker, models. Each docstring
is the contract: the limits of its parameters, the errors raised, and the state afterwards."""
