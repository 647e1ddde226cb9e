#!/usr/bin/env python3
"""`etendue slam` and the PyPI package kiss-icp (1.3.0) on the same sequences, run alternately.

    pip install kiss-icp==1.3.0 numpy scipy
    python scripts/slam_beside_kiss_icp.py SEQUENCE... [--etendue PATH] [--repeats N] [--max-range M] [--warm]

A sequence is a folder of KITTI scans, with poses.txt if it has a reference (scripts/depth_real_data.py,
`etendue experiment corridor --export`). The points have no times, and neither side deskews. Both use one
thread and depths from 1 m to MAX_RANGE; the other settings are the defaults. Without a reference the two
trajectories are compared with each other.

Each repeat of both sides is a new process. Times are from the points in memory to the pose of a scan: reading of files, and
the start of Python, are not in them. With --warm each process maps the sequence once without measurement and five times with it, so
that the first scans find memory and threads of earlier ones; that of etendue is the benchmark
crates/etendue-estimate/benches/odometry.rs, which cargo compiles. A repeat is then the median of the five.

Columns: mean position error with the first poses aligned, error of the last position, largest rotation
error, median distance of the points of a scan from the planes of the scan before (which needs no
reference), median time per scan over the repeats.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.spatial import cKDTree


def scans_of(folder):
    files = sorted(folder.glob("*.bin"))
    return [np.fromfile(file, "<f4").reshape(-1, 4)[:, :3].astype(float) for file in files]


def poses_of(path):
    rows = np.loadtxt(path).reshape(-1, 3, 4)
    return [np.vstack([row, [0, 0, 0, 1]]) for row in rows]


def etendue(program, folder):
    """Poses, seconds per scan and verdict of `etendue slam`."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "slam", folder, "-o", out]
        environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
        printed = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
        milliseconds = float(re.search(r"([\d.]+) ms per scan", printed)[1])
        report = json.loads((pathlib.Path(out) / "report.json").read_text())
        poses = poses_of(pathlib.Path(out) / "trajectory_kitti.txt")
    return poses, milliseconds * 1e-3, report["verdict"]


def kiss_icp(scans, max_range):
    """Poses and median seconds per scan of KISS-ICP."""
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP
    config = KISSConfig()
    config.data.deskew = False
    config.data.min_range = 1.0
    config.data.max_range = max_range
    config.registration.max_num_threads = 1
    config.mapping.voxel_size = max_range / 100.0
    odometry = KissICP(config)
    poses, seconds = [], []
    for scan in scans:
        start = time.perf_counter()
        odometry.register_frame(scan, np.array([]))
        seconds.append(time.perf_counter() - start)
        poses.append(odometry.last_pose.copy())
    return poses, statistics.median(seconds)


def etendue_warm(folder):
    """Median seconds per scan of `Mapper` in a process that has mapped the sequence before."""
    command = ["cargo", "bench", "--quiet", "-p", "etendue-estimate", "--bench", "odometry", "--", "5", folder.resolve()]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    repository = pathlib.Path(__file__).parent.parent
    printed = subprocess.run(command, env=environment, cwd=repository, capture_output=True, text=True, check=True).stdout
    return 1e-3 * float(printed)


def kiss_icp_apart(folder, max_range, warm):
    """Poses and median seconds per scan of KISS-ICP in a new process."""
    command = [sys.executable, __file__, folder, "--max-range", str(max_range), "--kiss-icp-only"]
    printed = subprocess.run(command + ["--warm"] * warm, capture_output=True, text=True, check=True).stdout
    found = json.loads(printed)
    return [np.array(pose) for pose in found["poses"]], found["seconds"]


def errors(reference, estimate):
    """Mean and last position error (m), and largest rotation error (degrees), from the first pose."""
    from_first = [[np.linalg.inv(poses[0]) @ pose for pose in poses] for poses in (reference, estimate)]
    between = [np.linalg.inv(a) @ b for a, b in zip(*from_first)]
    lengths = [np.linalg.norm(b[:3, 3]) for b in between]
    turns = [np.degrees(np.arccos(np.clip((np.trace(b[:3, :3]) - 1) / 2, -1, 1))) for b in between]
    return np.mean(lengths), lengths[-1], max(turns)


def plane_distance(scans, poses):
    """Median distance of every 7th point of each scan from the plane of its 8 nearest points of the scan
    before, m; of points within 1 m of flat neighbourhoods."""
    distances = []
    for number in range(1, len(scans)):
        motion = np.linalg.inv(poses[number - 1]) @ poses[number]
        points = scans[number][::7] @ motion[:3, :3].T + motion[:3, 3]
        before = scans[number - 1]
        near = before[cKDTree(before).query(points, k=8)[1]]
        centre = near.mean(1)
        spread = near - centre[:, None]
        values, vectors = np.linalg.eigh(np.einsum("nki,nkj->nij", spread, spread))
        use = (values[:, 0] < 0.05 * values[:, 1]) & (np.linalg.norm(points - near[:, 0], axis=1) < 1)
        off = np.abs(((points - centre) * vectors[:, :, 0]).sum(1))
        distances.append(np.median(off[use]))
    return np.median(distances)


def row(name, values, distance, seconds=None, remark=""):
    mean, last, turn = values
    time_per_scan = f", {1e3 * statistics.median(seconds):6.1f} ms per scan" if seconds else ""
    print(f"  {name:9} mean {1e3 * mean:7.1f} mm, last {1e3 * last:7.1f} mm, {turn:6.3f} degrees, "
          f"planes {1e3 * distance:5.1f} mm{time_per_scan}{remark}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sequences", nargs="+", type=pathlib.Path)
    parser.add_argument("--etendue", default="etendue")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--max-range", type=float, default=50.0)
    parser.add_argument("--warm", action="store_true", help="times in processes that have run before")
    parser.add_argument("--kiss-icp-only", action="store_true", help="print poses and times of KISS-ICP as JSON")
    arguments = parser.parse_args()
    if arguments.kiss_icp_only:
        scans = scans_of(arguments.sequences[0])
        poses, seconds = kiss_icp(scans, arguments.max_range)
        if arguments.warm:
            seconds = statistics.median(kiss_icp(scans, arguments.max_range)[1] for _ in range(5))
        print(json.dumps({"poses": [pose.tolist() for pose in poses], "seconds": seconds}))
        return
    for folder in arguments.sequences:
        scans = scans_of(folder)
        reference = folder / "poses.txt"
        seconds = ([], [])
        for _ in range(arguments.repeats):
            ours, time_ours, verdict = etendue(arguments.etendue, folder)
            if arguments.warm:
                time_ours = etendue_warm(folder)
            theirs, time_theirs = kiss_icp_apart(folder, arguments.max_range, arguments.warm)
            seconds[0].append(time_ours)
            seconds[1].append(time_theirs)
        truth = poses_of(reference) if reference.exists() else theirs
        path = sum(np.linalg.norm(b[:3, 3] - a[:3, 3]) for a, b in zip(truth, truth[1:]))
        base = "the reference" if reference.exists() else "kiss-icp"
        print(f"{folder.name}: {len(scans)} scans, {path:.2f} m, errors from {base}")
        row("etendue", errors(truth, ours), plane_distance(scans, ours), seconds[0], f", {verdict}")
        row("kiss-icp", errors(truth, theirs), plane_distance(scans, theirs), seconds[1])
        if reference.exists():
            row("reference", errors(truth, truth), plane_distance(scans, truth))


if __name__ == "__main__":
    main()
