"""What CloudWatch does with an alarm, as its documentation says: statistics over sliding windows, metric math, missing
data, states. Only what the template uses; anything else raises.

A minute is the smallest step, and the newest one is always missing: AWS's own metrics come that late. Each alarm is
evaluated every minute (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html), over its
evaluation periods and two more, as in AWS's examples (…/alarms-and-missing-data.html). Math: …/using-metric-math.html.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate
from typing import Any, Self

from infra.template import Properties

OK, ALARM, NOT_KNOWN = "OK", "ALARM", "INSUFFICIENT_DATA"
MORE_THAN_ASKED_FOR = 2  # periods: what CloudWatch looks back beyond the evaluation periods
LATE = 1  # minutes

Metric = tuple[str, ...]  # namespace, name, and each dimension as Name=value
Series = list[float | None]  # one value for each minute at whose end an alarm is evaluated
Value = Series | float | tuple[Series, ...]  # what an expression is: a series, a number, or several series
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
}


@dataclass
class Measured:
    """What was measured: of each metric and minute, how often which value. ``quotas``: of usage metrics."""

    minutes: int
    quotas: Mapping[Metric, float] = field(default_factory=dict)
    _samples: dict[Metric, dict[int, dict[float, int]]] = field(default_factory=lambda: defaultdict(dict))
    _series: dict[tuple[Any, ...], Series] = field(default_factory=dict)
    _sums: dict[tuple[Metric, str], list[float]] = field(default_factory=dict)

    def put(self, metric: Metric, minute: int, value: float, times: int = 1) -> None:
        of = self._samples[metric].setdefault(minute, {})
        of[value] = of.get(value, 0) + times

    def take(self, metric: Metric, minutes: range) -> None:
        """As if nothing had been measured then."""
        for minute in minutes:
            self._samples[metric].pop(minute, None)

    def copy(self) -> Self:
        """The same samples. What is put into one isn't in the other."""
        other = copy(self)
        of = {metric: {at: {**each} for at, each in minutes.items()} for metric, minutes in self._samples.items()}
        other._samples, other._series, other._sums = defaultdict(dict, of), {}, {}
        return other

    def series(self, metric: Metric, stat: str, period: int, late: int) -> Series:
        """The statistic of the last ``period`` minutes, at the end of each minute."""
        key = (metric, stat, period, late)
        if key not in self._series:
            self._series[key] = self._over_windows(metric, stat, period, late)
        return self._series[key]

    def _over_windows(self, metric: Metric, stat: str, period: int, late: int) -> Series:
        def within(so_far: list[float]) -> list[float]:
            """The sum over each window: how far it has come at its end, less how far it had come where it begins."""
            ends, begins = ([*[0.0] * by, *so_far][1 : self.minutes + 1] for by in (late, period))
            return [*map(operator.sub, ends, begins)]

        counts = within(self._so_far(metric, "SampleCount"))
        if stat == "Maximum":
            most = [max(each, default=float("-inf")) for each in self._minutes(metric)]
            return [max(most[max(0, at - period) : at - late]) if n else None for at, n in enumerate(counts, 1)]
        totals = counts if stat == "SampleCount" else within(self._so_far(metric, stat))
        if stat.startswith("PR"):
            return [100 * part / n if n else None for part, n in zip(totals, counts, strict=True)]
        return [total if n else None for total, n in zip(totals, counts, strict=True)]

    def _minutes(self, metric: Metric) -> Iterable[dict[float, int]]:
        samples, nothing = self._samples.get(metric, {}), dict[float, int]()
        return (samples.get(minute, nothing) for minute in range(self.minutes))

    def _so_far(self, metric: Metric, stat: str) -> list[float]:
        """The statistic from the beginning to the end of each minute. ``PR(5:)``: how many values lie above, of which
        CloudWatch makes percents."""
        key = (metric, stat)
        if key not in self._sums:
            self._sums[key] = [*accumulate(map(_totals(stat), self._minutes(metric)), initial=0.0)]
        return self._sums[key]


def _totals(stat: str) -> Callable[[dict[float, int]], float]:
    """What a minute's values add to the statistic."""
    if rank := re.fullmatch(r"PR\((\d+):\)", stat):
        least = float(rank[1])
        return lambda each: sum(n for value, n in each.items() if value > least)
    return {
        "Sum": lambda each: sum(value * n for value, n in each.items()),
        "SampleCount": lambda each: sum(each.values()),
    }[stat]


# ---- metric math -----------------------------------------------------------------------------------------------------

_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARISONS = {ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq}


