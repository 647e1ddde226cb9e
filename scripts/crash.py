#!/usr/bin/env python3
"""Ends the commands of etendue at every kind of bad moment, and checks what they leave.

    python3 scripts/crash.py                   # 20 rounds of every fault for every command
    python3 scripts/crash.py --rounds 2        # two
    python3 scripts/crash.py --only render     # commands whose name contains "render"

Faults: SIGKILL, SIGINT and SIGTERM after a random part of the duration of the command; SIGKILL of its process group
when its files begin to be renamed; a full disk (RLIMIT_FSIZE) at a random size; a closed standard output; a folder that cannot be written; the same output written twice at once with
different seeds. Afterwards an output is the old or the new one, byte for byte and never mixed; a recording may also be
a part of the new one, which `etendue repair` and, where it is installed, the Python package `mcap` read. "old, pending"
counts kills after the files were complete and before the first was renamed: the next run renames them. After the next
run there are no temporary files. The program is target/debug/etendue unless ETENDUE names another. Needs Linux, CPython 3.10 or
later and nothing else.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

try:
    from mcap.exceptions import McapError
    from mcap.reader import NonSeekingReader
except ImportError:
    NonSeekingReader = None

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue"))
FAULTS = ["kill", "renaming", "interrupt", "terminate", "full", "closed", "read-only", "twice"]


@dataclass(frozen=True)
class Verb:
    """A command: its arguments with SEED, and its outputs relative to the working folder."""

    name: str
    arguments: str
    outputs: tuple[str, ...]
    recording: str | None = None


# Files beside the recording of the town
TOWN = tuple(f"out/town/{name}" for name in ("street.json", "street.png", "street.svg", "camera_000s.png"))
VERBS = [
    Verb("simulate-folder", "simulate arena --sensor velodyne-vlp-16 --sweeps 3 --seed SEED -o out/folder --formats all", ("out/folder",)),
    Verb("simulate-file", "simulate arena --seed SEED -o out/scan.pcd", ("out/scan.pcd",)),
    Verb("simulate-recording", "simulate arena --sensor velodyne-vlp-16 --sweeps 60 --seed SEED -o out/drive.mcap", (), "out/drive.mcap"),
    Verb("render-folder", "render arena --camera camera.toml --samples 4 --frames 6 --seed SEED -o out/views", ("out/views",)),
    Verb("render-recording", "render arena --camera camera.toml --samples 4 --frames 30 --seed SEED -o out/views.mcap", (), "out/views.mcap"),
    Verb("run", "run cart.toml --seed SEED -o out/cart.mcap --nmea out/cart.nmea --json", ("out/cart.nmea",), "out/cart.mcap"),
    Verb("convert", "convert input-SEED.mcap out/points.ply", ("out/points.ply",)),
    Verb("convert-sweeps", "convert input-SEED.mcap out/sweeps/cloud.pcd --per-sweep", ("out/sweeps",)),
    Verb("fit", "fit arena --scan beams-SEED.csv --free sensor.pose --start 0,0,5 -o out/found", ("out/found",)),
    Verb("register", "register cloud-SEED.pcd cloud-1.pcd -o out/registered", ("out/registered",)),
    Verb("slam", "slam input-SEED.mcap -o out/map", ("out/map",)),
    Verb("correct", "correct apply --force --model model.toml cloud-SEED.pcd out/corrected.pcd", ("out/corrected.pcd",)),
    Verb("correct-recording", "correct apply --force --model model.toml input-SEED.mcap out/corrected.mcap", ("out/corrected.mcap",)),
    Verb("correct-train", "correct train drive-SEED -o out/model.toml", ("out/model.toml",)),
    Verb("compare", "compare cloud-SEED.pcd cloud-1.pcd --html out/page.html", ("out/page.html",)),
    Verb("inspect", "inspect still-SEED/beams.csv --chart out/chart.svg", ("out/chart.svg",)),
    Verb("view", "view cloud-SEED.pcd -o out/view.png", ("out/view.png",)),
    Verb("calibrate-view", "calibrate view rplidar-a1-wood -o out/profile", ("out/profile",)),
    Verb("calibrate-adapt", "calibrate adapt brick --profiles profiles -o out/brick.toml", ("out/brick.toml",)),
    Verb("calibrate", "calibrate --recording panel-SEED.csv --material wood --accept-doubtful --figures -o out/noise", ("out/noise",)),
    Verb("calibrate-aim", "calibrate aim --source panel-SEED.csv -o out/aim", ("out/aim",)),
    Verb("experiment", "experiment localise --starts 2 --seeds SEED --noise-mm 3 -o out/localise", ("out/localise",)),
    Verb("experiment-board", "experiment board --columns 9SEED -o out/board", ("out/board",)),
    Verb("demo", "demo course -o out/course", ("out/course",)),
    Verb("demo-street", "demo street --duration 0.5 --seed SEED -o out/town", TOWN, "out/town/street.mcap"),
    Verb("simulate-several", "simulate arena --sensor hokuyo-urg-04lx --sensor velodyne-vlp-16 --seed SEED -o out/both", ("out/both/hokuyo-urg-04lx", "out/both/velodyne-vlp-16")),
    Verb("repair", "repair cut-SEED.mcap -o out/whole.mcap", ("out/whole.mcap",)),
    Verb("man", "man -o out/man", ("out/man",)),
]

# Model of a depth bias
MODEL = """version = 1
sensor = "os0"
[model.polynomial]
exponents = [4]
weights = [-0.001]
"""
# Longest time in which the files of a killed run are renamed, s
RENAMED = 2.0
# Exit codes of a command that wrote its outputs: done, doubtful, refused
DONE = (0, 3, 4)


def call(words: list[str], folder: Path, **options) -> subprocess.CompletedProcess:
    """Runs the program to its end."""
    return subprocess.run([PROGRAM, "-q", *words], cwd=folder, capture_output=True, timeout=600, **options)


def words(verb: Verb, seed: int) -> list[str]:
    """The arguments of a command with a seed."""
    return [word.replace("SEED", str(seed)) for word in verb.arguments.split()]


def prepare(folder: Path, verbs: list[Verb]) -> None:
    """Writes the inputs of some commands."""
    camera = (ROOT / "crates/etendue-config/cameras/ideal.toml").read_text()
    (folder / "camera.toml").write_text(re.sub(r"^resolution_px = .*$", "resolution_px = [48, 36]", camera, flags=re.M))
    cart = (ROOT / "examples/cart.toml").read_text()
    (folder / "cart.toml").write_text(cart)
    (folder / "model.toml").write_text(MODEL)
    shutil.copytree(ROOT / "crates/etendue-config/profiles", folder / "profiles")
    for seed in (1, 2):
        lidar = ["simulate", "arena", "--sensor", "velodyne-vlp-16", "--seed", str(seed)]
        runs = [
            ("input", [*lidar, "--sweeps", "3", "-o", f"input-{seed}.mcap"]),
            ("cloud", [*lidar, "-o", f"cloud-{seed}.pcd"]),
            ("beams", ["simulate", "arena", "--pose", "0.1,0.05,0,10", "--seed", str(seed), "-o", f"beams-{seed}.csv"]),
            ("still", ["simulate", "arena", "--sweeps", "20", "--seed", str(seed), "-o", f"still-{seed}", "--formats", "csv"]),
            ("panel", ["simulate", str(ROOT / "examples/panel.toml"), "--sweeps", "20", "--seed", str(seed), "-o", f"panel-{seed}.csv"]),
            # Drives of eight and nine stops
            ("drive", ["experiment", "corridor", "--stops", str(7 + seed), "--columns", "96", "--export", f"drive-{seed}"]),
        ]
        used = [name for name, _ in runs if any(f" {name}-" in verb.arguments for verb in verbs)]
        is_cut = any(" cut-" in verb.arguments for verb in verbs)
        for name, run in runs:
            if name in used or (name == "input" and is_cut):
                done = call(run, folder)
                assert done.returncode == 0, done.stderr.decode()
        if is_cut:
            whole = (folder / f"input-{seed}.mcap").read_bytes()
            (folder / f"cut-{seed}.mcap").write_bytes(whole[: len(whole) * 2 // 3])


def digest(path: Path) -> str:
    """Digest of a file, or of the names and contents of a folder without temporary files."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if not path.is_dir():
        return "missing"
    names = sorted(file.name for file in path.iterdir() if not is_temporary(file))
    return hashlib.sha256("".join(f"{name} {digest(path / name)}\n" for name in names).encode()).hexdigest()


