"""A table that wasn't made by the stack that works on it: `make adopt` makes a restored one ready.

What AWS leaves out of a restore, and an index that a release has added, the table gets here, as template.yaml describes
the stack's own. It may be run as often as you like: what is there stays. These variables say which table:

    TABLE         its name
    KMS_KEY       the stack's parameter KmsKey, if it has one
    REGION        else the one that AWS's own settings name
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from tools.stack import deployment
from tools.stack.background import StackError
from tools.stack.deployment import Say

NAME, LABEL, KEY = "ExistingTable", "ExistingTableStream", "KmsKey"  # parameters of template.yaml
WAIT_SECONDS = 4 * 3600.0  # an index of a large table takes its time to be filled
POLL_SECONDS = 5.0
ON = {"ENABLED", "ENABLING"}

Described = Mapping[str, Any]
Lack = tuple[str, Callable[[], object]]  # what is missing, and what gives it


def adopt(dynamodb: Any, name: str, say: Say, sleep: Callable[[float], None] = time.sleep, *, kms_key: str = "") -> str:
    """Gives the table what it lacks, and returns the label of its stream. ``kms_key``: the ARN of the key that must
    encrypt the table; empty if any key of KMS may. Raises StackError for a table that isn't one of Baton's, or isn't
    ready for any change."""
    table = ExistingTable(dynamodb, name, _own_table(), kms_key)
    table.refuse_foreign()
    for what, give in table.lacks():
        say(f"{name} has {what}: changing that")
        give()
        table.await_active(sleep)
    return table.stream_label


def refuse_unready(dynamodb: Any, wanted: Mapping[str, str], before: Mapping[str, str]) -> None:
    """Raises StackError where a stack, with these parameters after those, would work on a table that lacks what the
    functions need or what protects it; or on a new one, which is empty."""
    name, label, key, left = wanted[NAME], wanted[LABEL], wanted[KEY], before.get(NAME, "")
    if left and not name:
        raise StackError(f"without {NAME} the stack would get a new table, with nothing in it; it works on {left}")
    if name and (missing := _missing(ExistingTable(dynamodb, name, _own_table(), key), label)):
        with_key = f" KMS_KEY={key}" if key else ""
        raise StackError(f"{name} has {', '.join(missing)}. `make adopt TABLE={name}{with_key}` makes it ready")


def _missing(table: ExistingTable, label: str) -> list[str]:
    table.refuse_foreign()
    missing = [what for what, _ in table.lacks()]
    return missing or ([] if table.stream_label == label else [f"the stream {table.stream_label}, not {label!r}"])


def _own_table() -> Described:
    own: Described = deployment.template()["Resources"]["Table"]["Properties"]
    return own


@dataclass(frozen=True)
class ExistingTable:
    """``wanted``: the properties that the template gives the stack's own. ``kms_key``: the ARN of the
    key that must encrypt the table; empty if any key of KMS may."""

    dynamodb: Any
    name: str
    wanted: Described
    kms_key: str

    @property
    def stream_label(self) -> str:
        return str(self._described()["LatestStreamLabel"])

    def refuse_foreign(self) -> None:
        found = self._described()
        if not _is_active(found):
            raise StackError(f"AWS is still making or changing {self.name}: try again once it is ACTIVE")
        if found["KeySchema"] != self.wanted["KeySchema"]:
            raise StackError(f"{self.name} isn't a table of Baton's: its keys are others")
        here = _by_name(found)
        for name, index in _by_name(self.wanted).items():
            if _meaning(here.get(name, index)) != _meaning(index):
                raise StackError(f"{self.name} has an index {name} that this release of Baton can't read")
        stream = found.get("StreamSpecification", {})
        if stream.get("StreamEnabled") and stream != self._stream:
            raise StackError(f"{self.name} has a stream of {stream['StreamViewType']}: switch it off first")

    def lacks(self) -> Iterator[Lack]:
        """Yields what the table lacks. DynamoDB makes one change at a time."""
        found = self._described()
        if found.get("BillingModeSummary", {}).get("BillingMode") != self.wanted["BillingMode"]:
            yield "a provisioned capacity", partial(self._update, BillingMode=self.wanted["BillingMode"])
        encrypted = found.get("SSEDescription", {})
        if encrypted.get("Status") not in ON or self.kms_key not in {"", encrypted.get("KMSMasterKeyArn")}:
            own = {"SSEType": "KMS", "KMSMasterKeyId": self.kms_key} if self.kms_key else {}
            what = f"no encryption under {self.kms_key or 'a key of KMS'}"
            yield what, partial(self._update, SSESpecification={"Enabled": True, **own})
        for name in sorted(_by_name(self.wanted).keys() - _by_name(found).keys()):
            yield f"no index {name}", partial(self._add_index, name)
        if found.get("StreamSpecification") != self._stream:
            yield "no stream", partial(self._update, StreamSpecification=self._stream)
        if not found.get("DeletionProtectionEnabled"):
            yield "no deletion protection", partial(self._update, DeletionProtectionEnabled=True)
        yield from self._lacks_in_time()

    def _lacks_in_time(self) -> Iterator[Lack]:
        of = {"TableName": self.name}
        ttl = self.dynamodb.describe_time_to_live(**of)["TimeToLiveDescription"]
        if ttl["TimeToLiveStatus"] not in ON:
            wanted = self.wanted["TimeToLiveSpecification"]
            yield "no TTL", partial(self.dynamodb.update_time_to_live, **of, TimeToLiveSpecification=wanted)
        backups = self.dynamodb.describe_continuous_backups(**of)["ContinuousBackupsDescription"]
        if backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] not in ON:
            on = {"PointInTimeRecoverySpecification": self.wanted["PointInTimeRecoverySpecification"]}
            yield "no point-in-time recovery", partial(self.dynamodb.update_continuous_backups, **of, **on)

    def await_active(self, sleep: Callable[[float], None]) -> None:
        """Until the table may be changed again, and each index is filled."""
        for _ in range(int(WAIT_SECONDS / POLL_SECONDS)):
            sleep(POLL_SECONDS)  # what AWS tells of a table may be a moment old
            if _is_active(self._described()):
                return
        raise StackError(f"AWS is still changing {self.name}: run this again later")

    @property
    def _stream(self) -> Described:
        return {"StreamEnabled": True, **self.wanted["StreamSpecification"]}

    def _described(self) -> Described:
        try:
            found: Described = self.dynamodb.describe_table(TableName=self.name)["Table"]
        except self.dynamodb.exceptions.ResourceNotFoundException:
            raise StackError(f"there is no table {self.name} in this region") from None
        return found

    def _update(self, **change: Any) -> None:
        self.dynamodb.update_table(TableName=self.name, **change)

    def _add_index(self, name: str) -> None:
        # What a parameter decides is of the stack's own table.
        create = {"Create": {key: each for key, each in _by_name(self.wanted)[name].items() if each is not None}}
        attributes = self.wanted["AttributeDefinitions"]
        self._update(AttributeDefinitions=attributes, GlobalSecondaryIndexUpdates=[create])


def _is_active(found: Described) -> bool:
    indexes = _by_name(found).values()
    return found["TableStatus"] == "ACTIVE" and all(each["IndexStatus"] == "ACTIVE" for each in indexes)


def _by_name(table: Described) -> dict[str, Described]:
    return {index["IndexName"]: index for index in table.get("GlobalSecondaryIndexes", [])}


def _meaning(index: Described) -> tuple[Any, ...]:
    """What makes it another index."""
    projection = index["Projection"]
    return index["KeySchema"], projection["ProjectionType"], {*projection.get("NonKeyAttributes", ())}


def _asked(session: Any) -> tuple[str, str]:
    name = os.environ.get("TABLE")
    region = os.environ.get("REGION") or session.get_config_variable("region")
    if not name or not region:
        raise StackError("which table, and where? make adopt TABLE=baton-restored REGION=eu-central-1")
    return name, region


def main() -> int:
    session = botocore.session.get_session()
    try:
        name, region = _asked(session)
        kms_key = os.environ.get("KMS_KEY", "")
        label = adopt(session.create_client("dynamodb", region_name=region), name, print, kms_key=kms_key)
    except (StackError, BotoCoreError, ClientError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{name} is ready: make deploy PARAMS='{NAME}={name} {LABEL}={label}'")
    return 0


if __name__ == "__main__":
    sys.exit(main())