@dataclass(frozen=True)
class Math:
    """An expression over the metrics of an alarm. ``fresh``: the newest window of each minute, without what is late;
    else the windows before, which are whole."""

    measured: Measured
    metrics: Mapping[str, Properties]
    fresh: bool

    @property
    def period(self) -> int:
        (period,) = {each["Period"] for each in self.metrics.values()}
        return int(period) // 60

    def evaluated(self, expression: str) -> Series:
        return self._series_of(ast.parse(expression, mode="eval").body)

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return self._of(name)
            case ast.List(elts=each):
                return tuple(self._series_of(one) for one in each)
            case ast.BinOp(left=left, op=op, right=right):
                return self._calculated(_ARITHMETIC[type(op)], self._value(left), self._value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._calculated(_COMPARISONS[type(op)], self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return getattr(self, f"_{name.lower()}")(*arguments)  # type: ignore[no-any-return]  # one of those below
        raise NotImplementedError(ast.unparse(node))

    def _of(self, name: str) -> Series:
        metric = self.metrics[name]
        return self.measured.series(named(metric["Metric"]), metric["Stat"], self.period, LATE if self.fresh else 0)

    def _series_of(self, node: ast.expr) -> Series:
        found = self._value(node)
        assert isinstance(found, list), "an alarm watches one series"
        return found

    def _calculated(self, by: Callable[[Any, Any], float], left: Value, right: Value) -> Series:
        """A missing value counts as 0 beside another series' value, not beside a number, which is at no moment. A
        division by 0 has no result."""

        def calculate(one: float | None, other: float | None) -> float | None:
            try:
                return float(by(one or 0.0, other or 0.0))
            except ZeroDivisionError:
                return None

        pairs = zip(self._minutes(left), self._minutes(right), strict=True)
        if isinstance(left, float) or isinstance(right, float):
            return [None if one is None or other is None else calculate(one, other) for one, other in pairs]
        return [None if one is None and other is None else calculate(one, other) for one, other in pairs]

    def _minutes(self, value: Value | None) -> Series:
        """A number is the same in each minute."""
        return value if isinstance(value, list) else [value] * self.measured.minutes  # type: ignore[list-item] # no tuple

    def _fill(self, of: ast.expr, by: ast.expr) -> Series:
        filler = self._value(by)
        assert isinstance(filler, float)
        return [filler if value is None else value for value in self._series_of(of)]

    def _if(self, condition: ast.expr, then: ast.expr, otherwise: ast.expr | None = None) -> Series:
        """Nothing where the condition has none. Where it holds and the value is missing, it is 0."""

        parts = (each if each is None else self._value(each) for each in (condition, then, otherwise))
        return [
            None if holds is None else (0.0 if yes is None else yes) if holds else no
            for holds, yes, no in zip(*map(self._minutes, parts), strict=True)
        ]

    def _max(self, of: ast.expr) -> Series:
        """Of several series, at each moment."""
        found = self._value(of)
        assert isinstance(found, tuple), "the largest of a single series depends on how far CloudWatch looks back"
        there = ([each for each in row if each is not None] for row in zip(*found, strict=True))
        return [max(row, default=None) for row in there]

    def _diff(self, of: ast.expr) -> Series:
        """The value, less that of the period before."""
        now, whole = self._series_of(of), Math(self.measured, self.metrics, fresh=False)._series_of(of)
        before: Series = [*[None] * self.period, *whole[: -self.period]]
        return [None if a is None or b is None else a - b for a, b in zip(now, before, strict=True)]

    def _service_quota(self, of: ast.Name) -> Series:
        quota = self.measured.quotas[named(self.metrics[of.id]["Metric"])]
        return [None if value is None else quota for value in self._of(of.id)]


def named(metric: Properties) -> Metric:
    dimensions = (f"{each['Name']}={each['Value']}" for each in metric.get("Dimensions", []))
    return metric["Namespace"], metric["MetricName"], *dimensions


# ---- states ----------------------------------------------------------------------------------------------------------


def watched(alarm: Properties) -> dict[str, Properties]:
    """The metrics of an alarm by their ids, each with its period and statistic."""
    if "MetricName" in alarm:
        return {"found": {"Metric": alarm, "Period": alarm["Period"], "Stat": alarm["Statistic"]}}
    return {each["Id"]: each["MetricStat"] for each in alarm["Metrics"] if "MetricStat" in each}


def expression(alarm: Properties) -> str:
    found = [str(each["Expression"]) for each in alarm.get("Metrics", []) if "Expression" in each]
    return found[0] if found else "found"


def states(alarm: Properties, measured: Measured) -> Iterator[str]:
    """The state at the end of each minute; before the first it isn't known."""
    metrics = watched(alarm)
    if all(each["Metric"]["Namespace"] == "AWS/DynamoDB" for each in metrics.values()):
        alarm = {**alarm, "TreatMissingData": "ignore"}  # AWS does so, whatever the alarm says
    fresh = _breaches(alarm, Math(measured, metrics, fresh=True).evaluated(expression(alarm)))
    whole = Math(measured, metrics, fresh=False)
    period = whole.period
    looked_back = period * (alarm["EvaluationPeriods"] + MORE_THAN_ASKED_FOR)
    # In front: nothing was there before the first minute.
    before = [*[None] * looked_back, *_breaches(alarm, whole.evaluated(expression(alarm)))]
    following = cache(partial(judged, alarm))  # the same few points come again and again
    state = NOT_KNOWN
    for end in range(measured.minutes):
        now = end + looked_back
        state = following((fresh[end], *before[now - period : end : -period]), state)
        yield state


def _breaches(alarm: Properties, of: Series) -> list[bool | None]:
    compared, threshold = _COMPARED[alarm["ComparisonOperator"]], alarm["Threshold"]
    return [None if value is None else compared(value, threshold) for value in of]


def judged(alarm: Properties, points: Sequence[bool | None], state: str) -> str:
    """The next state. ``points``: whether each breaches, the newest first, with more than the evaluation periods ask
    for."""
    asked = int(alarm["EvaluationPeriods"])
    needed = int(alarm.get("DatapointsToAlarm", asked))
    there = [(at, bad) for at, bad in enumerate(points) if bad is not None]
    recent = there[:asked]
    missing = asked - len(recent)
    breaching = sum(bad for _, bad in recent)
    treated = alarm["TreatMissingData"]
    if breaching >= needed:
        return ALARM
    if missing and treated == "breaching":
        return ALARM if breaching + missing >= needed else OK
    if not missing or treated == "notBreaching" or any(not bad for _, bad in recent):
        return OK
    if treated == "ignore":
        return state
    # Nothing but breaching ones, too few: an alarm once the oldest is as old as they would have to be.
    return ALARM if recent and recent[-1][0] + 1 >= needed else NOT_KNOWN
