"""Mitsuba's `direct` integrator on the scene of house.toml: camera rays per second of one thread.

    python3 -m pip install mitsuba numpy
    ETENDUE_DATA=... python3 mitsuba_direct.py [picture.png]
    ETENDUE_DATA=... etendue render house.toml --camera camera.toml --pose 0,0,1.2,30 \\
        --samples 16 --threads 1 -o house.png

One shadow ray to the lamp per camera ray, no other rays; CPU seconds, medians of rounds."""

import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import drjit as dr
import mitsuba as mi
import numpy as np

WIDTH, HEIGHT, SAMPLES, ROUNDS = 640, 480, 16, 5


def scene():
    yaw = np.radians(30.0)
    origin = [0.0, 0.0, 1.2]
    target = [np.cos(yaw), np.sin(yaw), 1.2]
    return mi.load_dict(
        {
            "type": "scene",
            "integrator": {
                "type": "direct",
                "emitter_samples": 1,
                "bsdf_samples": 0,
            },
            "sensor": {
                "type": "perspective",
                "fov": 70.0,
                "fov_axis": "x",
                "to_world": mi.ScalarTransform4f().look_at(origin, target, [0, 0, 1]),
                "film": {
                    "type": "hdrfilm",
                    "width": WIDTH,
                    "height": HEIGHT,
                    "rfilter": {"type": "box"},
                    "pixel_format": "rgb",
                },
                "sampler": {"type": "independent", "sample_count": SAMPLES},
            },
            "house": {
                "type": "ply",
                "filename": os.environ["ETENDUE_DATA"]
                + "/mesh_aws_worlds/small_house_visual.ply",
                "face_normals": True,
                "bsdf": {
                    "type": "twosided",
                    "bsdf": {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.6}},
                },
            },
            "lamp": {
                "type": "point",
                "position": [1.0, -1.0, 2.0],
                "intensity": {"type": "rgb", "value": 2.0},
            },
        }
    )


def main():
    for variant in sys.argv[2:] or ["llvm_ad_rgb", "scalar_rgb"]:
        try:
            mi.set_variant(variant)
        except ImportError as error:
            print(variant, error)
            continue
        if variant.startswith("llvm"):
            dr.set_thread_count(1)
        else:
            mi.set_log_level(mi.LogLevel.Error)
        house = scene()
        times = []
        for round_ in range(ROUNDS + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            image = np.array(mi.render(house, seed=round_))
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
        cpu = np.median([t[1] for t in times[1:]])
        wall = np.median([t[0] for t in times[1:]])
        rays = WIDTH * HEIGHT * SAMPLES * 1e-6
        print(f"{variant}: {rays / cpu:.2f} million camera rays per CPU second ({rays / wall:.2f} per s)")
        if len(sys.argv) > 1:
            mi.util.write_bitmap(sys.argv[1], image)


if __name__ == "__main__":
    main()
