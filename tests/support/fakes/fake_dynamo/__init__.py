"""DynamoDB as far as Baton calls it, in memory, under the real store: one table, exact conditions and transactions."""

from support.fakes.fake_dynamo.capacity import Charge
from support.fakes.fake_dynamo.client import Change, FakeDynamo
from support.fakes.fake_dynamo.fault_source import FaultSource, LateIndexes, NoFaults, refusal, trouble

__all__ = ["Change", "Charge", "FakeDynamo", "FaultSource", "LateIndexes", "NoFaults", "refusal", "trouble"]