def is_temporary(path: Path) -> bool:
    """Whether a file has a temporary name of etendue."""
    return path.name.startswith(".etendue-")


def state(verb: Verb, folder: Path) -> tuple[str, ...]:
    """Digests of the outputs of a command, except its recording."""
    return tuple(digest(folder / output) for output in verb.outputs)


def messages(path: Path) -> list[tuple[int, str, bytes]] | None:
    """Messages of a recording up to a cut, by the Python package `mcap`; None without the package."""
    if NonSeekingReader is None:
        return None
    found = []
    with path.open("rb") as file:
        try:
            for _, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
                found.append((message.log_time, channel.topic, message.data))
        except (McapError, struct.error):
            # The file ends within a record
            return found
    return found


def recording_problem(verb: Verb, folder: Path, references: dict[int, bytes], seed: int) -> str | None:
    """What is wrong with a recording that is neither old nor new: it has to be a part of the new one."""
    path = folder / verb.recording
    if not path.exists():
        return None
    content = path.read_bytes()
    if content in references.values():
        return None
    whole = folder / f"reference-{seed}.mcap"
    part = messages(path)
    if part is not None:
        expected = messages(whole)
        # The package returns the bytes of a message that the end of the file cuts
        if part and len(part) <= len(expected) and part[-1] != expected[len(part) - 1]:
            if expected[len(part) - 1][2].startswith(part[-1][2]):
                part.pop()
        if part != expected[: len(part)]:
            return f"{len(part)} messages are not the first of {len(expected)}"
        if len(content) > 3_000_000 and not part:
            return f"a recording of {len(content)} bytes has no readable message"
    (folder / "repaired.mcap").unlink(missing_ok=True)
    done = call(["repair", str(path), "-o", str(folder / "repaired.mcap"), "--json"], folder)
    if done.returncode != 0 and len(content) > 3_000_000:
        return f"it cannot be repaired: {done.stderr.decode().strip()}"
    if done.returncode == 0 and part is not None:
        repaired = messages(folder / "repaired.mcap") if (folder / "repaired.mcap").exists() else part
        if repaired[: len(part)] != part:
            return f"the repaired recording has {len(repaired)} messages, the cut one {len(part)}"
    return None


