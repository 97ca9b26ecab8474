"""What tests share: fakes of the ports, a small world of agents, a table to break."""
