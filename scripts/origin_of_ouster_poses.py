#!/usr/bin/env python3
"""Compares the poses that come with the capture OS-1-128_v2.3.0_1024x10_lb_n3 of the Ouster SDK with those of the PyPI
package kiss-icp 0.4.0, which `ouster-cli ... slam` runs: with the default settings of kiss-icp and deskewing, with
other voxels, and without deskewing.

    pip install ouster-sdk==0.12.0
    python scripts/origin_of_ouster_poses.py $ETENDUE_DATA
"""

import pathlib
import sys

import numpy as np
import ouster.sdk.client as client
from kiss_icp.config import KISSConfig
from kiss_icp.kiss_icp import KissICP
from ouster.sdk import open_source

NAME = "ouster_sdk_samples/OS-1-128_v2.3.0_1024x10"


def scans_of(name):
    """Points of each scan (m, sensor frame), and the times of the points as a part of the scan."""
    source = open_source(f"{name}_lb_n3.pcap", meta=(f"{name}.json",))
    directions = client.XYZLut(source.metadata)
    for scan in source:
        ranges = scan.field(client.ChanField.RANGE)
        times = np.tile(np.linspace(0, 1, scan.w, endpoint=False), (scan.h, 1))
        yield directions(ranges)[ranges != 0], times[ranges != 0]


def trajectory(scans, voxel, deskew):
    """Poses of KISS-ICP, relative to the first."""
    config = KISSConfig()
    config.data.deskew = deskew
    config.mapping.voxel_size = voxel
    odometry = KissICP(config)
    poses = []
    for points, times in scans:
        odometry.register_frame(points, times)
        poses.append(odometry.poses[-1].copy())
    return np.linalg.inv(poses[0]) @ np.array(poses)


def main():
    name = pathlib.Path(sys.argv[1]) / NAME
    given = np.loadtxt(f"{name}_lb_n3_poses_kitti.txt").reshape(-1, 3, 4)
    scans = list(scans_of(name))
    settings = [(voxel, True) for voxel in (0.9, 0.95, 1.0, 1.05, 1.1)] + [(1.0, False)]
    for voxel, deskew in settings:
        offsets = np.linalg.norm(trajectory(scans, voxel, deskew)[:, :3, 3] - given[:, :, 3], axis=1)
        shown = ", ".join(f"{1e3 * offset:.3g}" for offset in offsets[1:])
        print(f"voxels of {voxel} m, {'deskewed' if deskew else 'not deskewed'}: {shown} mm")


if __name__ == "__main__":
    main()
