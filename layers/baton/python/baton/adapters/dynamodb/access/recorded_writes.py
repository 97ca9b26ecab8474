"""The writes of a change's record."""

from __future__ import annotations

from baton.adapters.dynamodb.access.people_items import people_put
from baton.adapters.dynamodb.alerts.alert_items import alert_item, alert_listing
from baton.adapters.dynamodb.changes.change_items import change_put
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import put_version
from baton.adapters.dynamodb.tracker.tracker_items import tracker_circuit_item
from baton.ports.access import Recorded


def recorded_writes(recorded: Recorded | None) -> list[ItemWrite]:
    """Returns the writes for the transaction of the change."""
    if recorded is None:
        return []
    written = [change_put(each) for each in recorded.changes]
    if recorded.people is not None:
        written.append(people_put(recorded.people))
    if (circuit := recorded.circuit) is not None:
        written.append(put_version(tracker_circuit_item(circuit), circuit.version, "tracker circuit"))
    for alert in recorded.alerts:
        written += [put_version(alert_item(alert), alert.version, "alert"), *alert_listing(alert)]
    return written
