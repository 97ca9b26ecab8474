"""Numbers of JSON keep their spelling, from a program to Baton and back."""

from __future__ import annotations

import copy
import json
import math
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_client import Baton, Number, operations
from baton_client.numbers import dumps, is_same, loads, marked, restored, unmarked
from baton_client.testing import BatonWorld
from baton_client.testing import baton_world as baton_world

DIGITS = "123456789012345678901234567890123456789"
ODD = ["12345678901234567.10", "1E2", "0.10", "-0", "-0.0", "1e400", "1.0", DIGITS, "9" * 5_000, "1e-7", "0e9"]
numbers = st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,3})?\Z")


@pytest.mark.parametrize("written", ODD)
def test_a_number_is_written_as_it_was_read(written: str) -> None:
    document = f'{{"a": [{written}]}}'
    assert dumps(loads(document)) == document
    assert dumps(loads(document.encode())) == document


def test_dates_and_texts_of_many_digits_change_nothing() -> None:
    text = json.dumps({"at": "2026-01-05", "digits": ("7" * 599 + "-") * 7_000})
    assert loads(text) == json.loads(text)
    assert str(loads('{"at": "2026-01-05", "zero": -0}')["zero"]) == "-0"


@given(numbers)
def test_any_number_is_written_as_it_was_read_and_is_the_float_that_json_makes(written: str) -> None:
    value = loads(written)
    assert dumps(value) == str(value) == written
    assert value == json.loads(written)
    assert dumps(restored(json.loads(json.dumps(marked([value]))))) == unmarked(json.dumps(marked([value])))


@pytest.mark.parametrize("written", ["1E2", "12345678901234567.10", "1e400", "-0"])
def test_a_number_is_a_float_that_copies_and_pickles_with_its_digits(written: str) -> None:
    number = loads(written)
    assert isinstance(number, float)
    assert (number, hash(number), number + 1) == (float(written), hash(float(written)), float(written) + 1)
    for other in (copy.copy(number), copy.deepcopy([number])[0], pickle.loads(pickle.dumps(number))):
        assert (type(other), str(other), f"{other}", repr(other)) == (Number, written, written, written)
    if math.isfinite(number):
        assert json.loads(json.dumps({"a": number})) == {"a": float(written)}
    assert Decimal(str(number)) == Decimal(written)


@pytest.mark.parametrize("text", ["", "NaN", "1_0", "0x1", " 1", "1.", "\u0661", "inf", "1\n"])
def test_a_text_that_is_no_json_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Number(text)


def test_numbers_of_one_float_differ_by_their_digits() -> None:
    one, other = loads("[12345678901234567.10, 12345678901234567.20]")
    assert one == other
    assert not is_same(one, other)
    assert is_same(loads("0.10"), 0.1)
    assert is_same(loads("1E2"), 100)


def test_a_client_receives_and_sends_each_digit(baton_world: BatonWorld) -> None:
    scout, reviewer = baton_world.baton("scout"), baton_world.baton("reviewer", approval="auto")
    amounts = {"total": Number("12345678901234567.10"), "rate": Number("0.10"), "count": 3}
    task = scout.hand_off("reviewer", "Pay it", variables=amounts)
    with reviewer.claim() as work:
        assert work is not None
        assert str(work.variables["total"]) == "12345678901234567.10"
        assert work.variables["rate"] + 0.2 == pytest.approx(0.3)
        work.save({"paid": work.variables["total"]})
        work.complete({"paid": work.variables["total"], "too_long": Number(f"{DIGITS}.5")})
    output = scout.wait(task).output
    assert output == {"paid": 12345678901234567.10, "too_long": f"{DIGITS}.5"}
    assert str(output["paid"]) == "12345678901234567.10"


def test_a_person_approves_the_digits_that_a_run_asks_for(baton_world: BatonWorld) -> None:
    scout: Baton = baton_world.baton("scout")
    task = scout.hand_off(baton_world.baton("reviewer", approval="auto").agent, "Pay it")
    with baton_world.baton("reviewer").claim(task=task.id) as work:
        assert work is not None
        asked = work.ask("May I?", tool="pay", arguments={"amount": Number("12345678901234567.10")}, seconds=0)
        shown: Any = baton_world.human("me").send(operations.get_question(task.id, asked.id))
        assert str(shown["arguments"]["amount"]) == "12345678901234567.10"
        work.release()
