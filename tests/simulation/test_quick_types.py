"""The simulation's quick conversions are boto3's."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from hypothesis import given
from hypothesis import strategies as st

from simulation.quick_types import EXACT, QuickDeserializer, QuickSerializer

NUMBERS = st.integers(-EXACT * 10, EXACT * 10)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.text(),
    NUMBERS,
    st.decimals(-1000, 1000, places=3),
    st.sets(st.text(min_size=1), min_size=1),
    st.sets(NUMBERS, min_size=1),
    st.binary(min_size=1),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3)
)


@given(VALUES)
def test_a_value_is_converted_as_boto3_converts_it(value: Any) -> None:
    wire = TypeSerializer().serialize(value)
    assert QuickSerializer().serialize(value) == wire
    read = QuickDeserializer().deserialize(wire)
    assert read == TypeDeserializer().deserialize(wire)
    assert not isinstance(value, int) or isinstance(value, bool) or type(read) is Decimal
