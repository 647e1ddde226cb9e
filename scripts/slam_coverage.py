#!/usr/bin/env python3
"""Errors of `etendue slam` in its stated standard deviations, over simulated drives.

    python scripts/slam_coverage.py [--etendue PATH] [--seeds N] [--only WORLD]

Each world is driven through with every seed of the noise. Columns: counts of verdicts, mean position error, root mean
square over scans, axes and seeds of (position error / stated standard deviation), share of errors beyond three
standard deviations, and that of drives with such an error whose verdict is good. The worlds are those of the examples that need no
files besides the repository; with ETENDUE_DATA set, the small house and the hospital too.
"""

import argparse
import collections
import csv
import json
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
# Name: scene, sensor, start (x, y, z in m, yaw in degrees), speed (m/s), turn (degrees/s), seconds
WORLDS = {
    "patio": ("patio.toml", "velodyne-vlp-16", (0, 0, 0.6, 0), 0.1, 30, 2),
    "glass door": ("glass-door.toml", "velodyne-vlp-16", (0.3, 0.2, 0.6, 0), 0.1, 30, 2),
    "street": ("street.toml", "velodyne-vlp-16", None, 0, 0, 4),
}
WITH_DATA = {
    "house": ("small-house.toml", "velodyne-vlp-16", (0, 0, 0.5, 0), 0.4, 25, 3),
    "hospital": ("hospital.toml", "velodyne-vlp-16", (-4.82, 18.68, 0.4, -90), 1.2, -2, 4),
}


def trajectory(start, speed, turn, seconds):
    """TUM text and rows of a drive whose speed changes by 30 % with a period of 5 s."""
    x, y, z, yaw = start
    yaw, turn, step, rows = math.radians(yaw), math.radians(turn), 0.02, []
    for number in range(int((seconds + 0.3) / step)):
        time = number * step
        rows.append((time, x, y, z, 0, 0, math.sin(yaw / 2), math.cos(yaw / 2)))
        now = speed * (1 + 0.3 * math.sin(1.3 * time))
        x += now * math.cos(yaw) * step
        y += now * math.sin(yaw) * step
        yaw += turn * step
    return "".join(" ".join(f"{value:.9g}" for value in row) + "\n" for row in rows)


def ratios(folder, truth):
    """Errors of the positions in standard deviations, and errors (m), without the first scan."""
    estimate = np.loadtxt(folder / "trajectory.tum")
    rows = list(csv.DictReader((folder / "scans.csv").open()))
    sd = np.array([[float(row[f"sd_{axis}_m"]) for axis in "xyz"] for row in rows])
    reference = np.loadtxt(truth)
    at = [np.interp(estimate[:, 0], reference[:, 0], reference[:, 1 + axis]) for axis in range(3)]
    yaw = 2 * np.unwrap(np.arctan2(reference[:, 6], reference[:, 7]))
    yaw = np.interp(estimate[:1, 0], reference[:, 0], yaw)[0]
    turn = np.array([[math.cos(yaw), math.sin(yaw), 0], [-math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
    positions = (np.array(at).T - np.array(at).T[0]) @ turn.T
    errors = estimate[1:, 1:4] - estimate[0, 1:4] - positions[1:]
    return errors / sd[1:], np.linalg.norm(errors, axis=1)


def drive(program, world, seed, folder):
    """Verdict, ratios and errors of a simulated drive."""
    scene, sensor, start, speed, turn, seconds = world
    truth = EXAMPLES / "street.tum"
    if start is not None:
        truth = folder / "path.tum"
        truth.write_text(trajectory(start, speed, turn, seconds))
    run = folder / "run.mcap"
    simulate = [program, "simulate", EXAMPLES / scene, "--sensor", sensor, "--trajectory", truth, "--duration",
                str(seconds), "--frame", "sensor", "--seed", str(seed), "-q", "-o", run]
    subprocess.run(simulate, check=True, capture_output=True)
    # The poses of the recording are no part of the input: they are its reference only.
    subprocess.run([program, "slam", run, "-o", folder / "map", "--json"], capture_output=True)
    report = json.loads((folder / "map" / "report.json").read_text())
    return report["verdict"], *ratios(folder / "map", truth)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etendue", default="etendue")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    worlds = WORLDS | (WITH_DATA if "ETENDUE_DATA" in os.environ else {})
    for name, world in worlds.items():
        if arguments.only not in (None, name):
            continue
        verdicts, all_ratios, all_errors, misled = collections.Counter(), [], [], 0
        for seed in range(arguments.seeds):
            with tempfile.TemporaryDirectory() as folder:
                verdict, of_drive, errors = drive(arguments.etendue, world, seed, pathlib.Path(folder))
            verdicts[verdict] += 1
            all_ratios.append(of_drive)
            all_errors.append(errors)
            misled += verdict == "good" and np.abs(of_drive).max() > 3
        joined = np.concatenate(all_ratios)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        print(f"{name:12} {counts}: mean error {1e3 * np.concatenate(all_errors).mean():6.1f} mm, ratio "
              f"{np.sqrt((joined ** 2).mean()):.2f}, beyond three {100 * (np.abs(joined) > 3).mean():.1f} %, "
              f"good drives with one {misled}", flush=True)


if __name__ == "__main__":
    main()
