"""Conversions to and from DynamoDB's format as boto3 does them, but quicker: the simulation converts all the time."""

from __future__ import annotations

from typing import Any

from boto3.dynamodb.types import DYNAMODB_CONTEXT, TypeDeserializer, TypeSerializer

# Whole numbers up to this one are written by boto3 as Python writes them.
EXACT = 10**15
_decimal = DYNAMODB_CONTEXT.create_decimal


class QuickSerializer(TypeSerializer):
    """Leaves rare types to boto3."""

    def serialize(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return {"S": value}
        if kind is int and -EXACT < value < EXACT:
            return {"N": str(value)}
        if kind is bool:
            return {"BOOL": value}
        if kind is list:
            return {"L": [self.serialize(each) for each in value]}
        if kind is dict:
            return {"M": {name: self.serialize(each) for name, each in value.items()}}
        plain: Any = super().serialize(value)
        return plain


class QuickDeserializer(TypeDeserializer):
    def deserialize(self, value: Any) -> Any:
        for kind, inner in value.items():
            if kind == "S" or kind == "BOOL":
                return inner
            if kind == "N":
                return _decimal(inner)
            if kind == "M":
                return {name: self.deserialize(each) for name, each in inner.items()}
            if kind == "L":
                return [self.deserialize(each) for each in inner]
        read: Any = super().deserialize(value)
        return read
