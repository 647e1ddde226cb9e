#!/usr/bin/env python3
"""Errors of the tilt and the height of poses between two scans, from the ground alone, without a reference.

    pip install kiss-icp==1.3.0 numpy scipy
    python scripts/tilt_by_ground.py SEQUENCE... [--etendue PATH] [--first N] [--second N]

A sequence is a folder of KITTI scans whose z axis is roughly up. Planes are fitted to the lowest points of the first scan in square
cells of 0.5, 1 and 1.5 m. The points of the second scan have distances from these planes; the median of each cell is kept. A
correction of roll, pitch and height makes the medians smallest (Geman-McClure weights). It is the error of the pose with the opposite
sign. No points are paired, and horizontal position and heading keep the values of the pose. Standard deviations: jackknife of 16 random
groups of cells.

Poses are those of `etendue slam`, of KISS-ICP with depths of up to 50 m, and of poses.txt, if there is one.
scripts/pairs_beside_kiss_icp.py compares the result with the truth of simulated scans.
"""

import argparse
import pathlib

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from slam_beside_kiss_icp import etendue, kiss_icp, poses_of, scans_of

SIDES = 0.5, 1.0, 1.5
# Fewest points of a cell of the first scan, and of the second; limits of planes, m
FEWEST, FEWEST_OF_SECOND, THICKEST, HIGHEST = 30, 20, 0.03, 0.25
# Largest distance from a plane, scale of the weights, m; groups of the jackknife
REACH, SCALE, GROUPS = 0.15, 0.02, 16


def ground_planes(points, side):
    """Centres and upward normals of planes through the lowest points of cells."""
    cells = np.unique(np.floor(points[:, :2] / side).astype(int), axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(cells, kind="stable")
    found = []
    for numbers in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        heights = points[numbers, 2]
        inside = points[numbers][np.abs(heights - np.percentile(heights, 10)) < HIGHEST]
        for _ in range(3):
            if len(inside) < FEWEST:
                break
            centre = inside.mean(0)
            values, vectors = np.linalg.eigh(np.cov((inside - centre).T))
            normal = vectors[:, 0] * np.sign(vectors[2, 0])
            off = np.abs((inside - centre) @ normal)
            inside = inside[off < 3 * max(1.48 * np.median(off), 0.003)]
        thickness, width, _ = np.sqrt(np.maximum(values, 0)) if len(inside) >= FEWEST else (1, 0, 0)
        if thickness < THICKEST and width > side / 4 and normal[2] > 0.9:
            found.append((centre, normal))
    return np.array(found)


def medians(planes, points, side):
    """Rows of a least-squares fit of height (m), roll and pitch (rad about the origin), and median distances of cells (m)."""
    centres, normals = planes[:, 0], planes[:, 1]
    distance, cell = cKDTree(centres).query(points)
    off = ((points - centres[cell]) * normals[cell]).sum(1)
    used = (distance < 0.6 * side) & (np.abs(off) < REACH)
    rows, found = [], []
    for number in np.unique(cell[used]):
        inside = used & (cell == number)
        if inside.sum() < FEWEST_OF_SECOND:
            continue
        normal = normals[number]
        rows.append([normal[2], *np.cross(points[inside].mean(0), normal)[:2]])
        found.append(np.median(off[inside]))
    return np.array(rows), np.array(found)


def fitted(rows, off, weights):
    """Weighted least-squares fit of height, roll and pitch."""
    return np.linalg.lstsq(rows * np.sqrt(weights)[:, None], np.sqrt(weights) * off, rcond=None)[0]


def tilt_error(first, second, first_from_second, side):
    """Error of a pose in height, roll and pitch (m, rad; axes of the first scan), its standard deviation and the number of cells."""
    planes = ground_planes(first, side)
    turn, position = Rotation.from_matrix(first_from_second[:3, :3]), first_from_second[:3, 3]
    turned, height = Rotation.identity(), 0.0
    for _ in range(20):
        # Distances at the corrected pose, from its position
        points = (turned * turn).apply(second) + position + [0, 0, height]
        rows, off = medians(planes - np.array([position, [0, 0, 0]]), points - position, side)
        if len(rows) < 8:
            return None
        weights = 1 / (1 + (off / SCALE) ** 2) ** 2
        step = fitted(rows, off, weights)
        turned = Rotation.from_rotvec([-step[1], -step[2], 0]) * turned
        height -= step[0]
        if np.abs(step).max() < 1e-6:
            break
    error = -np.array([height, *turned.as_rotvec()[:2]])
    # Jackknife
    group = np.random.default_rng(0).integers(0, GROUPS, len(rows))
    without = np.array([fitted(rows[group != g], off[group != g], weights[group != g]) for g in range(GROUPS)])
    sd = np.sqrt((GROUPS - 1) * without.var(0))
    return error, sd, len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sequences", type=pathlib.Path, nargs="+")
    parser.add_argument("--etendue", default="etendue")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--second", type=int, default=1)
    arguments = parser.parse_args()
    for sequence in arguments.sequences:
        scans = scans_of(sequence)
        found = {"etendue": etendue(arguments.etendue, sequence)[0], "KISS-ICP": kiss_icp(scans, 50.0)[0]}
        if (sequence / "poses.txt").exists():
            found["reference"] = poses_of(sequence / "poses.txt")
        first, second = scans[arguments.first], scans[arguments.second]
        print(f"{sequence.name}: errors of height (mm), roll and pitch (degrees), with standard deviations")
        for name, poses in found.items():
            pose = np.linalg.inv(poses[arguments.first]) @ poses[arguments.second]
            for side in SIDES:
                result = tilt_error(first, second, pose, side)
                if result is None:
                    print(f"  {name:10} cells of {side} m: too few with ground in both scans")
                    continue
                (height, *tilt), (sd, *tilt_sd), cells = result
                tilt, tilt_sd = np.degrees(tilt), np.degrees(tilt_sd)
                print(f"  {name:10} cells of {side} m ({cells:3}): {1e3 * height:6.1f} ± {1e3 * sd:.1f} mm, "
                      + ", ".join(f"{a:6.3f} ± {b:.3f}" for a, b in zip(tilt, tilt_sd))
                      + f" degrees; together {np.hypot(*tilt):.2f} degrees")


if __name__ == "__main__":
    main()
