"""Serve a stand-in for Notion on this machine until a signal ends it.

    python -m tools.stand_ins.fake_notion --port 4567 [--state FILE]

It takes any bearer token that begins with ntn_ and starts with one Tasks database; its first line on stdout is JSON
with its URL and its databases' ids.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from tools.stand_ins.fake_notion.control import database_json
from tools.stand_ins.fake_notion.model import Page
from tools.stand_ins.fake_notion.server import serve
from tools.stand_ins.fake_notion.state import open_kept


def main() -> int:
    parser = argparse.ArgumentParser(prog="fake_notion", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--port", type=int, default=4567, help="on 127.0.0.1; 0 for any that is free")
    parser.add_argument("--state", type=Path, help="a file to keep everything in; without it all is lost at the end")
    chosen = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    fake = open_kept(chosen.state)
    fake.recording = False
    try:
        with serve(fake, chosen.port) as server:
            Page.served_at = server.url
            databases = [database_json(database) for database in fake.databases.values()]
            print(json.dumps({"url": server.url, "databases": databases}), flush=True)
            ended.wait()
    except OSError as error:
        print(f"fake_notion: port {chosen.port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