class Campaign:
    """Rounds of one command."""

    def __init__(self, verb: Verb, folder: Path, seed: int):
        self.verb = verb
        self.folder = folder
        self.random = random.Random(f"{verb.name} {seed}")
        self.problems: list[str] = []
        self.results = Counter()
        (folder / "out").mkdir(exist_ok=True)
        # Outputs of both seeds
        self.reference = {}
        self.recordings = {}
        for number in (2, 1):
            begun = time.monotonic()
            done = call(words(verb, number), folder)
            assert done.returncode in DONE, f"{verb.name}: {done.stderr.decode()}"
            self.seconds = time.monotonic() - begun
            self.reference[number] = state(verb, folder)
            if verb.recording:
                self.recordings[number] = (folder / verb.recording).read_bytes()
                shutil.copy(folder / verb.recording, folder / f"reference-{number}.mcap")
        sizes = [file.stat().st_size for file in (folder / "out").rglob("*") if file.is_file()]
        self.largest = max(sizes)

    def start(self, seed: int, **options) -> subprocess.Popen:
        """Starts the command."""
        null = subprocess.DEVNULL
        return subprocess.Popen(
            [PROGRAM, "-q", *words(self.verb, seed)], cwd=self.folder, stdout=options.pop("stdout", null), stderr=null, **options
        )

    def round(self, fault: str) -> None:
        """One fault while the output of seed 1 is replaced by that of seed 2, and the run after it."""
        if fault in ("kill", "interrupt", "terminate"):
            number = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "terminate": signal.SIGTERM}[fault]
            process = self.start(2)
            time.sleep(self.random.uniform(0, 1.1 * self.seconds))
            process.send_signal(number)
            process.wait(60)
        elif fault == "renaming":
            process = self.start(2, start_new_session=True)
            while process.poll() is None and not self.pending():
                pass
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)
        elif fault == "full":
            limit = int(self.random.uniform(0, self.largest))

            def limited() -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            process = self.start(2, preexec_fn=limited)
            process.wait(600)
            if process.returncode in (101, -signal.SIGABRT):
                self.problems.append(f"{fault}: a panic with a limit of {limit} bytes")
        elif fault == "closed":
            reader, writer = os.pipe()
            os.close(reader)
            process = self.start(2, stdout=writer)
            os.close(writer)
            process.wait(600)
            if process.returncode not in DONE:
                self.problems.append(f"{fault}: exit code {process.returncode}")
        elif fault == "read-only":
            there = [word.replace("out/", "/proc/etendue/") for word in words(self.verb, 2)]
            done = call(there, self.folder)
            if done.returncode not in (1, 2) or b"/proc/etendue" not in done.stderr:
                self.problems.append(f"{fault}: exit code {done.returncode}: {done.stderr.decode().strip()[:200]}")
        elif fault == "twice":
            processes = [self.start(seed) for seed in (1, 2)]
            for process in processes:
                process.wait(600)
            if not any(process.returncode in DONE for process in processes):
                self.problems.append(f"{fault}: neither run succeeded")
        self.check(fault)
        # The next run
        done = call(words(self.verb, 1), self.folder)
        if done.returncode not in DONE or state(self.verb, self.folder) != self.reference[1]:
            self.problems.append(f"after {fault}: exit code {done.returncode}, or another result: {done.stderr.decode().strip()[:200]}")
        left = [str(file.relative_to(self.folder)) for file in (self.folder / "out").rglob("*") if is_temporary(file)]
        if left:
            self.problems.append(f"after {fault}: {left} are left")

    def pending(self) -> list[Path]:
        """Complete files that are not renamed."""
        return [
            Path(folder, file)
            for folder, _, files in os.walk(self.folder / "out")
            if folder.endswith(".done")
            for file in files
        ]

    def check(self, fault: str) -> None:
        """Compares the outputs with the old and the new ones."""
        # The files of a killed run are renamed by a process that goes on
        begun = time.monotonic()
        while self.pending() and time.monotonic() - begun < RENAMED:
            time.sleep(0.01)
        found = state(self.verb, self.folder)
        allowed = list(zip(self.reference[1], self.reference[2], strict=True))
        if self.verb.outputs and not all(output in choice for output, choice in zip(found, allowed, strict=True)):
            self.problems.append(f"{fault}: an output is neither old nor new")
        name = "old" if found == self.reference[1] else "new"
        if self.pending():
            name += ", pending"
        if self.verb.recording:
            content = (self.folder / self.verb.recording).read_bytes()
            name = next((f"seed {seed}" for seed, whole in self.recordings.items() if content == whole), "part")
            problem = recording_problem(self.verb, self.folder, self.recordings, 2)
            if problem and fault == "twice":
                problem = recording_problem(self.verb, self.folder, self.recordings, 1)
            if problem:
                self.problems.append(f"{fault}: {problem}")
        self.results[f"{fault}: {name}"] += 1


