"""Notion's deliveries and Baton's answers to them, for docs/openapi.json."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class NotionAuthor(TypedDict):
    id: str
    type: str


class NotionEntity(TypedDict):
    id: str
    type: str


class NotionDelivery(TypedDict):
    """The handshake has a ``verification_token``, every other delivery an ``id`` and a ``timestamp``. Other fields are
    ignored."""

    verification_token: NotRequired[str]
    id: NotRequired[str]
    timestamp: NotRequired[str]
    type: NotRequired[str]
    authors: NotRequired[list[NotionAuthor]]
    entity: NotRequired[NotionEntity]


class ReceivedView(TypedDict):
    """How the delivery was handled. Whichever it is, the delivery need not be repeated."""

    received: Literal["installed", "reported", "too_old", "not_a_person", "not_a_page", "unknown_page", "repeated"]
