"""Numbers of free content keep their spelling, and what was told of them before stays true."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import Number, OutOfRange, approximate, fingerprint, fraction, integer, loads
from support.faults.soak import scaled

SPELLINGS = [
    *("1e15", "1E15", "1e+15", "0.10", "-0", "-0.0", "1.0", "0.1", "1e-7", "123456789012345678901234567890"),
    *("0.12345678901234567890123456789012345678", "1.7976931348623157e100", "0e9", "100000000000000000000.0"),
]


@pytest.mark.parametrize("written", SPELLINGS)
def test_a_number_is_written_as_it_was(written: str) -> None:
    text = f'{{"a":[{written}],"b":{{"c":{written}}}}}'
    assert canonical_json(loads(text)) == text


@pytest.mark.parametrize("written", SPELLINGS)
def test_a_number_counts_for_what_it_says(written: str) -> None:
    assert loads(written) == float(written) or loads(written) == Decimal(written)
    assert approximate({"a": [loads(written)]}) == {"a": [float(written)]} or isinstance(loads(written), int)


def test_a_text_that_looks_like_a_number_stays_a_text() -> None:
    value = {"a": "1e15", "b": loads("1e15"), "1e15": "-0"}
    assert json.loads(canonical_json(value)) == {"a": "1e15", "b": 1e15, "1e15": "-0"}


@pytest.mark.slow
@given(st.recursive(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
@settings(max_examples=scaled(100, 4))
def test_what_is_stored_already_is_read_and_written_as_before(value: Any) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    assert canonical_json(loads(text)) == text


@pytest.mark.parametrize("written", ["1e15", "0.10", "-0", "1E5", "1.50e3", "1e100", "100000000000000000000.0"])
def test_the_fingerprint_of_a_body_is_what_it_was_before_numbers_kept_their_spelling(written: str) -> None:
    text = f'{{"state":{{"n":{written}}}}}'
    before = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert fingerprint(loads(text)) == hashlib.sha256(before.encode()).hexdigest()


def test_numbers_that_differ_in_their_last_digit_have_other_fingerprints() -> None:
    ones = [loads(f"0.1234567890123456789012345678901234567{last}") for last in "123"]
    assert len({fingerprint(each) for each in ones}) == 3


@pytest.mark.parametrize(
    ("read", "written"), [(integer, "7" * 39), (fraction, "0." + "7" * 39), (fraction, "1e126"), (fraction, "1e-131")]
)
def test_a_number_out_of_range_is_refused(read: Any, written: str) -> None:
    with pytest.raises(OutOfRange):
        read(written)


def test_nothing_else_becomes_json() -> None:
    with pytest.raises(TypeError):
        canonical_json({"a": Decimal(1)})
    assert repr(Number("1e1")) == "Number('1e1')"
