"""Answers of queries that are read without the client's own way: each is what the client makes of it by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from support.fakes.loopback import Canned, Loopback

KINDS: dict[str, Any] = {
    "text": {"S": 'says "B" and "BS"'},
    "number": {"N": "12"},
    "bytes": {"B": "AAEC"},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "many bytes": {"BS": ["AAEC", ""]},
    "nothing": {"NULL": True},
    "truth": {"BOOL": False},
    "map": {"M": {"B": {"S": "AAEC"}, "inner": {"M": {"deep": {"B": "AAEC"}}}, "empty": {"M": {}}}},
    "list": {"L": [{"B": "AAEC"}, {"S": "AAEC"}, {"L": [{"BS": ["AAEC"]}]}, {"M": {"B": {"B": "AAEC"}}}]},
}
PLAIN = {name: KINDS[name] for name in ("text", "number", "nothing", "truth")}
ANSWERS = {
    "of every kind": {"Items": [KINDS, {}, PLAIN], "Count": 3, "ScannedCount": 3},
    "without bytes": {"Items": [{"text": {"S": "a"}, "map": {"M": {"number": {"N": "1"}}}}], "Count": 1},
    "empty": {"Items": [], "Count": 0},
    "with more to come": {"Items": [PLAIN], "Count": 1, "LastEvaluatedKey": {"pk": {"S": "a"}, "sk": {"B": "AAEC"}}},
    "counted only": {"Count": 7, "ScannedCount": 9, "ConsumedCapacity": {"TableName": "board", "CapacityUnits": 2.5}},
    "no object": [],
}
FAILURES = {
    "refused": Canned(status=400, body={"__type": "com.amazonaws#ValidationException", "message": "no"}),
    "not JSON": Canned(status=503, body=b"<html>busy</html>"),
    "no text": Canned(status=500, body=b"\xff\xfe"),
}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback().serving() as server:
        yield server


def new_client(server: Loopback, *, quick: bool) -> Any:
    session = boto3.session.Session()
    if quick:
        parse_queries_as_json(session.events)
    return session.client(
        "dynamodb",
        region_name="us-east-1",
        endpoint_url=server.url,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(retries={"total_max_attempts": 1}),
    )


def ask(client: Any) -> Any:
    try:
        answer = client.query(TableName="board", KeyConditionExpression="pk = :pk")
    except ClientError as refused:
        answer = refused.response
    except (UnicodeDecodeError, AttributeError) as failed:  # the client's own, for what it can't read
        return type(failed)
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


@pytest.mark.parametrize("answer", [*ANSWERS, *FAILURES])
def test_an_answer_is_what_the_client_makes_of_it(server: Loopback, answer: str) -> None:
    said = FAILURES.get(answer) or Canned(body=ANSWERS[answer])
    server.then(said, said)

    assert ask(new_client(server, quick=True)) == ask(new_client(server, quick=False))
