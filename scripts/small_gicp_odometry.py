#!/usr/bin/env python3
"""Odometry by the PyPI package small_gicp (1.0.1) on a sequence of `etendue slam`: GICP to a
voxel map, each scan initialised by the last motion or by the motion of the reference.

    pip install small_gicp==1.0.1 numpy
    python scripts/small_gicp_odometry.py SEQUENCE [--prior poses] [--threads N]
"""

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np
import small_gicp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sequence")
    parser.add_argument("--prior", choices=["motion", "poses"], default="motion")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.sequence)
    truth = np.loadtxt(folder / "poses.txt").reshape(-1, 3, 4)
    truth = [np.vstack([p, [0, 0, 0, 1]]) for p in truth]
    voxels, poses, times = small_gicp.GaussianVoxelMap(0.5), [], []
    for number, file in enumerate(sorted(folder.glob("scan*.bin"))):
        points = np.fromfile(file, "<f4").reshape(-1, 4)[:, :3].astype(float)
        points = points[np.linalg.norm(points, axis=1) > 1]
        start = time.perf_counter()
        cloud, _ = small_gicp.preprocess_points(points, 0.25, num_threads=arguments.threads)
        if number == 0:
            pose = truth[0]
        else:
            if arguments.prior == "poses":
                motion = np.linalg.inv(truth[number - 1]) @ truth[number]
            elif number > 1:
                motion = np.linalg.inv(poses[-2]) @ poses[-1]
            else:
                motion = np.eye(4)
            found = small_gicp.align(voxels, cloud, poses[-1] @ motion,
                                     num_threads=arguments.threads)
            pose = found.T_target_source
        voxels.insert(cloud, pose)
        poses.append(pose)
        times.append(time.perf_counter() - start)
    errors = [np.linalg.norm((p - t)[:3, 3]) for p, t in zip(poses, truth)]
    turns = [np.degrees(np.arccos(np.clip((np.trace(p[:3, :3].T @ t[:3, :3]) - 1) / 2, -1, 1)))
             for p, t in zip(poses, truth)]
    print(f"mean error {1e3 * np.mean(errors):.1f} mm and {np.mean(turns):.3f} degrees, "
          f"{1e3 * statistics.median(times):.1f} ms per scan", file=sys.stderr)


if __name__ == "__main__":
    main()
