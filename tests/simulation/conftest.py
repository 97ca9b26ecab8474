from __future__ import annotations

from simulation.today import first_seed


def pytest_report_header() -> str:
    return f"simulation: from SEED={first_seed()}"
