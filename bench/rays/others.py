"""Open3D and Mitsuba on the scenes and rays that `DUMP=DIR bench-rays` wrote.

python3 -m pip install open3d mitsuba numpy; one thread; medians of rounds, CPU seconds."""

import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np


def median_rate(trace, rays, rounds):
    trace()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        trace()
        times.append(time.process_time() - start)
    return rays / np.median(times) * 1e-6


def open3d_tracer(vertices, triangles, rays):
    import open3d as o3d

    scene = o3d.t.geometry.RaycastingScene(nthreads=1)
    scene.add_triangles(o3d.core.Tensor(vertices), o3d.core.Tensor(triangles))
    packed = o3d.core.Tensor(rays)
    return lambda: scene.cast_rays(packed, nthreads=1)["t_hit"]


def mitsuba_tracer(vertices, triangles, rays):
    import drjit as dr
    import mitsuba as mi

    mi.set_variant("llvm_ad_rgb")
    dr.set_thread_count(1)
    mesh = mi.Mesh("all", len(vertices), len(triangles))
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = vertices.ravel()
    parameters["faces"] = triangles.ravel()
    parameters.update()
    scene = mi.load_dict({"type": "scene", "mesh": mesh})
    origin = mi.Point3f(rays[:, :3].T)
    direction = mi.Vector3f(rays[:, 3:].T)

    def trace():
        found = scene.ray_intersect_preliminary(mi.Ray3f(origin, direction), coherent=True)
        dr.eval(found.t)
        dr.sync_thread()

    return trace


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    names = sorted({name.split(".")[0] for name in os.listdir(folder)})
    for name in names:
        load = lambda part, kind: np.fromfile(f"{folder}/{name}.{part}", kind)
        vertices = load("vertices", np.float32).reshape(-1, 3)
        triangles = load("triangles", np.uint32).reshape(-1, 3)
        rays = load("rays", np.float32).reshape(-1, 6)
        for engine, tracer in [("Open3D", open3d_tracer), ("Mitsuba coherent", mitsuba_tracer)]:
            rate = median_rate(tracer(vertices, triangles, rays), len(rays), rounds)
            print(f"{name:6} {engine:18} {rate:7.2f} Mrays/s", flush=True)


if __name__ == "__main__":
    main()
