"""The evaluator of alarms does what AWS's documentation shows in its own examples."""

from __future__ import annotations

import pytest

from infra.cloudwatch import ALARM, NOT_KNOWN, OK, Math, Measured, Metric, Series, judged, states

KEPT = "as it was"
MISSING = "-"
METRIC: Metric = ("Baton", "Some")


def alarm(treated: str, needed: int) -> dict[str, object]:
    return {
        "Namespace": "Baton",
        "MetricName": "Some",
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "DatapointsToAlarm": needed,
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": 0,
        "TreatMissingData": treated,
    }


# Oldest first; X breaches, 0 doesn't. Missing is missing, ignored, breaching, not breaching.
@pytest.mark.parametrize(
    ("points", "needed", "expected"),
    [
        ("0-X-X", 3, (OK, OK, OK, OK)),
        ("0----", 3, (OK, OK, OK, OK)),
        ("-----", 3, (NOT_KNOWN, KEPT, ALARM, OK)),
        ("0XX-X", 3, (ALARM, ALARM, ALARM, ALARM)),
        ("----X", 3, (NOT_KNOWN, KEPT, ALARM, OK)),
        ("X----", 3, (ALARM, KEPT, ALARM, OK)),
        ("0-X-X", 2, (ALARM, ALARM, ALARM, ALARM)),
        ("00X0X", 2, (ALARM, ALARM, ALARM, ALARM)),
        ("0-X--", 2, (OK, OK, ALARM, OK)),
        ("----0", 2, (OK, OK, ALARM, OK)),
        ("----X", 2, (NOT_KNOWN, KEPT, ALARM, OK)),
    ],
)
def test_missing_data_is_treated_as_in_the_tables_of_aws(points: str, needed: int, expected: tuple[str, ...]) -> None:
    newest_first = [None if each == MISSING else each == "X" for each in reversed(points)]
    found = tuple(
        judged(alarm(treated, needed), newest_first, KEPT)
        for treated in ("missing", "ignore", "breaching", "notBreaching")
    )
    assert found == expected


def test_an_alarm_on_dynamodb_ignores_missing_data_whatever_it_says() -> None:
    measured = Measured(30)
    for at in range(10):
        measured.put(("AWS/DynamoDB", "Some"), at, 1)
    assert list(states(alarm("notBreaching", 3) | {"Namespace": "AWS/DynamoDB"}, measured))[-1] == ALARM
    assert list(states(alarm("notBreaching", 3), measured))[-1] == OK


def calculated(expression: str, *, period: int = 1, **metrics: str) -> Series:
    """``metrics``: a value for each minute; a dash is none."""
    measured = Measured(max(len(values.split()) for values in metrics.values()))
    for name, values in metrics.items():
        for at, value in enumerate(values.split()):
            if value != MISSING:
                measured.put(("Baton", name), at, float(value))
    of = {
        name: {"Metric": {"Namespace": "Baton", "MetricName": name}, "Period": period * 60, "Stat": "Sum"}
        for name in metrics
    }
    return Math(measured, of, fresh=False).evaluated(expression)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("IF(m1, m2, m3)", [30, 0, 20, None, None]),
        ("IF(m1, 5, m3)", [5, 5, 20, None, None]),
        ("IF(m1, m2, 5)", [30, 0, 5, 5, None]),
        ("IF(m1, m2)", [30, 0, None, None, None]),
    ],
)
def test_if_is_that_of_the_tables_of_aws(expression: str, expected: Series) -> None:
    assert calculated(expression, m1="1 1 0 0 -", m2="30 - 0 0 30", m3="0 0 20 - 20") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("FILL(m1, 0)", [3, 0, 0]),
        ("m1 + m2", [5, 4, None]),
        ("m2 / m1", [2 / 3, None, None]),
        ("100 * m1", [300, None, None]),
        ("m1 >= 0", [1, None, None]),
        ("MAX([m1, m2])", [3, 4, None]),
        ("DIFF(FILL(m1, 0) + FILL(m2, 0))", [None, -1, -4]),
    ],
)
def test_what_is_missing_counts_as_nothing_beside_another_series(expression: str, expected: Series) -> None:
    assert calculated(expression, m1="3 - -", m2="2 4 -") == expected


def test_a_window_slides_and_the_newest_minute_is_late() -> None:
    measured = Measured(4)
    for at in range(4):
        measured.put(METRIC, at, 10 if at < 3 else 10_000, times=2)
    assert measured.series(METRIC, "Sum", 2, late=0) == [20, 40, 40, 20_020]
    assert measured.series(METRIC, "Sum", 2, late=1) == [None, 20, 20, 20]
    assert measured.series(METRIC, "Maximum", 2, late=0) == [10, 10, 10, 10_000]
    assert measured.series(METRIC, "PR(5000:)", 2, late=0) == [0, 0, 0, 50]
    assert measured.series(METRIC, "SampleCount", 2, late=0) == [2, 4, 4, 4]


def test_what_the_template_does_not_use_is_refused() -> None:
    with pytest.raises(KeyError):
        Measured(1).series(METRIC, "p99", 1, late=0)
    with pytest.raises(AttributeError):
        calculated("RUNNING_SUM(m1)", m1="1")
    with pytest.raises(AssertionError, match="how far CloudWatch looks back"):
        calculated("MAX(m1)", m1="1")


def test_an_alarm_begins_unknown_and_goes_where_its_data_lead() -> None:
    measured = Measured(10)
    for at in range(2, 10):
        measured.put(METRIC, at, float(4 <= at < 7))
    found = list(states(alarm("missing", 3), measured))
    assert found == [NOT_KNOWN] * 3 + [OK] * 4 + [ALARM] + [OK] * 2
