"""DynamoDB as far as Baton calls it, in memory, under the real store: one table, exact conditions and transactions."""

from support.fakes.fake_dynamo.client import Change, FakeDynamo
from support.fakes.fake_dynamo.weather import Calm, Weather, refusal

__all__ = ["Calm", "Change", "FakeDynamo", "Weather", "refusal"]
