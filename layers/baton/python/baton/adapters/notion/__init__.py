"""Notion as a workspace's tracker: the port ``Trackers`` over notion-client."""

from baton.adapters.notion.tracker import NotionTracker
from baton.adapters.notion.trackers import NotionTrackers

__all__ = ["NotionTracker", "NotionTrackers"]
