#!/usr/bin/env python3
"""Trajectory errors by the PyPI package evo (1.38.1), the expected values of the tests of etendue-estimate.

    pip install evo==1.38.1
    python scripts/evo_golden.py crates/etendue-estimate/tests/golden/evo

writes reference.tum, estimate.tum and errors.json to that folder.
"""

import copy
import json
import pathlib
import sys

import numpy as np
from evo.core import metrics, sync
from evo.core.metrics import PoseRelation, Unit
from evo.core.trajectory import PoseTrajectory3D
from evo.tools import file_interface


def trajectory(seed):
    rng = np.random.default_rng(seed)
    times = np.arange(120) * 0.5
    angle = 0.05 * times
    xyz = np.stack([10 * np.sin(angle), 12 * (1 - np.cos(angle)), 0.3 * np.sin(3 * angle)], 1)
    half = 0.5 * angle
    wxyz = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], 1)
    if seed:
        xyz = xyz + np.cumsum(rng.normal(0, 0.01, xyz.shape), 0) + [0.5, -0.2, 0.1]
        wxyz = wxyz + np.cumsum(rng.normal(0, 0.002, wxyz.shape), 0)
        wxyz /= np.linalg.norm(wxyz, axis=1, keepdims=True)
    return PoseTrajectory3D(positions_xyz=xyz, orientations_quat_wxyz=wxyz, timestamps=times)


def statistics(metric, pair):
    metric.process_data(pair)
    return {k: float(metric.get_all_statistics()[k]) for k in ("rmse", "mean", "median", "max")}


def main(folder):
    folder = pathlib.Path(folder)
    for name, seed in (("reference", 0), ("estimate", 7)):
        file_interface.write_tum_trajectory_file(str(folder / f"{name}.tum"), trajectory(seed))
    read = [file_interface.read_tum_trajectory_file(str(folder / f"{n}.tum"))
            for n in ("reference", "estimate")]
    reference, estimate = sync.associate_trajectories(*read)
    relations = {"translation": PoseRelation.translation_part,
                 "rotation_rad": PoseRelation.rotation_angle_rad}
    found = {}
    for alignment in ("none", "origin", "umeyama"):
        moved = copy.deepcopy(estimate)
        if alignment == "origin":
            moved.align_origin(reference)
        elif alignment == "umeyama":
            moved.align(reference, correct_scale=False)
        for name, relation in relations.items():
            found[f"ape {alignment} {name}"] = statistics(metrics.APE(relation), (reference, moved))
    spacings = {"1 poses": (1, Unit.frames), "5 poses": (5, Unit.frames),
                "1 path": (1.0, Unit.meters), "5 path": (5.0, Unit.meters)}
    for spacing, (delta, unit) in spacings.items():
        for name, relation in relations.items():
            metric = metrics.RPE(relation, delta=delta, delta_unit=unit, all_pairs=False)
            found[f"rpe {spacing} {name}"] = statistics(metric, (reference, estimate))
    (folder / "errors.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
