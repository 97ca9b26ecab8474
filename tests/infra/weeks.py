"""What AWS measures of a deployment: a normal week, busy or nearly idle, with what happens by itself."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from infra.cloudwatch import Measured, Metric
from infra.given import STACK
from infra.template import URL

HOUR, DAY = 60, 24 * 60
WEEK = 7 * DAY
BEHIND_THE_DOOR = ("CreateHandoffMarker", "Api", "Wait", "McpDoor", "Console", "NotionWebhook")
IN_THE_BACKGROUND = ("ProcessTask", "SyncTracker", "PublishEvents", "SweepStaleClaims", "Listen", "Ring")
# What `make deploy` reserves in an account of 1,000, and a console's that was asked for.
RESERVED = {"Wait": 50, "McpDoor": 50, "Console": 50, "AllRoutes": 100}
PARAMETERS = {"WaitConcurrency": "50", "McpConcurrency": "50", "ConsoleConcurrency": "50", "UrlConcurrency": "100"}
QUOTA, OTHERS_RESERVE = 1_000, 150
USED: Metric = (
    *("AWS/Usage", "ResourceCount", "Service=Lambda", "Type=Resource", "Resource=ConcurrentExecutions", "Class=None"),
)


@dataclass(frozen=True)
class Load:
    """Requests a minute by day and by night. None at all in a minute is no data at all."""

    name: str
    day: float
    night: float


IDLE = Load("a request an hour", 1 / 60, 0)
OFFICE = Load("an office", 40, 0)
BUSY = Load("a busy one", 9_000, 600)
LOADS = (IDLE, OFFICE, BUSY)


class Deployment(Measured):
    """``put`` in the words of what happens. ``since``: the minute in which it begins to run."""

    def __init__(self, door: str, minutes: int) -> None:
        super().__init__(minutes, {USED: QUOTA})
        self.door = door

    # ---- requests ----

    def answered(self, at: int, times: int, ms: float = 60, function: str = "Api") -> None:
        if not times:
            return
        name = self._behind(function)
        self._counted(at, times, failed=0)
        self.put(of_function("Duration", name), at, ms, times)
        for metric in ("Errors", "Throttles"):
            self.put(of_function(metric, name), at, 0, times)
        if self.door == URL and function in {"Api", "CreateHandoffMarker"}:
            self.put(own("AnswerMilliseconds"), at, ms, times)

    def failed(self, at: int, times: int, function: str = "Api", *, by_itself: bool = False) -> None:
        """Answered with a 5xx. ``by_itself``: the function raised, or never began."""
        self._counted(at, times, failed=times)
        if by_itself:
            self.put(of_function("Errors", self._behind(function)), at, 1, times)

    def refused(self, at: int, times: int) -> None:
        """Beyond the gateway's throttle, or the URL's reserve."""
        if self.door == URL:
            self.put(of_function("Throttles", "AllRoutes"), at, 1, times)
        else:
            self.put(own("RefusedByGateway"), at, 1, times)
        self._counted(at, times, failed=0)

    def beyond_reserve(self, at: int, times: int, function: str) -> None:
        """The gateway answers with a 5xx what Lambda refuses to begin."""
        self.put(of_function("Throttles", function), at, 1, times)
        self._counted(at, times, failed=times)

    def _counted(self, at: int, times: int, failed: int) -> None:
        url = self.door == URL
        count = of_function("UrlRequestCount", "AllRoutes") if url else ("AWS/ApiGateway", "Count", "ApiId=HttpApi")
        bad = of_function("Url5xxCount", "AllRoutes") if url else ("AWS/ApiGateway", "5xx", "ApiId=HttpApi")
        self.put(count, at, 1, times)
        self.put(bad, at, 0, times - failed)
        self.put(bad, at, 1, failed)

    def _behind(self, function: str) -> str:
        return "AllRoutes" if self.door == URL and function in BEHIND_THE_DOOR else function

    # ---- everything else ----

    def concurrent(self, at: int, unreserved: int, **reserved: int) -> None:
        self.put(("AWS/Lambda", "UnreservedConcurrentExecutions"), at, unreserved)
        self.put(("AWS/Lambda", "ClaimedAccountConcurrency"), at, unreserved + OTHERS_RESERVE)
        self.put(USED, at, unreserved)
        for function, executions in reserved.items():
            self.put(of_function("ConcurrentExecutions", function), at, executions)

    def swept(self, at: int, *, failed: int = 0, unfinished: int = 0, oldest: float = 0) -> None:
        of = "service=sweep_stale_claims"
        found = {"SweeperHeartbeat": 1, "SweepFailed": failed, "SweepUnfinished": unfinished}
        for name, value in (found | {"UndispatchedAgeSeconds": oldest}).items():
            self.put(own(name, of), at, value)
        self.put(of_function("Errors", "SweepStaleClaims"), at, 0)

    def looked_at_events(self, at: int, oldest: float = 0) -> None:
        self.put(UNPUBLISHED, at, oldest)
        self.put(of_function("Errors", "PublishEvents"), at, 0)

    def queues(self, at: int, age: float = 0, handled: int = 0, tracker_age: float = 0, dead: int = 0) -> None:
        """AWS measures a queue for as long as somebody asks it; that of dead letters only once one lies there."""
        self.put(of_queue("ApproximateNumberOfMessagesVisible", "DispatchQueue"), at, int(age > 0))
        self.put(of_queue("NumberOfMessagesDeleted", "DispatchQueue"), at, handled)
        self.put(of_queue("ApproximateAgeOfOldestMessage", "DispatchQueue"), at, age)
        self.put(of_queue("ApproximateAgeOfOldestMessage", "TrackerQueue"), at, tracker_age)
        if dead:
            self.put(of_queue("ApproximateNumberOfMessagesVisible", "DispatchDeadLetters"), at, dead)

    def streamed(self, at: int, age_ms: float) -> None:
        self.put(of_function("IteratorAge", "PublishEvents"), at, age_ms)

    def rang(self, at: int, sent: int, lost: int = 0, age_ms: float = 300) -> None:
        self.put(of_function("IteratorAge", "Ring"), at, age_ms)
        self.put(own("Rung", "service=ring"), at, 1, sent)
        self.put(own("RungUnclear", "service=ring"), at, 1, lost)

    def throttled_by_table(self, at: int, times: int, *index: str) -> None:
        of = ("TableName=Table", *(f"GlobalSecondaryIndexName={each}" for each in index))
        self.put(("AWS/DynamoDB", "WriteThrottleEvents", *of), at, 1, times)


def of_function(name: str, function: str) -> Metric:
    return "AWS/Lambda", name, f"FunctionName={function}"


def of_queue(name: str, queue: str) -> Metric:
    return "AWS/SQS", name, f"QueueName={queue}.QueueName"


def own(name: str, *of: str) -> Metric:
    return f"Baton/{STACK}", name, *of


HEARTBEATS = own("SweeperHeartbeat", "service=sweep_stale_claims")
UNPUBLISHED = own("UnpublishedAgeSeconds", "service=publish_events")


def ordinary(door: str, load: Load, minutes: int) -> Deployment:
    """Nothing of note: requests by day and by night, weekends like nights, and what looks every minute."""
    found, random = Deployment(door, minutes), Random(f"{door} {load.name}")
    for at in range(minutes):
        is_day = 8 * HOUR <= at % DAY < 18 * HOUR and at // DAY < 5
        rate = load.day if is_day else load.night
        requests = int(rate) + (random.random() < rate % 1)
        for function, part in (("Api", 0.6), ("CreateHandoffMarker", 0.1), ("Wait", 0.2), ("McpDoor", 0.1)):
            waits = function in {"Wait", "McpDoor"}
            share = min(requests, 1) if function == "Api" and requests < 5 else int(requests * part)
            found.answered(at, share, 20_000 if waits else random.uniform(20, 200), function)
        executions = int(requests / 60 * 2.5)
        shares = {"Wait": 30, "McpDoor": 20} if door != URL else {"AllRoutes": 60}
        found.concurrent(at, executions, **{name: each if requests > 5 else 0 for name, each in shares.items()})
        found.swept(at, oldest=random.uniform(0, 400) if requests else 0)
        found.looked_at_events(at, random.uniform(0, 30) if requests else 0)
        found.queues(at, random.uniform(0, 90) if requests else 0, requests // 10)
        if requests:
            found.streamed(at, random.uniform(200, 4_000))
            found.rang(at, requests // 4, age_ms=random.uniform(50, 2_000))
    return found


def normal_week(door: str, load: Load) -> Deployment:
    """With all that happens by itself, and wakes nobody."""
    week, random = ordinary(door, load, WEEK), Random(7)
    for deployed in (2 * DAY + 10 * HOUR, 2 * DAY + 10 * HOUR + 20):
        for function in ("Api", "Wait"):  # two cold starts died
            week.failed(deployed, 1, function, by_itself=True)
        for at in (deployed, deployed + 1):  # functions move one after the other
            week.put(own("WrittenByNewer"), at, 1, 30)
        for at in range(deployed, deployed + 4):
            week.streamed(at, 45_000)
            week.rang(at, 1, age_ms=45_000)
        week.take(HEARTBEATS, range(deployed, deployed + 2))
        week.take(UNPUBLISHED, range(deployed, deployed + 2))
    for at in range(5 * HOUR, WEEK, 9 * HOUR):  # Lambda's own infrastructure
        function = random.choice([*BEHIND_THE_DOOR, *IN_THE_BACKGROUND])
        if function in BEHIND_THE_DOOR:
            week.failed(at, 1, function, by_itself=True)
        else:
            week.put(of_function("Errors", function), at, 1)
    for at in range(11 * HOUR, WEEK, DAY):
        week.failed(at, 3)  # 503 busy: a partition splits
        week.throttled_by_table(at, 40)
        week.refused(at + 20, 60)  # a script without a pause
        for later in range(60, 90, 6):  # one that begins anew each six minutes
            week.refused(at + later, 45)
        week.swept(at + 30, failed=1, unfinished=1)  # a round beside the usual one
        for later, ms in ((40, 8_000), (43, 6_000), (47, 9_000)):  # a first search, in three processes
            week.answered(at + later, 1, ms)
        week.put(own("RequestFailed"), at + 50, 1)
        week.rang(at + 52, 1, lost=1)  # a post that took too long
        if door != URL:
            week.concurrent(at + 55, 20, Console=48)  # a first visit
    for at in range(14 * HOUR, 17 * HOUR):  # Notion is slow for an afternoon, and markers wait for it
        week.answered(at, 2, 3_300, "CreateHandoffMarker")
    for at in range(DAY + 3 * HOUR, DAY + 3 * HOUR + 22):  # a notice failed twice, at night
        week.queues(at, 60.0 * (at - DAY - 3 * HOUR))
    for at in range(3 * DAY, 3 * DAY + 40):  # Notion was away for half an hour
        week.queues(at, tracker_age=60.0 * (at - 3 * DAY))
    for at in range(DAY + 13 * HOUR, DAY + 13 * HOUR + 30):  # a lunch break: nobody takes what was approved
        week.swept(at, oldest=29 * (at - DAY - 13 * HOUR))
    return week
