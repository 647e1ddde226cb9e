#!/usr/bin/env python3
"""Compares the scans of examples/ with the results of the commands that their problem files state.

    python3 scripts/example_scans.py            # fails where a scan differs
    python3 scripts/example_scans.py --write    # replaces the scans

A command is in a comment of a TOML file, followed by "(created NAME)". The program is target/debug/etendue unless ETENDUE names
another. The same scene, sensor, pose and seed give the same bytes. Needs CPython 3.10 or later and nothing else.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue")).resolve()
COMMAND = re.compile(r"^#\s+etendue (.+?)\s+\(created (\S+)\)", re.M)


def created(command: str, folder: Path) -> bytes:
    """The file that a command creates, run in the folder of the problem file."""
    words = shlex.split(command)
    output = words.index("-o") + 1
    with tempfile.TemporaryDirectory() as results:
        path = Path(results) / words[output]
        words[output] = str(path)
        subprocess.run([PROGRAM, *words], cwd=folder, check=True, capture_output=True)
        return path.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace the scans")
    write = parser.parse_args().write
    stale, scans = 0, 0
    for problem in sorted((ROOT / "examples").rglob("*.toml")):
        for command, name in COMMAND.findall(problem.read_text()):
            scan = problem.parent / name
            scans += 1
            content = created(command, problem.parent)
            if content == scan.read_bytes():
                continue
            if write:
                scan.write_bytes(content)
                print(f"wrote {scan.relative_to(ROOT)}")
            else:
                stale += 1
                print(f"{scan.relative_to(ROOT)} differs from the result of `etendue {command}`")
    print(f"{scans} scans, {stale} stale")
    return 1 if stale or scans == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
