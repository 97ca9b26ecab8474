"""`make install` and `make uninstall`: the commands baton and baton-mcp, in an environment of their own.

Another program may own the name `baton`, such as the package baton-handoff. `make install` never replaces or hides
another program: it names the owner and ends. With COMMAND=baton-cli the command gets the name baton-cli.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = "baton-cli"  # the name of the environment, as uv names it: that of the distribution
NAMES = ("baton", "baton-cli")
MCP = "baton-mcp"
OURS = {"baton_cli.main:main", "baton_mcp.__main__:main"}
# Run by the interpreter of a command: which distributions of its environment provide the command, and by which object.
ASKED = """
import json, sys
from importlib.metadata import distributions
print(json.dumps([
    (found.metadata["Name"], found.version, each.value) for found in distributions() for each in found.entry_points
    if each.group == "console_scripts" and each.name == sys.argv[1]
]))
"""


class Refused(Exception):
    """The reader can act on the message."""


@dataclass(frozen=True)
class Places:
    """``bin``: the folder of commands. ``tools``: the folder of uv's environments."""

    uv: Path
    bin: Path
    tools: Path

    @property
    def own(self) -> Path:
        """The commands of our environment."""
        return self.tools / TOOL / "bin"

    def is_own_link(self, path: Path) -> bool:
        return path.is_symlink() and path.readlink().parent == self.own


def places(uv: Path) -> Places:
    def told(*options: str) -> Path:
        asked: list[str | Path] = [uv, "tool", "dir", *options]
        return Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout[:-1])

    return Places(uv, told("--bin"), told())


def install(at: Places, name: str) -> None:
    """Installs both commands, the first one as ``name``. Raises Refused if another program has one of the names."""
    if name not in NAMES:
        raise Refused(f"COMMAND must be {' or '.join(NAMES)}, and is {name!r}")
    for each in (name, MCP):
        _refuse_foreign(at, each)
    is_usual = name == NAMES[0]
    # uv can't rename a command: it puts them where nobody looks, and the links are made here.
    folder = at.bin if is_usual else at.tools.parent / "baton-commands"
    mcp = f"{MCP} @ {(ROOT / 'packages' / MCP).as_uri()}"
    command: list[str | Path] = [at.uv, "tool", "install", "--quiet", "--force", "--python", sys.executable]
    command += ["--constraints", "requirements/dev.txt", "./cli", "--with-executables-from", mcp]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "UV_TOOL_BIN_DIR": str(folder)}, check=True)
    if not is_usual:
        at.bin.mkdir(parents=True, exist_ok=True)
        _link(at, name, NAMES[0])
        _link(at, MCP, MCP)
    for other in NAMES:
        if other != name and at.is_own_link(at.bin / other):
            (at.bin / other).unlink()
    print(f"{name} and {MCP} are in {at.bin}")
    if str(at.bin) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f'next: export PATH="{at.bin}:$PATH"    # your shell doesn\'t look there yet')


def uninstall(at: Places) -> None:
    """Removes both commands and their environment. Profiles and reports of workers stay."""
    if not at.own.exists():
        print("the commands aren't installed")
        return
    subprocess.run([at.uv, "tool", "uninstall", "--quiet", TOOL], check=True)
    for name in (*NAMES, MCP):
        if at.is_own_link(at.bin / name):
            (at.bin / name).unlink()
    print("removed the commands; your profiles (~/.config/baton) and your state (~/.local/state/baton) are kept")


def _link(at: Places, name: str, target: str) -> None:
    path = at.bin / name
    path.unlink(missing_ok=True)
    path.symlink_to(at.own / target)


def _refuse_foreign(at: Places, name: str) -> None:
    found = (at.bin / name, shutil.which(name))
    for path in dict.fromkeys(Path(each) for each in found if each):
        if not os.path.lexists(path) or at.is_own_link(path):
            continue
        owners = dict(_owners(path, name))
        if owners and set(owners.values()) <= OURS:
            continue
        whose = f"the package {' and '.join(sorted(owners))}" if owners else "another program"
        step = "remove it"
        if name == NAMES[0]:
            step = f"make install COMMAND={NAMES[1]}    # gives Baton's command the name {NAMES[1]}"
        raise Refused(f"{path} belongs to {whose}, and stays as it is\n  next: {step}")


def _owners(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """The distributions that provide this command, and by which object; none if it is no Python command."""
    interpreter = _interpreter(path)
    if interpreter is None:
        return
    try:
        asked = subprocess.run(
            [interpreter, "-c", ASKED, name], capture_output=True, text=True, timeout=20, check=True
        ).stdout
        for distribution, version, value in json.loads(asked):
            yield f"{distribution} {version}", value
    except (OSError, ValueError, subprocess.SubprocessError):
        return


def _interpreter(path: Path) -> str | None:
    """The Python of a command's first lines: `#!/…/python`, or for a long path `'''exec' '/…/python' …`."""
    try:
        lines = path.read_bytes()[:4096].decode().split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if lines[0] == "#!/bin/sh" and lines[1:2] and lines[1].startswith("'''exec' "):
        return lines[1].removeprefix("'''exec' ").split(' "$0"')[0].strip("'\" ")
    found = lines[0].removeprefix("#!").strip()
    return found if lines[0].startswith("#!") and "python" in Path(found).name else None


def main() -> int:
    what, uv = sys.argv[1:]
    try:
        if what == "install":
            install(places(Path(uv).absolute()), os.environ.get("COMMAND") or NAMES[0])
        else:
            uninstall(places(Path(uv).absolute()))
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # uv has said why
    return 0


if __name__ == "__main__":
    sys.exit(main())
