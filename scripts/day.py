#!/usr/bin/env python3
"""A day of streaming in minutes: the sweeps, frames and messages of 24 hours at 10 Hz, and the memory meanwhile.

    python3 scripts/day.py                     # 864,000 sweeps, frames and fixes
    python3 scripts/day.py --count 20000       # another number
    python3 scripts/day.py --only simulate

The scene is one wall; the sensors have a few beams, pixels or none, so that a day takes minutes. The largest resident memory is
printed at ten points of the recording. It may grow by the index of a recording only: about 300 bytes for each chunk of 64 KiB. The program
is target/debug/etendue unless ETENDUE names another. Needs Linux and CPython 3.10 or later.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue")).resolve()

SCENE = """version = 1
[materials.wall]
diffuse = { reflectance = 0.5 }
[[objects]]
name = "wall"
material = "wall"
shape.box = { size_m = [1, 2, 2] }
position_m = [2, 0, 0]
"""
ROBOT = """version = 1
name = "day"
scene = "wall.toml"
motion.circle = {{ radius_m = 0.2, speed_mps = 0.1 }}
duration_s = {seconds}
[place]
latitude_deg = 48
longitude_deg = 11
height_m = 500
[[sensors]]
name = "gnss"
rate_hz = 10
device.gnss = {{ preset = "ublox-neo-m8n" }}
"""
# Growth that the index of a recording explains (measured: 11 bytes for each sweep, 5 for each frame), and other growth, MiB.
INDEX_BYTES = 15
OTHER_GROWTH = 16


def resident(pid: int) -> float | None:
    """Resident memory of a process, MiB; None after its end."""
    try:
        match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(match[1]) / 1024 if match else None


def watch(name: str, words: list[str], folder: Path, outputs: list[str], count: int) -> bool:
    """Runs a command and prints its memory over the size of its output."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [PROGRAM, "-q", *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    points = []
    while process.poll() is None:
        size = sum((folder / output).stat().st_size for output in outputs if (folder / output).exists())
        memory = resident(process.pid)
        if memory is not None:
            points.append((time.monotonic() - begun, size / 2**20, memory))
        time.sleep(0.2)
    error = process.stderr.read()
    if process.returncode != 0:
        print(f"{name}: exit code {process.returncode}: {error.strip()}")
        return False
    # Ten points, the first after a tenth of the time
    chosen = [points[(len(points) - 1) * tenth // 10] for tenth in range(1, 11)]
    rows = ", ".join(f"{memory:.0f}" for _, _, memory in chosen)
    growth = chosen[-1][2] - chosen[0][2]
    allowed = OTHER_GROWTH + count * INDEX_BYTES / 2**20
    verdict = "" if growth <= allowed else f": PROBLEM, {allowed:.0f} allowed"
    print(f"{name}: {count} in {points[-1][0]:.0f} s, {chosen[-1][1]:.0f} MiB written, resident MiB at each tenth: {rows}, "
          f"growth {growth:.1f} MiB ({growth * 2**20 / count:.0f} bytes each){verdict}", flush=True)
    return growth <= allowed


def main() -> int:
    """Runs a day of every streaming command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=864_000)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    count = str(given.count)
    with tempfile.TemporaryDirectory(prefix="etendue-day-") as name:
        folder = Path(name)
        (folder / "wall.toml").write_text(SCENE)
        (folder / "robot.toml").write_text(ROBOT.format(seconds=given.count / 10))
        presets = ROOT / "crates/etendue-config"
        camera = (presets / "cameras/ideal.toml").read_text()
        (folder / "camera.toml").write_text(re.sub(r"^resolution_px = .*$", "resolution_px = [2, 2]", camera, flags=re.M))
        # Four beams of one ray in a sweep of 0.1 s
        lidar = (presets / "sensors/slamtec-rplidar-c1.toml").read_text()
        lidar = lidar.replace("period_us = 200\n", "period_us = 25_000\n").replace("sub_ray_rings = 2\n", "sub_ray_rings = 0\n")
        (folder / "lidar.toml").write_text(lidar)
        pose = ["--pose", "0,0,0,0"]
        commands = [
            ("simulate", ["simulate", "wall.toml", "--sensor", "lidar.toml", *pose, "--sweeps", count, "-o", "day.mcap"], ["day.mcap"]),
            ("run", ["run", "robot.toml", "-o", "run.mcap", "--nmea", "run.nmea"], ["run.mcap"]),
            ("render", ["render", "wall.toml", "--camera", "camera.toml", *pose, "--samples", "1", "--frames", count,
                        "-o", "frames.mcap"], ["frames.mcap"]),
        ]
        results = []
        for verb, words, outputs in commands:
            if given.only in verb:
                results.append(watch(verb, words, folder, outputs, given.count))
                for output in folder.glob("*.mcap"):
                    output.unlink()
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
