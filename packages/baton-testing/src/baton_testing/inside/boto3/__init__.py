"""The installed boto3, without what it loads at once: sessions and clients, which nothing here has."""

from importlib.util import find_spec

if (_installed := find_spec("boto3")) is not None:
    __path__ = [*__path__, *(_installed.submodule_search_locations or ())]
