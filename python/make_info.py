"""Writes the package's metadata, so that a build folder on sys.path is as good as an installation.

    python make_info.py pyproject.toml VERSION FOLDER

Python finds ptera's entry points (of pytest, of Triton) by it. Needs Python 3.11.
"""

import pathlib
import sys
import tomllib


def main() -> None:
    project = tomllib.loads(pathlib.Path(sys.argv[1]).read_text())["project"]
    version = sys.argv[2]
    info = pathlib.Path(sys.argv[3]) / f"{project['name']}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {what}" for name, what in entries.items()), "")
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    metadata = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {what}" for what in project["dependencies"]]
    (info / "METADATA").write_text("\n".join(metadata) + "\n")


if __name__ == "__main__":
    main()
