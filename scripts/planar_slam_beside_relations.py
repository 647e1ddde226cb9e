#!/usr/bin/env python3
"""Errors of `etendue slam` on logs of planar lidars, relative to motions that were checked by hand.

    pip install numpy
    python scripts/planar_slam_beside_relations.py LOG RELATIONS [--etendue PATH] [--prior poses]

LOG is a CARMEN log with the odometry of its scans, RELATIONS a file of relations of the benchmark of Kuemmerle et al.
(2009, doi:10.1007/s10514-009-9155-6): lines with two times, and the motion between the poses at these times (x, y, z, roll,
pitch, yaw). Both are compressed with bzip2 or not.

Printed are the errors of the motions between scans that are at most 50 scans apart, of the odometry and of `slam`:
median, mean and 95th percentile of the translation, and the mean of the rotation. Relations at longer times are those of loop
closures, which neither has.
"""

import argparse
import bz2
import pathlib
import re
import subprocess
import tempfile

import numpy as np

FARTHEST = 50


def lines_of(path):
    text = bz2.open(path, "rt") if path.suffix == ".bz2" else open(path)
    with text:
        return text.read().splitlines()


def odometry(log):
    """Times and poses (x, y, yaw) of the scans."""
    times, poses = [], []
    for line in lines_of(log):
        if line.startswith("FLASER "):
            words = line.split()
            after = 2 + int(words[1])
            times.append(float(words[after + 6]))
            poses.append([float(word) for word in words[after:after + 3]])
    return np.array(times), np.array(poses)


def mapped(program, log, prior):
    """Poses (x, y, yaw), and the verdict with the time per scan."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "slam", log, "-o", out, "--prior", prior]
        printed = subprocess.run(command, capture_output=True, text=True)
        if printed.returncode not in (0, 3, 4):
            raise SystemExit(printed.stderr)
        rows = np.loadtxt(pathlib.Path(out) / "trajectory.tum")
    yaw = 2 * np.arctan2(rows[:, 6], rows[:, 7])
    verdict = {0: "good", 3: "doubtful", 4: "failed"}[printed.returncode]
    milliseconds = re.search(r"([\d.]+) ms per scan", printed.stdout)[1]
    return np.column_stack([rows[:, 1:3], yaw]), f"{verdict}, {milliseconds} ms per scan"


def motion(a, b):
    """Poses b in the frames of the poses a."""
    cos, sin = np.cos(a[:, 2]), np.sin(a[:, 2])
    x, y = (b - a)[:, :2].T
    return np.column_stack([cos * x + sin * y, cos * y - sin * x, b[:, 2] - a[:, 2]])


def relations(path, times):
    """Numbers of the scans and motions of the relations between scans that are near each other."""
    rows = np.loadtxt(lines_of(path))
    scans = np.abs(rows[:, :2, None] - times).argmin(2)
    apart = np.abs(times[scans] - rows[:, :2]).max(1)
    use = (apart < 0.01) & (np.abs(scans[:, 1] - scans[:, 0]) <= FARTHEST)
    return scans[use], rows[use][:, [2, 3, 7]]


def row(name, poses, scans, truth, remark=""):
    error = motion(poses[scans[:, 0]], poses[scans[:, 1]]) - truth
    length = 1e3 * np.hypot(error[:, 0], error[:, 1])
    turn = np.degrees(np.abs((error[:, 2] + np.pi) % (2 * np.pi) - np.pi))
    print(f"  {name:9} {np.median(length):5.0f} {length.mean():5.0f} {np.percentile(length, 95):5.0f} mm, "
          f"{turn.mean():.2f} degrees{remark}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("relations", type=pathlib.Path)
    parser.add_argument("--etendue", default="etendue")
    parser.add_argument("--prior", default="motion")
    arguments = parser.parse_args()
    times, poses = odometry(arguments.log)
    scans, truth = relations(arguments.relations, times)
    found, remark = mapped(arguments.etendue, arguments.log, arguments.prior)
    print(f"{arguments.log.name}: {len(times)} scans, {len(scans)} relations; median, mean, 95th percentile, rotation")
    row("odometry", poses, scans, truth)
    row("slam", found, scans, truth, f" ({remark})")


if __name__ == "__main__":
    main()
