#!/usr/bin/env python3
"""Errors of `etendue slam`, KISS-ICP and GICP of small_gicp between two simulated scans of a lidar at rest, whose poses are known.

    pip install kiss-icp==1.3.0 small_gicp==1.0.1 numpy scipy
    python scripts/pairs_beside_kiss_icp.py [--etendue PATH] [--sensor PRESET...] [--world NAME...] [--pairs N]

The second scan is 0.3 to 0.7 m ahead of the first, and its roll, pitch and yaw differ by normal draws with standard deviations of 0.3,
0.3 and 0.7 degrees, as those of a vehicle between two scans at 10 Hz. The first pose is drawn in a part of each world. Among shrubs,
which differ from pair to pair, the second scan is about 0.2 m beside the first and turned by 3 to 10 degrees about each axis. All
programs use points from 1 to 50 m and start from the pose of the first scan; GICP has voxels of 0.25 m and the package's defaults. The
small house and the hospital need ETENDUE_DATA.

Prints for each world and program the median and the largest error of the position (mm), of the rotation, and of roll and pitch
(degrees), the number of pairs that `slam` calls good with the largest error of their positions, and in how many pairs the position and
the rotation of `slam` are nearer to the truth. "Ground" is the median tilt that scripts/tilt_by_ground.py finds as the error of the true
pose (degrees).
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
SHRUBS = "shrubs"
SENSORS = "velodyne-hdl-32e", "velodyne-hdl-64e"


def simulated(program, scene, sensor, pose, seed, path):
    """Writes a scan from a pose (m, degrees: x, y, z, yaw, pitch, roll)."""
    text = ",".join(f"{value:.9f}" for value in pose)
    subprocess.run([program, "simulate", EXAMPLES / scene, "--sensor", sensor, f"--pose={text}", "--seed", str(seed), "--frame",
                    "sensor", "-q", "-o", path], check=True, capture_output=True)


def write_shrubs(draw, path):
    """Writes a scene of shrubs of 30 leaves of 5 to 30 cm each, on flat ground."""
    lines = ['version = 1', '[[objects]]', 'name = "ground"', 'shape.plane = { size_m = [120.0, 120.0] }', 'material = "asphalt"']
    for shrub in range(60):
        centre = np.append(draw.uniform(-20, 20, 2), 1.2)
        if np.hypot(*centre[:2]) < 3:
            continue
        for leaf in range(30):
            size = draw.uniform(0.05, 0.3, 3)
            middle = centre + draw.uniform(-1.2, 1.2, 3) + size / 2
            lines += ['[[objects]]', f'name = "leaf {shrub} {leaf}"', f"shape.box.size_m = {size.tolist()}",
                      f"position_m = {middle.tolist()}", 'material = "concrete"']
    path.write_text("\n".join(lines) + "\n")


def matrix(pose):
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("ZYX", pose[3:], degrees=True).as_matrix()
    found[:3, 3] = pose[:3]
    return found


def drawn_poses(world, draw):
    """Two poses in a world."""
    if world == SHRUBS:
        turn = draw.choice([-1, 1], 3) * draw.uniform(5, 10, 3) * [1, 0.6, 0.9]
        return [0, 0, 1.2, 0, 0, 0], [*draw.normal(0, 0.15, 2), draw.normal(1.2, 0.03), *turn]
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
    draw = np.random.default_rng([seed, 7])
    poses = drawn_poses(world, draw)
    truth = between([matrix(pose) for pose in poses])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if world == SHRUBS:
            scene = folder / "shrubs.toml"
            write_shrubs(draw, scene)
        else:
            scene = world[0]
        for number, pose in enumerate(poses):
            simulated(program, scene, sensor, pose, 2 * seed + number, folder / f"scan{number:04}.bin")
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
    parser.add_argument("--world", nargs="+")
    parser.add_argument("--pairs", type=int, default=20)
    arguments = parser.parse_args()
    worlds = {**WORLDS, **(WITH_DATA if os.environ.get("ETENDUE_DATA") else {}), SHRUBS: SHRUBS}
    worlds = {name: worlds[name] for name in arguments.world or worlds}
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
