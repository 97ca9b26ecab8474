"""What the types of DynamoDB's values take of ``boto3.compat``, which loads the transfers of S3 besides."""

from collections import abc as collections_abc
from importlib import import_module
from typing import Any

__all__ = ["collections_abc"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # an import asks whether this is a package
        raise AttributeError(name)
    return getattr(import_module("boto3.compat"), name)
