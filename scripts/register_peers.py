#!/usr/bin/env python3
"""Compares `etendue register` with the PyPI package small_gicp (1.0.1) on recorded clouds and scans: the error of
each method relative to the reference transform (if there is one), the closure of forward and backward registration,
and the difference between the two programs.

    pip install small_gicp==1.0.1 numpy
    python scripts/register_peers.py RECORDINGS ETENDUE [--pairs 12] [--repeats 7]

RECORDINGS is the folder of recordings (ETENDUE_DATA), ETENDUE the binary.

The last table has median times of N alternating runs with one thread and the same voxels: those that `etendue register` prints,
without its start and the reading of the files, and those of `small_gicp.align`. Both sides downsample, fit local planes and
register.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

import numpy as np
import small_gicp

PEERS = {"icp": "ICP", "point-to-plane": "PLANE_ICP", "gicp": "GICP"}
METHODS = ["icp", "point-to-plane", "gicp", "ndt"]


def ply(path):
    data = path.read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    points = np.frombuffer(data[start:], "<f4").reshape(-1, 4)[:, :3].astype(float)
    return points[np.linalg.norm(points, axis=1) > 0.5]


def vtk(path):
    words = path.read_text().split("POINTS ", 1)[1].split()
    count = int(words[0])
    return np.array(words[2 : 2 + 3 * count], float).reshape(-1, 3)


def scan(path, number):
    fields = path.read_text().splitlines()[number].split()[24:]
    ranges = np.array(fields, float) * 1e-3
    azimuth = (np.arange(len(ranges)) - 340) * 2 * np.pi / 1024
    seen = ranges >= 0.02
    x, y = ranges * np.cos(azimuth), ranges * np.sin(azimuth)
    return np.stack([x, y, np.zeros_like(x)], 1)[seen]


def peer(source, target, method, voxel, reach):
    found = small_gicp.align(
        target, source, registration_type=PEERS[method],
        downsampling_resolution=voxel, max_correspondence_distance=reach, num_threads=1,
    )
    return found.T_target_source


def ours(program, source, target, method, options):
    command = [program, "register", source, target, "--method", method, "--json", *options]
    # A doubtful registration has exit code 3.
    output = subprocess.run(command, capture_output=True, text=True).stdout
    return np.array(json.loads(output)["b_from_a_matrix"])


def pose_difference(a, b):
    d = np.linalg.inv(a) @ b
    turn = np.arccos(np.clip((np.trace(d[:3, :3]) - 1) / 2, -1, 1))
    return 1e3 * np.linalg.norm(d[:3, 3]), 1e3 * turn


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def pairs_of_clouds(data):
    pair = data / "small_gicp_pair"
    yield ("outdoor pair", pair / "source.ply", pair / "target.ply", ply,
           np.loadtxt(pair / "T_target_source.txt"), 0.25, 1.0, 2.0)
    asl = data / "libpointmatcher_asl"
    yield "car", asl / "cloud.00001.vtk", asl / "cloud.00000.vtk", vtk, None, 0.15, 1.0, 3.0
    yield "flat", asl / "cloud_1.vtk", asl / "cloud_0.vtk", vtk, None, 0.05, 1.0, 1.0


def clouds(data, program):
    row("clouds", "method", "error relative to the reference", "closure", "small_gicp: error",
        "closure", "difference")
    row(*["---"] * 7)
    for name, source, target, read, truth, voxel, reach, cell in pairs_of_clouds(data):
        a, b = read(source), read(target)
        options = ["--voxel", str(voxel), "--max-distance", str(reach), "--cell", str(cell)]
        for method in METHODS:
            there = ours(program, str(source), str(target), method, options)
            back = ours(program, str(target), str(source), method, options)
            cells = [difference_text(there, truth), difference_text(there @ back, np.eye(4))]
            if method in PEERS:
                other = peer(a, b, method, voxel, reach)
                gap = other @ peer(b, a, method, voxel, reach)
                cells += [
                    difference_text(other, truth),
                    difference_text(gap, np.eye(4)),
                    difference_text(there, other),
                ]
            else:
                cells += ["", "", ""]
            row(name, method, *cells)


def difference_text(a, b):
    if b is None:
        return "no reference"
    shift, turn = pose_difference(a, b)
    return f"{shift:.1f} mm, {turn:.1f} mrad"


def scans(data, program, count):
    log = data / "urg04lx_tinyslam" / "exp1.dat"
    numbers = np.linspace(20, 600, count).astype(int)
    gaps, ours_at = {}, {}
    for method in METHODS:
        gaps[method], ours_at[method] = [], []
        for n in numbers:
            there = ours(program, f"{log}#{n + 1}", f"{log}#{n}", method, [])
            back = ours(program, f"{log}#{n}", f"{log}#{n + 1}", method, [])
            gaps[method].append(pose_difference(there @ back, np.eye(4)))
            ours_at[method].append(there)
    print(f"\n{count} pairs of consecutive scans of exp1.dat, medians (worst)\n")
    row("method", "closure, mm", "mrad", *[f"mm from {m}" for m in METHODS])
    row(*["---"] * (3 + len(METHODS)))
    for method in METHODS:
        parts = [f"{statistics.median(x):.1f} ({max(x):.1f})" for x in zip(*gaps[method])]
        apart = [
            f"{statistics.median(pose_difference(a, b)[0] for a, b in zip(ours_at[method], ours_at[other])):.1f}"
            for other in METHODS
        ]
        row(method, *parts, *apart)
    for method in PEERS:
        closed = []
        for n in numbers:
            a, b = scan(log, n + 1), scan(log, n)
            there, back = peer(a, b, method, 0.01, 0.5), peer(b, a, method, 0.01, 0.5)
            closed.append(pose_difference(there @ back, np.eye(4)))
        parts = [f"{statistics.median(x):.1f} ({max(x):.1f})" for x in zip(*closed)]
        row(f"small_gicp {method}", *parts, *[""] * len(METHODS))


def times(data, program, repeats):
    os.environ["RAYON_NUM_THREADS"] = "1"
    print(f"\nMedian time of {repeats} alternating runs, one thread, ms\n")
    row("clouds", "method", "etendue", "small_gicp")
    row(*["---"] * 4)
    for name, source, target, read, _, voxel, reach, _ in pairs_of_clouds(data):
        a, b = read(source), read(target)
        options = ["--voxel", str(voxel), "--max-distance", str(reach)]
        for method in PEERS:
            both = ([], [])
            for _ in range(repeats):
                both[0].append(printed_seconds(program, str(source), str(target), method, options))
                both[1].append(seconds(lambda: peer(a, b, method, voxel, reach)))
            row(name, method, *[f"{1e3 * statistics.median(t):.1f}" for t in both])


def printed_seconds(program, source, target, method, options):
    command = [program, "register", source, target, "--method", method, *options]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    return 1e-3 * float(re.search(r"^ +([\d.]+) ms$", output, re.MULTILINE)[1])


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", type=pathlib.Path)
    parser.add_argument("etendue")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    clouds(arguments.recordings, arguments.etendue)
    scans(arguments.recordings, arguments.etendue, arguments.pairs)
    times(arguments.recordings, arguments.etendue, arguments.repeats)


if __name__ == "__main__":
    main()
