"""The console's libraries: takes the files that requirements/vendor.json names from npm's packages, byte for byte.

    python -m tools.docs.vendor            write them; fails where a package or a file isn't what the list says
    python -m tools.docs.vendor --accept   write them, and their hashes into the list: after a change of a version

A package is what its `integrity` says, a written file what its `sha256` says. An import by a bare name becomes a
relative one: the console has no import map, which would be an inline script. The line that names a source map is left
out: no map is served.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.docs.npm import npm
from tools.stack.deployment import ROOT

LIST = ROOT / "requirements" / "vendor.json"
FOLDER = ROOT / "functions" / "console" / "static" / "vendor"
_IMPORT = re.compile(rb"""(\bfrom\s*|\bimport\s*)(["'])([^"'.][^"']*)\2""")
_SOURCE_MAP = re.compile(rb"\n?//# sourceMappingURL=\S+\s*$")


class Differs(Exception):
    """Something isn't what the list says."""


def listed() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(LIST.read_text(encoding="utf-8"))
    return read


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def made(package: dict[str, Any], names: dict[str, str], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Each file of a package as it is served, by its name. Raises Differs where the package is another one."""
    told = npm("pack", f"{package['name']}@{package['version']}", "--json", folder=folder)
    packed = (folder / json.loads(told)[0]["filename"]).read_bytes()
    if integrity(packed) != package["integrity"]:
        raise Differs(f"{package['name']} {package['version']} is {integrity(packed)}")
    with tempfile.TemporaryFile() as file:
        file.write(packed)
        file.seek(0)
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            for source, name in package["files"].items():
                member = archive.extractfile(f"package/{source}")
                if member is None:
                    raise Differs(f"{package['name']} has no {source}")
                content = member.read()
                yield name, served(content, names) if name.endswith(".js") else content


def integrity(packed: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()


def served(content: bytes, names: dict[str, str]) -> bytes:
    """A module as the console serves it."""

    def relative(found: re.Match[bytes]) -> bytes:
        name = found[3].decode()
        if name not in names:
            raise Differs(f"a module imports {name}, which `imports` doesn't name")
        return found[1] + found[2] + f"./{names[name]}".encode() + found[2]

    return _IMPORT.sub(relative, _SOURCE_MAP.sub(b"\n", content))


def write(*, accept: bool) -> None:
    """All files of the list. Raises Differs, and writes none, where one isn't what the list says."""
    wanted = listed()
    files: dict[str, bytes] = {}
    for package in wanted["packages"]:
        with tempfile.TemporaryDirectory(prefix="baton-vendor-") as folder:
            files.update(made(package, wanted["imports"], Path(folder)))
    hashes = {name: digest(content) for name, content in sorted(files.items())}
    if accept:
        LIST.write_text(json.dumps({**wanted, "sha256": hashes}, indent=2) + "\n", encoding="utf-8")
    elif hashes != wanted["sha256"]:
        raise Differs(f"another hash: {sorted(set(hashes.items()) ^ set(wanted['sha256'].items()))}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)
    print(f"{len(files)} files in {FOLDER.relative_to(ROOT)}")


def main() -> int:
    parser = argparse.ArgumentParser(description="The console's libraries")
    parser.add_argument("--accept", action="store_true", help="take over the hashes of what was fetched")
    try:
        write(accept=parser.parse_args().accept)
    except (Differs, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
