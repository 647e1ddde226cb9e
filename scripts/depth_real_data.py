#!/usr/bin/env python3
"""Convert the recordings to sequences for `etendue correct`: folders of KITTI scans, with poses.txt
if the recording has poses.

    pip install numpy dpkt
    python scripts/depth_real_data.py $ETENDUE_DATA OUT

os1        three frames of an Ouster OS1-128 in a street, with poses of KISS-ICP (origin_of_ouster_poses.py)
asl-room   two clouds of a tilting 2D laser indoors (libpointmatcher), without poses
asl-car    three clouds of a car's lidar (libpointmatcher), without poses
asl-car-2  the first two of them, with libpointmatcher's result for all points (examples/data/icp_data/defaultRemoveNaNDataPointsFilter.ref_trans)
fr079, intel, csail, orebro, seattle
           40 corrected scans each of a SICK LMS in a building (Radish), each repeated at seven heights
           within 0.3 m, so that walls in the scan plane become planes
"""

import pathlib
import sys

import numpy as np


def write(folder, scans, poses=None):
    folder.mkdir(parents=True, exist_ok=True)
    for number, points in enumerate(scans):
        four = np.concatenate([points, np.zeros((len(points), 1))], 1)
        four.astype("<f4").tofile(folder / f"scan{number:04}.bin")
    if poses is not None:
        np.savetxt(folder / "poses.txt", [p[:3].reshape(-1) for p in poses])


def os1(data, tools):
    sys.path.insert(0, str(tools))
    import ouster_rng15
    name = data / "ouster_sdk_samples/OS-1-128_v2.3.0_1024x10"
    frames = ouster_rng15.frames(f"{name}_lb_n3.pcap", f"{name}.json")
    # The poses are given for the sensor frame, which is rotated by 180 degrees relative to the lidar frame.
    scans = [f["xyz"][f["r"] > 0] * [-1, -1, 1] for _, f in frames]
    poses = np.loadtxt(f"{name}_lb_n3_poses_kitti.txt").reshape(-1, 3, 4)
    return scans[: len(poses)], poses


def vtk(path):
    lines = open(path).read().split("\n")
    count = int(lines[4].split()[1])
    return np.array(" ".join(lines[5:]).split()[: 3 * count], float).reshape(-1, 3)


def pose(translation, roll, pitch, yaw):
    """Matrix of a pose, from m and degrees."""
    (cr, cp, cy), (sr, sp, sy) = (f(np.radians([roll, pitch, yaw])) for f in (np.cos, np.sin))
    matrix = np.eye(4)
    matrix[:3, :3] = [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                      [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                      [-sp, cp * sr, cp * cr]]
    matrix[:3, 3] = translation
    return matrix


# Corrected logs of Radish
RADISH = {
    "fr079": "freiburg-079",
    "intel": "intel",
    "csail": "csail",
    "orebro": "orebro",
    "seattle": "seattle",
}


def radish(data, tools, name):
    sys.path.insert(0, str(tools))
    import parse_carmen
    log = data / f"radish_2d_slam/corrected_ple/{name}-corrected.log.gz"
    kept, last = [], None
    for scan in parse_carmen.scans(str(log)):
        here = np.array(scan["laser"][:2])
        if last is None or np.linalg.norm(here - last) > 0.5:
            kept.append(scan)
            last = here
    scans, poses = [], []
    for scan in kept[:40]:
        r = scan["ranges"]
        angle = scan["a0"] + scan["da"] * np.arange(len(r))
        use = (r > 0.3) & (r < 20)
        level = np.stack([r * np.cos(angle), r * np.sin(angle)], 1)[use]
        heights = np.linspace(-0.3, 0.3, 7)
        scans.append(np.concatenate([np.insert(level, 2, z, 1) for z in heights]))
        x, y, turn = scan["laser"]
        c, s = np.cos(turn), np.sin(turn)
        poses.append(np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0]]))
    return scans, poses


def main(data, out):
    data, out = pathlib.Path(data), pathlib.Path(out)
    tools = data / "tools"
    write(out / "os1", *os1(data, tools))
    asl = data / "libpointmatcher_asl"
    write(out / "asl-room", [vtk(asl / f"cloud_{i}.vtk") for i in range(2)])
    car = [vtk(asl / f"cloud.0000{i}.vtk") for i in range(3)]
    write(out / "asl-car", car)
    write(out / "asl-car-2", car[:2], [np.eye(4), pose([-0.104, -0.216, -0.052], 10.01, 5.06, 10.28)])
    for folder, name in RADISH.items():
        write(out / folder, *radish(data, tools, name))


if __name__ == "__main__":
    main(*sys.argv[1:3])