def main() -> int:
    """Runs the campaign and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--seconds", type=float, help="begin no round after this time")
    given = parser.parse_args()
    begun = time.monotonic()
    rounds = 0
    problems = 0
    work = tempfile.TemporaryDirectory(prefix="etendue-crash-")
    inputs = Path(work.name, "inputs")
    inputs.mkdir()
    verbs = [verb for verb in VERBS if given.only in verb.name]
    prepare(inputs, verbs)
    for verb in verbs:
        with tempfile.TemporaryDirectory(dir=work.name) as name:
            folder = Path(name)
            shutil.copytree(inputs, folder, dirs_exist_ok=True)
            campaign = Campaign(verb, folder, given.seed)
            for fault in given.faults.split(",") * given.rounds:
                if given.seconds and time.monotonic() - begun > given.seconds:
                    break
                campaign.round(fault)
                rounds += 1
        outcomes = ", ".join(f"{name} {count}" for name, count in sorted(campaign.results.items()))
        print(f"{verb.name}: {outcomes}", flush=True)
        for problem in campaign.problems:
            print(f"  PROBLEM {problem}", flush=True)
        problems += len(campaign.problems)
    work.cleanup()
    reader = "with" if NonSeekingReader else "without"
    print(f"{rounds} rounds in {time.monotonic() - begun:.0f} s, {problems} problems, {reader} the Python package mcap")
    return 1 if problems or not rounds else 0


if __name__ == "__main__":
    sys.exit(main())
