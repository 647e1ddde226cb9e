#!/usr/bin/env python3
"""The motion between the first two clouds of libpointmatcher's "car" by independent libraries, beside `etendue slam`, KISS-ICP and the
published results of libpointmatcher.

    pip install kiss-icp==1.3.0 small_gicp==1.0.1 open3d==0.20.0 numpy scipy
    python scripts/depth_real_data.py $ETENDUE_DATA real
    python scripts/car_beside_referees.py real/asl-car-2 [--etendue PATH]

Referees are generalised ICP of small_gicp and of Open3D, and point-to-plane ICP of Open3D with the loss of Tukey (0.1 m). Each registers
from the pose of etendue, that of KISS-ICP and the most distant published one, and from a pose beside each (0.2 m and 2 degrees), with pairs
within 0.25, 0.5 and 1 m, at full resolution and with voxels of 0.1 and 0.25 m, and with all points and two random halves of them. A run that ends more than 1 m from all poses is left out, and counted.

Prints for each referee the median position and its robust standard deviations, its rotation from libpointmatcher's result with all
points by setting (about x, y and z of the first cloud, degrees), and for each pose its difference from the median of every referee: along
x, y and z, its length (mm), its angle and its rotations about x, y and z (degrees).
"""

import argparse
import itertools
import pathlib

import numpy as np
import open3d
import small_gicp
from scipy.spatial.transform import Rotation
from slam_beside_kiss_icp import etendue, kiss_icp, scans_of

# Results of libpointmatcher's tests (examples/data/icp_data/*.ref_trans): m, and roll, pitch and yaw in degrees
PUBLISHED = {
    "default": ([-0.104, -0.216, -0.052], [10.01, 5.06, 10.28]),
    "MaxPointCount": ([-0.101, -0.217, -0.052], [9.99, 5.04, 10.29]),
    "MaxQuantileOnAxis": ([-0.077, -0.217, -0.049], [10.01, 4.89, 10.16]),
    "RandomSampling": ([-0.086, -0.216, -0.051], [9.98, 4.93, 10.13]),
    "FixStepSampling": ([-0.097, -0.209, -0.047], [10.03, 5.30, 10.26]),
    "RobustWelsch": ([-0.134, -0.238, -0.061], [9.94, 5.20, 10.28]),
    "MaxDensity": ([-0.172, -0.208, -0.167], [10.01, 5.07, 10.36]),
}
REACHES, VOXELS, HALVES = (0.25, 0.5, 1.0), (0.0, 0.1, 0.25), 2


def matrix(translation, rotation):
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation.as_matrix(), translation
    return found


def cloud_of(points, voxel):
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    cloud = cloud.voxel_down_sample(voxel) if voxel else cloud
    cloud.estimate_normals(open3d.geometry.KDTreeSearchParamKNN(20))
    return cloud


def open3d_icp(estimation, function):
    criteria = open3d.pipelines.registration.ICPConvergenceCriteria(1e-6, 1e-6, 50)

    def prepared(target, source, voxel):
        clouds = cloud_of(target, voxel), cloud_of(source, voxel)
        return lambda start, reach: function(clouds[1], clouds[0], reach, start, estimation, criteria).transformation
    return prepared


def small_gicp_gicp(target, source, voxel):
    voxel = voxel or 1e-3
    (target, tree), (source, _) = (small_gicp.preprocess_points(points, voxel, 20, num_threads=1) for points in (target, source))

    def register(start, reach):
        return small_gicp.align(target, source, tree, start, "GICP", reach, 1, 50, 1e-5, 1e-4).T_target_source
    return register


def referees():
    registration = open3d.pipelines.registration
    plane = registration.TransformationEstimationPointToPlane(registration.TukeyLoss(0.1))
    gicp = registration.TransformationEstimationForGeneralizedICP()
    return {
        "small_gicp GICP": small_gicp_gicp,
        "Open3D plane": open3d_icp(plane, registration.registration_icp),
        "Open3D GICP": open3d_icp(gicp, registration.registration_generalized_icp),
    }


def difference(pose, other):
    """Position (mm) and rotation vector (degrees) of a pose relative to another, axes of the first cloud."""
    turn = Rotation.from_matrix(pose[:3, :3]) * Rotation.from_matrix(other[:3, :3]).inv()
    return 1e3 * (pose[:3, 3] - other[:3, 3]), np.degrees(turn.as_rotvec())


def median_pose(poses):
    turn = Rotation.from_matrix([pose[:3, :3] for pose in poses]).mean()
    return matrix(np.median([pose[:3, 3] for pose in poses], 0), turn)


def halves(points, seed):
    return points[np.random.default_rng(seed).permutation(len(points))[: len(points) // 2]] if seed else points


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sequence", type=pathlib.Path)
    parser.add_argument("--etendue", default="etendue")
    arguments = parser.parse_args()
    # Poses of the second cloud in the first
    scans = scans_of(arguments.sequence)[:2]
    ours, _, _ = etendue(arguments.etendue, arguments.sequence)
    theirs, _ = kiss_icp(scans, 50.0)
    poses = {"etendue": np.linalg.inv(ours[0]) @ ours[1], "KISS-ICP": np.linalg.inv(theirs[0]) @ theirs[1]}
    for name, (translation, angles) in PUBLISHED.items():
        poses[f"libpointmatcher {name}"] = matrix(translation, Rotation.from_euler("xyz", angles, degrees=True))
    # Poses from which the clouds are registered
    draw = np.random.default_rng(1)
    chosen = [poses[name] for name in ("etendue", "KISS-ICP", "libpointmatcher MaxDensity")]
    beside = [pose @ matrix(draw.normal(0, 0.2, 3), Rotation.from_rotvec(np.radians(draw.normal(0, 2, 3)))) for pose in chosen]
    starts = chosen + beside
    # Register the clouds with each referee
    usable = [scan[(np.linalg.norm(scan, axis=1) > 1) & (np.linalg.norm(scan, axis=1) < 50)] for scan in scans]
    for referee, prepared in referees().items():
        found, lost, by_setting = [], 0, {}
        for voxel, seed in itertools.product(VOXELS, range(HALVES + 1)):
            register = prepared(halves(usable[0], seed), halves(usable[1], 100 * seed), voxel)
            for reach, start in itertools.product(REACHES, starts):
                pose = np.array(register(start, reach))
                if min(np.linalg.norm(difference(pose, other)[0]) for other in poses.values()) > 1000:
                    lost += 1
                    continue
                found.append(pose)
                by_setting.setdefault((voxel, reach), []).append(pose)
        middle = median_pose(found)
        spread = 1.4826e3 * np.median(np.abs([pose[:3, 3] - middle[:3, 3] for pose in found]), 0)
        print(f"{referee}: {len(found)} runs, {lost} left out, median {np.round(1e3 * middle[:3, 3])} mm, spread {np.round(spread)} mm")
        medians = {setting: median_pose(of_setting) for setting, of_setting in by_setting.items()}
        for (voxel, reach), pose in medians.items():
            turn = difference(pose, poses["libpointmatcher default"])[1]
            print(f"    voxels {voxel:4} m, pairs within {reach} m: {np.round(1e3 * pose[:3, 3])} mm, {np.round(turn, 2)} degrees")
        for name, pose in poses.items():
            offset, turn = difference(pose, middle)
            print(f"  {name:33} {np.round(offset)} mm: {np.linalg.norm(offset):4.0f} mm, {np.linalg.norm(turn):.2f} degrees: "
                  f"{np.round(turn, 2)}", flush=True)


if __name__ == "__main__":
    main()
