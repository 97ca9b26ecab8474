"""A release's packages for Python: `make wheels` builds each package of this repository into .baton/wheels.

Beside the wheels there is a requirements file for each package, such as baton-langgraph.txt. It names the package, the
client and everything that both need, each with its version and its hashes:

    pip install --require-hashes -r .baton/wheels/baton-langgraph.txt
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.stack.background import StackError
from tools.stack.deployment import ROOT, environment_of_tools, run

FOLDER = ROOT / ".baton" / "wheels"
CLIENT = "packages/baton-client"
# Each package, and the lock that has what it needs.
PACKAGES = {
    "cli": "dev",
    CLIENT: "dev",
    "packages/baton-mcp": "dev",
    "packages/baton-testing": "dev",
    "packages/baton-langgraph": "langgraph",
    "packages/baton-openai-agents": "openai-agents",
    "packages/baton-pydantic-ai": "pydantic-ai",
    "packages/baton-strands": "strands",
}
WHEEL_SECONDS = 60.0
_PINNED = re.compile(r"^([a-z0-9-]+)==", re.MULTILINE)


def main() -> int:
    try:
        released(FOLDER)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # it has said why
    print((FOLDER / "SHA256SUMS").read_text(encoding="utf-8"), end="")
    print(f"next, for one of them: pip install --require-hashes -r {FOLDER.relative_to(ROOT)}/baton-langgraph.txt")
    return 0


def released(folder: Path) -> None:
    """Writes the wheels, a requirements file for each, and the sums of all files."""
    shutil.rmtree(folder, ignore_errors=True)
    build_wheels(folder, PACKAGES, folder.with_suffix(".log"))
    for source, lock in PACKAGES.items():
        name = _project(source)["name"]
        (folder / f"{name}.txt").write_text(requirements(folder, source, lock), encoding="utf-8")
    (folder / "SHA256SUMS").write_text("".join(sums(folder)), encoding="utf-8")


def build_wheels(folder: Path, sources: Iterable[str], log: Path) -> None:
    """Builds the wheel of each source. Raises StackError."""
    uv = environment_of_tools() / "uv" / "bin" / "uv"
    for source in sources:
        command: list[str | Path] = [uv, "build", "--quiet", "--wheel", "--no-build-isolation", "--offline"]
        command += ["--python", sys.executable, "--out-dir", folder, source]
        run(f"wheel of {source}", command, {}, log, WHEEL_SECONDS, print)
    (folder / ".gitignore").unlink()


def requirements(folder: Path, source: str, lock: str) -> str:
    """Returns a requirements file: the package's wheel and the client's, by their hashes, and what they need, as it is
    locked."""
    projects = [_project(each) for each in dict.fromkeys([CLIENT, source])]
    pins = [_wheel_pin(folder, each) for each in projects]
    needed = [text for each in projects for text in _needed(each) if not text.startswith("baton-")]
    name = _project(source)["name"]
    head = f"# pip install --require-hashes -r {name}.txt\n--find-links .\n"
    return head + "".join(pins) + "".join(closure((ROOT / "requirements" / f"{lock}.txt").read_text(), needed))


def closure(lock: str, names: Iterable[str]) -> list[str]:
    """Returns the locked requirements of these packages and of all that they need, which the lock says in its
    comments."""
    starts = [found.start() for found in _PINNED.finditer(lock)]
    blocks = [lock[start:end] for start, end in zip(starts, [*starts[1:], len(lock)], strict=True)]
    entries = {block.partition("==")[0]: block for block in blocks}
    wanted: set[str] = set()
    left = [name.lower().replace("_", "-") for name in names]
    while left:
        name = left.pop()
        if name not in wanted:
            wanted.add(name)
            left += [each for each, block in entries.items() if name in _needed_by(block)]
    return [re.sub(r"^ +#.*\n", "", entries[name], flags=re.MULTILINE) for name in sorted(wanted)]


def sums(folder: Path) -> Iterator[str]:
    """Yields a line of SHA256SUMS for each file below the folder."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        yield f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"


def _needed_by(block: str) -> set[str]:
    """The packages that need this one."""
    _, _, comments = block.partition("# via")
    return {line.strip("# ") for line in comments.split("\n")}


def _project(source: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def _needed(project: dict[str, Any]) -> list[str]:
    """The names of what the package needs, its extras included."""
    optional = [text for texts in project.get("optional-dependencies", {}).values() for text in texts]
    return [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in [*project["dependencies"], *optional]]


def _wheel_pin(folder: Path, project: dict[str, Any]) -> str:
    (wheel,) = folder.glob(f"{project['name'].replace('-', '_')}-{project['version']}-*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{project['name']}=={project['version']} \\\n    --hash=sha256:{digest}\n"


if __name__ == "__main__":
    sys.exit(main())
