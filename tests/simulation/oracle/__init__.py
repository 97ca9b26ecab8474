"""What must hold, by the specification alone. It reads the table's items, and shares no rule with the product."""

from simulation.oracle.oracle import Oracle

__all__ = ["Oracle"]
