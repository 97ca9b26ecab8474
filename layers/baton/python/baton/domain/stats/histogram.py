"""Lengths of time, counted by buckets on a logarithmic scale: a quantile follows from a few small numbers, with a known
error (docs/decisions/102-counters-are-exact.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, log, sqrt

FACTOR = 1.5
# Bucket 0 is below a second, bucket n from 1.5**(n-1) seconds on; the last one has all from 25 days on.
BUCKETS = 38

Histogram = Mapping[int, int]  # bucket → how many


def bucket_of(seconds: float) -> int:
    return 0 if seconds < 1 else min(int(log(seconds, FACTOR) + 1e-9) + 1, BUCKETS - 1)


def middle_of(bucket: int) -> float:
    """Returns seconds that are at most 23 % away from each of the bucket, the first and the last bucket apart."""
    return 0.5 if bucket == 0 else FACTOR ** (bucket - 1) * sqrt(FACTOR)


def quantile(of: Histogram, share: float) -> float | None:
    """Returns the seconds within which this share of them was; None of nothing."""
    wanted = ceil(share * sum(of.values()))
    for bucket in sorted(of):
        wanted -= of[bucket]
        if wanted <= 0:
            return round(middle_of(bucket), 1)
    return None


def added(*histograms: Histogram) -> Histogram:
    total: dict[int, int] = {}
    for each in histograms:
        for bucket, count in each.items():
            total[bucket] = total.get(bucket, 0) + count
    return total


def counted(seconds: Iterable[float]) -> Histogram:
    return added(*({bucket_of(each): 1} for each in seconds))
