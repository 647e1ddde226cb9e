"""NVIDIA Warp's mesh query on the scenes and rays that `DUMP=DIR bench-rays` wrote, for a GPU with CUDA.

python3 -m pip install warp-lang numpy; medians of rounds, each the mean of eight launches between two events. The rays
are repeated to a million, in columns of 128 and in tiles of 4 of each of 8 columns, as those of `gpu_speed`."""

import os
import sys

import numpy as np
import warp as wp

CASTS = 8


@wp.kernel
def cast(mesh: wp.uint64, rays: wp.array(dtype=wp.vec3, ndim=2), found: wp.array(dtype=wp.float32)):
    i = wp.tid()
    query = wp.mesh_query_ray(mesh, rays[i, 0], rays[i, 1], 1.0e6)
    found[i] = wp.where(query.result, query.t, -1.0)


def rate(mesh, rays, rounds):
    found = wp.zeros(len(rays), dtype=wp.float32)
    numbers = []
    for _ in range(rounds + 1):
        begin, end = wp.Event(enable_timing=True), wp.Event(enable_timing=True)
        wp.record_event(begin)
        for _ in range(CASTS):
            wp.launch(cast, dim=len(rays), inputs=[mesh.id, rays, found])
        wp.record_event(end)
        numbers.append(CASTS * len(rays) / wp.get_event_elapsed_time(begin, end) * 1e-3)
    share = float((found.numpy() >= 0).mean())
    # The first round compiles.
    return np.median(numbers[1:]), share


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    wp.init()
    for name in sorted({name.split(".")[0] for name in os.listdir(folder)}):
        load = lambda part, kind: np.fromfile(f"{folder}/{name}.{part}", kind)
        vertices = wp.array(load("vertices", np.float32).reshape(-1, 3), dtype=wp.vec3)
        triangles = wp.array(load("triangles", np.int32))
        rays = load("rays", np.float32).reshape(-1, 2, 3)
        rays = np.concatenate([rays] * max((1 << 20) // len(rays), 1))
        tiles = rays.reshape(-1, 8, 32, 4, 2, 3).transpose(0, 2, 1, 3, 4, 5).reshape(-1, 2, 3)
        orders = {"columns": wp.array(rays, dtype=wp.vec3), "tiles": wp.array(tiles, dtype=wp.vec3)}
        for constructor in ["sah", "cubql"]:
            try:
                mesh = wp.Mesh(points=vertices, indices=triangles, bvh_constructor=constructor)
            except Exception as reason:
                print(f"{name:6} Warp {wp.__version__} {constructor:6} {reason}", flush=True)
                continue
            for order, rays in orders.items():
                speed, share = rate(mesh, rays, rounds)
                label = f"{name:6} Warp {wp.__version__} {constructor:6} {order:8}"
                print(f"{label} {speed:9.1f} Mrays/s, {share:.3f} hit", flush=True)


if __name__ == "__main__":
    main()
