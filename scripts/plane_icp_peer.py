#!/usr/bin/env python3
"""Cost function of PLANE_ICP of small_gicp: on the outdoor pair, Gauss-Newton in NumPy with the
distance to the plane, sum (n . r)^2, and with the product of normal and offset component by
component, sum (n_x r_x)^2 + (n_y r_y)^2 + (n_z r_z)^2. Prints the difference of each from the
reference transform and from small_gicp.

    pip install small_gicp==1.0.1 numpy scipy
    python scripts/plane_icp_peer.py RECORDINGS
"""

import pathlib
import sys

import numpy as np
import small_gicp
from register_peers import ply
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

VOXEL, REACH, NEIGHBOURS = 0.25, 1.0, 10


def thinned(points):
    cells = np.floor(points / VOXEL).astype(np.int64)
    of_point = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    count = np.bincount(of_point)
    return np.stack([np.bincount(of_point, points[:, k]) / count for k in range(3)], 1)


def normals(points):
    near = cKDTree(points).query(points, NEIGHBOURS)[1]
    return np.array([np.linalg.eigh(np.cov(points[own].T))[1][:, 0] for own in near])


def skew(v):
    zero = np.zeros(len(v))
    rows = [[zero, -v[:, 2], v[:, 1]], [v[:, 2], zero, -v[:, 0]], [-v[:, 1], v[:, 0], zero]]
    return np.stack([np.stack(row, 1) for row in rows], 1)


def registered(source, target, normal, by_component, step, turn):
    tree, rotation, shift = cKDTree(target), np.eye(3), np.zeros(3)
    for _ in range(200):
        moved = source @ rotation.T + shift
        distance, nearest = tree.query(moved)
        used = distance < REACH
        offset, n = moved[used] - target[nearest[used]], normal[nearest[used]]
        motion = np.concatenate(
            [-rotation @ skew(source[used]), np.broadcast_to(rotation, (used.sum(), 3, 3))], 2
        )
        if by_component:
            residual, jacobian = (n * offset).ravel(), (n[:, :, None] * motion).reshape(-1, 6)
        else:
            residual, jacobian = (n * offset).sum(1), np.einsum("ij,ijk->ik", n, motion)
        twist = np.linalg.solve(jacobian.T @ jacobian, -jacobian.T @ residual)
        shift = shift + rotation @ twist[3:]
        rotation = rotation @ Rotation.from_rotvec(twist[:3]).as_matrix()
        if np.linalg.norm(twist[3:]) < step and np.linalg.norm(twist[:3]) < turn:
            break
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation, shift
    return found


def pose_difference(found, truth):
    gap = np.linalg.inv(truth) @ found
    turn = np.arccos(np.clip((np.trace(gap[:3, :3]) - 1) / 2, -1, 1))
    return f"{1e3 * np.linalg.norm(gap[:3, 3]):.6f} mm, {1e3 * turn:.3f} mrad"


def main():
    folder = pathlib.Path(sys.argv[1]) / "small_gicp_pair"
    truth = np.loadtxt(folder / "T_target_source.txt")
    clouds = ply(folder / "source.ply"), ply(folder / "target.ply")
    peer = small_gicp.align(
        clouds[1], clouds[0], registration_type="PLANE_ICP", downsampling_resolution=VOXEL,
        max_correspondence_distance=REACH, num_threads=1,
    ).T_target_source
    print("small_gicp:", pose_difference(peer, truth))
    source, target = thinned(clouds[0]), thinned(clouds[1])
    normal = normals(target)
    for name, by_component in [("distance to the plane", False), ("by component", True)]:
        for step, turn in [(1e-6, 1e-6), (1e-3, np.radians(0.1))]:
            found = registered(source, target, normal, by_component, step, turn)
            print(f"{name}, until steps of {step:g} m: error {pose_difference(found, truth)}; "
                  f"from small_gicp {pose_difference(found, peer)}")


if __name__ == "__main__":
    main()
