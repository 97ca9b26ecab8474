"""Archives in place of the folders that `sam build` makes: `sam package` would compress 50 MB anew each time."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import yaml

# Where a template names a package.
PACKED = {"CodeUri", "ContentUri"}
_UNIX = 3  # whose permissions an archive holds


def pack(folder: Path) -> None:
    """Has the template name an archive of each package. It is written as JSON, which is YAML, too, and read in no time:
    `sam package` reads it twice."""
    template = folder / "template.yaml"
    described = yaml.load(template.read_text(), yaml.CSafeLoader)
    for resource in described.get("Resources", {}).values():
        properties = resource.get("Properties", {})
        for name in PACKED & properties.keys():
            properties[name] = archive(folder / properties[name]).name
    template.write_text(json.dumps(described, indent=1))


def archive(package: Path) -> Path:
    """Returns the archive beside the package. The same files are the same archive, whenever and by whom they were
    made."""
    packed = package.with_name(f"{package.name}.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as writing:
        for path in sorted(path for path in package.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(path.relative_to(package).as_posix())
            mode = stat.S_IFREG | (0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
            member.create_system, member.external_attr = _UNIX, mode << 16
            writing.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed
