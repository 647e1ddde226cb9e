#!/usr/bin/env python3
"""Replaces each number of the example files and presets by NaN, infinity, 0, -1, 1e308 and 1e-308, and runs each file.

    python3 scripts/mutate_numbers.py                   # every number of every file, every value
    python3 scripts/mutate_numbers.py --ends            # of each list the first and the last
    python3 scripts/mutate_numbers.py --inner           # the others
    python3 scripts/mutate_numbers.py --sample 60       # 60 of them, chosen by --seed
    python3 scripts/mutate_numbers.py examples/cart.toml --values nan,inf

A run has to end within --limit seconds of processor time: with exit code 0 (or the verdicts 3 and 4 of `fit`) and finite numbers in
everything that it writes, or with an error that names the key. The program is target/debug/etendue unless ETENDUE
names another. Needs CPython 3.11 or later and nothing else.
"""

import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue"))
PRESETS = ROOT / "crates" / "etendue-config"
VALUES = ["nan", "inf", "0", "-1", "1e308", "1e-308"]
# A number of a TOML value: not part of a word, a date or a longer number.
NUMBER = re.compile(r"(?<![\w.+\-:])[+-]?(?:\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?|inf|nan)(?![\w.:\-])")
KEY = re.compile(r"([A-Za-z_][\w-]*)\s*=\s*$")
# Errors about the arrangement of a scene rather than a key: another position or light leaves nothing to measure, or puts a
# surface at the sensor.
ARRANGEMENT = [
    "the frames are all black", "there is nothing in front of the sensor", "has a prediction at the start", "a surface is at the sensor",
]
# Whether the program has the physics engine, which robots with dynamics need.
WITH_ENGINE = "ETENDUE_WITH_RAPIER" in os.environ
# A word of an output that is not a finite number.
NON_FINITE = re.compile(r"(?<![\w.])[+-]?(?:nan|inf|infinity)(?![\w.])", re.I)
# Columns in which NaN is the truth of a return of the air, or of a beam whose axis has no surface.
TRUTHS = {"true_range", "incidence"}
TEXT_OUTPUTS = {".csv", ".json", ".nmea", ".tum", ".svg"}


@dataclass(frozen=True)
class Number:
    """A number of a file."""

    key: str
    # Key of the inline table that has the key; empty without one.
    outer: str
    # Where the key begins.
    place: int
    line: int
    span: tuple[int, int]


@dataclass(frozen=True)
class Mutation:
    """One file with one number replaced."""

    path: Path
    kind: str
    number: Number
    value: str


def without_text(text: str) -> str:
    """The text with comments and strings replaced by blanks of the same length."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', blank, text)


def numbers(text: str) -> list[Number]:
    """Every number of a text."""
    bare = without_text(text)
    found = []
    for match in NUMBER.finditer(bare):
        start = bare.rfind("\n", 0, match.start()) + 1
        line = bare[start : match.start()]
        if line.lstrip().startswith("[") and "=" not in line:
            # A header of a table, or a line of a list
            if "," not in line and re.match(r"\s*\[\[?[\w.\"'-]+", line):
                continue
        begin = max(0, match.start() - 20_000)
        before = bare[begin : match.start()]
        key, at = key_of(before)
        if key and key != "version":
            outer, _ = key_of(before[: before.rfind("{", 0, at)]) if is_inline(before, at) else ("", 0)
            found.append(Number(key, outer, begin + at, bare.count("\n", 0, match.start()) + 1, match.span()))
    return found


def ends(found: list[Number]) -> list[Number]:
    """The first and the last number of each value."""
    values = {}
    for number in found:
        values.setdefault(number.place, []).append(number)
    return [number for value in values.values() for number in ([value[0], value[-1]] if len(value) > 1 else value)]


def inner(found: list[Number]) -> list[Number]:
    """The numbers between the first and the last of each value."""
    outer = set(ends(found))
    return [number for number in found if number not in outer]


def is_inline(before: str, at: int) -> bool:
    """Whether a place is within an inline table of its line."""
    line = before[before.rfind("\n", 0, at) + 1 : at]
    return line.count("{") > line.count("}")


def key_of(before: str) -> tuple[str, int]:
    """The key of a value that follows a text, and its place: that of the list or table that is open, or of the line."""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        letter = before[at]
        if letter in "]}":
            depth += 1
        elif letter == "[":
            depth -= depth > 0
        elif letter == "{" and depth > 0:
            depth -= 1
        elif letter == "=" and depth == 0:
            match = KEY.search(before[: at + 1])
            return (match[1], match.start()) if match else ("", 0)
    return "", 0


def kind_of(path: Path, text: str) -> str | None:
    """What runs a file; None for files that need recordings."""
    keys = tomllib.loads(text)
    if "dynamics" in keys and not WITH_ENGINE:
        return None
    folder = path.parent.name
    if folder in ("devices", "materials"):
        return folder
    for kind, names in {
        "robot": ["sensors", "duration_s", "frames"],
        "scene": ["objects"],
        "sensor": ["receiver"],
        "camera": ["resolution_px", "optics", "detector"],
        "fit": ["free", "scans"],
        "profile": ["knots", "law"],
        "setup": ["panels"],
    }.items():
        if any(name in keys for name in names):
            return kind
    return None


# Materials and devices are used by a file of their own.
ROBOT = """version = 1
name = "device"
scene = "arena"
duration_s = 2
motion.circle = {{ radius_m = 0.2, speed_mps = 0.1 }}
[place]
latitude_deg = 48
longitude_deg = 11
height_m = 500
[[sensors]]
name = "device"
rate_hz = 20
device.{device} = {{ file = "{file}" }}
"""
SCENE = """version = 1
[materials.wall]
{material}
[[objects]]
name = "wall"
material = "wall"
shape.box = {{ size_m = [1, 4, 2] }}
position_m = [3, 0, 0]
"""


def commands(kind: str, file: Path, text: str, folder: Path) -> list[list[str]]:
    """The runs of a file of a kind; outputs go to a folder."""
    out = str(folder / "out")
    if kind == "scene":
        pose = [] if "[sensor" in text or "sensor." in text else ["--pose", "0,0,1,0"]
        return [
            ["simulate", str(file), "--sensor", "hokuyo-urg-04lx", *pose, "-o", out, "--formats", "csv,pcd"],
            ["render", str(file), "--camera", str(small_camera(folder)), "--samples", "1", *pose, "-o", out + "-views"],
        ]
    if kind == "sensor":
        return [["simulate", "arena", "--sensor", str(file), "-o", out, "--formats", "csv,pcd"]]
    if kind == "camera":
        return [["render", "arena", "--camera", str(file), "--samples", "1", "-o", out]]
    if kind == "robot":
        duration = [] if "duration_s" in text else ["--duration", "0.5"]
        nmea = ["--nmea", out + ".nmea"] if "device.gnss" in text else []
        return [["run", str(file), "-o", out + ".mcap", *nmea, "--json", *duration]]
    if kind == "devices":
        device = next(key for key in ("imu", "gnss", "barometer") if re.search(rf"^\[{key}\b", text, re.M))
        robot = folder / "robot.toml"
        robot.write_text(ROBOT.format(device=device, file=file))
        nmea = ["--nmea", out + ".nmea"] if device == "gnss" else []
        return [["run", str(robot), "-o", out + ".mcap", *nmea, "--json"]]
    if kind == "materials":
        scene = folder / "scene.toml"
        # The tables of a material become those of a material of a scene
        material = re.sub(r"^\[(?=\w)", "[materials.wall.", text, flags=re.M)
        scene.write_text(SCENE.format(material=material))
        return [["simulate", str(scene), "--sensor", "hokuyo-urg-04lx", "--pose", "0,0,1,0", "-o", out, "--formats", "csv"]]
    if kind == "fit":
        return [["fit", str(file), "-o", out, "--json"]]
    if kind == "profile":
        return [["calibrate", "view", str(file), "-o", out]]
    return []


def small_camera(folder: Path) -> Path:
    """The camera `ideal` with a small detector."""
    path = folder / "camera.toml"
    text = (PRESETS / "cameras" / "ideal.toml").read_text()
    path.write_text(re.sub(r"^resolution_px = .*$", "resolution_px = [32, 24]", text, flags=re.M))
    return path


def without_truths(table: str) -> str:
    """A table of comma-separated values without the columns of the truth."""
    head, *rows = table.split("\n")
    names = head.split(",")
    if not TRUTHS & set(names):
        return table
    kept = [number for number, name in enumerate(names) if name not in TRUTHS]
    cells = (row.split(",") for row in rows if row)
    return "\n".join(",".join(row[number] for number in kept if number < len(row)) for row in cells)


def non_finite(path: Path) -> str | None:
    """The first non-finite number that a run wrote."""
    for file in sorted(path.rglob("*")):
        if file.suffix in TEXT_OUTPUTS:
            text = file.read_text(errors="replace")
            match = NON_FINITE.search(without_truths(text) if file.suffix == ".csv" else text)
            if match:
                return f"{file.name} has {match[0]!r}"
    return None


def run(mutation: Mutation, limit: float) -> tuple[str, str]:
    """Result of one mutation: its kind, and the reason of a failure."""
    text = mutation.path.read_text()
    start, end = mutation.number.span
    changed = text[:start] + mutation.value + text[end:]
    with tempfile.TemporaryDirectory(prefix="etendue-mutation-") as name:
        folder = Path(name)
        # Beside the files that it refers to
        place = folder / "files"
        shutil.copytree(mutation.path.parent, place, ignore=shutil.ignore_patterns("python", "*.ipynb"))
        file = place / mutation.path.name
        file.write_text(changed)
        result = "same"
        for command in commands(mutation.kind, file, changed, folder):
            began = time.monotonic()
            seconds = (int(limit), int(limit))
            bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, seconds)
            try:
                done = subprocess.run(
                    [PROGRAM, "-q", *command], capture_output=True, text=True, timeout=30 * limit, cwd=folder,
                    errors="replace", preexec_fn=bound,
                )
            except subprocess.TimeoutExpired:
                return "slow", f"{command[0]} did not end"
            if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                return "slow", f"{command[0]} took more than {limit:.0f} s of processor time"
            error = done.stderr
            if "panicked" in error or done.returncode < 0 or done.returncode in (101, 134):
                place_of = re.search(r"panicked at ([^\n]*)\n?([^\n]*)", error)
                return "panic", f"{command[0]}: {place_of[0] if place_of else f'exit code {done.returncode}'}"
            if done.returncode in (0, 3, 4):
                match = NON_FINITE.search(done.stdout) if "--json" in command else None
                wrong = f"standard output has {match[0]!r}" if match else non_finite(folder)
                if wrong:
                    return "non-finite", f"{command[0]}: {wrong}"
                result = "result"
                continue
            names_key = any(key in error for key in (mutation.number.key, mutation.number.outer) if key)
            if not names_key and not any(text in error for text in ARRANGEMENT):
                return "unnamed", f"{command[0]}: exit code {done.returncode}: {error.strip().splitlines()[:3]}"
            return "refused", f"{time.monotonic() - began:.1f} s"
        return result, ""


def main() -> int:
    """Runs the campaign and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--values", default=",".join(VALUES))
    parser.add_argument("--sample", type=int, help="number of mutations, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of processor time of one run")
    parser.add_argument("--seconds", type=float, help="begin no run after this time")
    parser.add_argument("--ends", action="store_true", help="only the first and the last number of each list")
    parser.add_argument("--inner", action="store_true", help="only the numbers between those of --ends")
    parser.add_argument("--distinct", action="store_true", help="one mutation of each key of each kind of file and value")
    given = parser.parse_args()
    presets = [file for kind in ("scenes", "sensors", "cameras", "devices", "materials", "profiles")
               for file in sorted((PRESETS / kind).glob("*.toml"))]
    examples = [file for file in sorted((ROOT / "examples").rglob("*.toml"))]
    files = [file.resolve() for file in given.files] or [*examples, *presets]

    # List every number of every file
    mutations = []
    for file in files:
        text = file.read_text()
        kind = kind_of(file, text)
        if kind in (None, "setup"):
            continue
        found = numbers(text)
        if given.ends or given.inner:
            found = ends(found) if given.ends else inner(found)
        mutations += [Mutation(file, kind, number, value) for number in found for value in given.values.split(",")]
    if given.distinct:
        seen = {}
        for mutation in mutations:
            seen.setdefault((mutation.kind, mutation.number.key, mutation.value), mutation)
        mutations = list(seen.values())
    total = len(mutations)
    if given.sample:
        mutations = random.Random(given.seed).sample(mutations, min(given.sample, total))

    # Run them
    counts = Counter()
    began = time.monotonic()
    for mutation in mutations:
        if given.seconds and time.monotonic() - began > given.seconds:
            break
        result, why = run(mutation, given.limit)
        counts[result] += 1
        if result in ("slow", "panic", "non-finite", "unnamed"):
            path = mutation.path.relative_to(ROOT)
            print(f"{result}: {path}:{mutation.number.line}: {mutation.number.key} = {mutation.value}: {why}", flush=True)
    bad = sum(counts[name] for name in ("slow", "panic", "non-finite", "unnamed"))
    done = sum(counts.values())
    print(f"{done} of {total} changed files in {time.monotonic() - began:.0f} s: {counts['refused']} refused with the key, "
          f"{counts['result']} with a finite result, {counts['slow']} slow, {counts['panic']} panics, "
          f"{counts['non-finite']} non-finite, {counts['unnamed']} without the key")
    return 1 if bad or not done else 0


if __name__ == "__main__":
    sys.exit(main())
