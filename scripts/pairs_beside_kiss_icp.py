#!/usr/bin/env python3
"""Errors of `etendue slam`, KISS-ICP and GICP of small_gicp between two simulated scans of a lidar at rest, whose poses are known.

    pip install kiss-icp==1.3.0 small_gicp==1.0.1 numpy scipy
    python scripts/pairs_beside_kiss_icp.py [--etendue PATH] [--sensor PRESET...] [--pairs N]

The second scan is 0.3 to 0.7 m ahead of the first, and its roll, pitch and yaw differ by normal draws with standard deviations of 0.3,
0.3 and 0.7 degrees, as those of a vehicle between two scans at 10 Hz. The first pose is drawn in a part of each world. All programs use
points from 1 to 50 m and start from the pose of the first scan; GICP has voxels of 0.25 m and the package's defaults. The small house and the
hospital need ETENDUE_DATA.

Prints for each world and program the median and the largest error of the position (mm), of the rotation, and of roll and pitch
(degrees), the number of pairs with the verdict good, and in how many pairs the position and the rotation of `slam` are nearer to the truth. "Ground" is the median tilt that scripts/tilt_by_ground.py finds as the
error of the true pose (degrees).
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import small_gicp
from scipy.spatial.transform import Rotation
from slam_beside_kiss_icp import etendue, kiss_icp, scans_of
from tilt_by_ground import tilt_error

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
# Name: scene, lowest and highest x, y (m) and yaw (degrees), height (m)
WORLDS = {
    "street": ("street.toml", (-25, 5), (-2, 1), (-10, 10), 1.8),
    "patio": ("patio.toml", (-0.3, 0.3), (-0.3, 0.3), (-180, 180), 0.8),
}
WITH_DATA = {
    "house": ("small-house.toml", (-0.5, 0.5), (-0.5, 0.5), (-180, 180), 0.8),
    "hospital": ("hospital.toml", (-4.9, -4.7), (14, 18.5), (-100, -80), 0.8),
}
SENSORS = "velodyne-hdl-32e", "velodyne-hdl-64e"


def simulated(program, scene, sensor, pose, seed, path):
    """Writes a scan from a pose (m, degrees: x, y, z, yaw, pitch, roll)."""
    text = ",".join(f"{value:.9f}" for value in pose)
    subprocess.run([program, "simulate", EXAMPLES / scene, "--sensor", sensor, f"--pose={text}", "--seed", str(seed), "--frame",
                    "sensor", "-q", "-o", path], check=True, capture_output=True)


def matrix(pose):
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("ZYX", pose[3:], degrees=True).as_matrix()
    found[:3, 3] = pose[:3]
    return found


def drawn_poses(world, draw):
    """Two poses in a world."""
    _, *limits, height = world
    x, y, yaw = (draw.uniform(*limit) for limit in limits)
    ahead = draw.uniform(0.3, 0.7)
    first = [x, y, height, yaw, *draw.normal(0, 0.5, 2)]
    turn = draw.normal(0, (0.7, 0.3, 0.3))
    along = np.radians(yaw)
    moved = [ahead * np.cos(along), ahead * np.sin(along), draw.normal(0, 0.01)]
    return first, [*(np.array(first[:3]) + moved), *(np.array(first[3:]) + turn)]


def errors(pose, truth):
    """Position (mm), rotation and tilt (degrees)."""
    turn = np.degrees(Rotation.from_matrix(pose[:3, :3] @ truth[:3, :3].T).as_rotvec())
    return 1e3 * np.linalg.norm(pose[:3, 3] - truth[:3, 3]), np.linalg.norm(turn), np.hypot(*turn[:2])


def gicp(scans):
    """Pose of the second scan in the first."""
    depths = [np.linalg.norm(scan, axis=1) for scan in scans]
    target, source = (scan[(depth > 1) & (depth < 50)] for scan, depth in zip(scans, depths))
    return small_gicp.align(target, source, registration_type="GICP", num_threads=1).T_target_source


def between(poses):
    """Pose of the second scan in the first."""
    return np.linalg.inv(poses[0]) @ poses[1]


def pair(program, world, sensor, seed):
    """Errors of each program in a pair of scans, the tilt (degrees) that the ground shows at the true pose, if it shows one, and whether
    `slam` calls its pose good."""
    poses = drawn_poses(world, np.random.default_rng([seed, 7]))
    truth = between([matrix(pose) for pose in poses])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, pose in enumerate(poses):
            simulated(program, world[0], sensor, pose, 2 * seed + number, folder / f"scan{number:04}.bin")
        scans = scans_of(folder)
        found, _, verdict = etendue(program, folder)
        found = {"etendue": between(found)}
    found |= {"KISS-ICP": between(kiss_icp(scans, 50.0)[0]), "GICP": gicp(scans)}
    ground = tilt_error(*scans, truth, 1.0)
    tilt = np.degrees(np.hypot(*ground[0][1:])) if ground else None
    return {name: errors(pose, truth) for name, pose in found.items()}, tilt, verdict == "good"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etendue", default="etendue")
    parser.add_argument("--sensor", nargs="+", default=SENSORS)
    parser.add_argument("--pairs", type=int, default=20)
    arguments = parser.parse_args()
    worlds = {**WORLDS, **(WITH_DATA if os.environ.get("ETENDUE_DATA") else {})}
    for sensor in arguments.sensor:
        for name, world in worlds.items():
            pairs = [pair(arguments.etendue, world, sensor, seed) for seed in range(arguments.pairs)]
            tilts = [tilt for _, tilt, _ in pairs if tilt is not None]
            good = np.array([good for *_, good in pairs])
            ground = f"{np.median(tilts):.3f} degrees in {len(tilts)}" if tilts else "not in both scans"
            print(f"{sensor}, {name}, {len(pairs)} pairs; ground: {ground}")
            by_program = {program: np.array([found[program] for found, *_ in pairs]) for program in pairs[0][0]}
            for program, found in by_program.items():
                middle, most = np.median(found, 0), found.max(0)
                nearer = (by_program["etendue"][:, :2] < found[:, :2]).sum(0)
                print(f"  {program:8} position {middle[0]:.1f} ({most[0]:.1f}) mm, rotation {middle[1]:.3f} ({most[1]:.3f}), "
                      f"tilt {middle[2]:.3f} ({most[2]:.3f}) degrees"
                      + (f"; {good.sum()} good, position {found[good, 0].max():.1f} mm at most" if program == "etendue"
                         else f"; slam is nearer in {nearer[0]} and {nearer[1]}"), flush=True)


if __name__ == "__main__":
    main()
