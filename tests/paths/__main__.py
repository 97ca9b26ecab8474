"""Prints how many hands a request passes: ``make paths``. With a name: the functions that it passed, in files."""

from __future__ import annotations

import os
import sys

from paths.requests import traced_requests


def main() -> None:
    os.environ |= {"BATON_TABLE": "nowhere", "POWERTOOLS_METRICS_NAMESPACE": "Baton", "BATON_LOG_LEVEL": "ERROR"}
    traces = traced_requests()
    if name := " ".join(sys.argv[1:]):
        for each in sorted(traces[name].functions, key=lambda each: (each.file, each.line)):
            print(f"{each.file}:{each.line} {each.name}")
        print("\nto the put:", *(f"{each.file}:{each.line} {each.name}" for each in traces[name].put), sep="\n  ")
        return
    names = next(iter(traces.values())).figures
    print(" " * 26, *(f"{each:>11}" for each in traces))
    for figure in names:
        print(f"{figure:26}", *(f"{each.figures[figure]:11,}" for each in traces.values()))


if __name__ == "__main__":
    main()
