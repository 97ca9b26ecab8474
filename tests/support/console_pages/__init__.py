"""A page of the console, run by Node.js without a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import console
from support.warnings.javascript import node_command


def shown(folder: Path, program: str, **known: Any) -> Any:
    """Returns the result of a program: the body of a function that has the names of page.js and ``known``. ``folder``:
    an empty folder for the program and its files. Skips the test if Node.js isn't installed."""
    if (node := node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    shutil.copytree(Path(console.__file__).parent / "static", folder / "static")
    shutil.copy(Path(__file__).parent / "page.js", folder)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    names = "open, look, press, served, sent, text, type, typed, screens"
    lines = [f'import {{ {names} }} from "./page.js";', 'import { writeFileSync } from "node:fs";']
    lines += [f"const {name} = {json.dumps(value)};" for name, value in known.items()]
    lines += [f"const found = await (async () => {{ {program} }})();"]
    lines += ['writeFileSync("found.json", JSON.stringify(found)); process.exit(0);']
    (folder / "run.js").write_text("\n".join(lines), "utf-8")
    subprocess.run([*node, "run.js"], cwd=folder, check=True, timeout=60)
    return json.loads((folder / "found.json").read_text("utf-8"))
