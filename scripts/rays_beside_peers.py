"""Speed of rays from Python, compared with Open3D and MuJoCo: from NumPy to NumPy, conversions included.

    pip install open3d mujoco trimesh
    ETENDUE_DATA=../shared/data python scripts/rays_beside_peers.py --repeats 15

- raycast: 262,144 rays of a spinning lidar at the city of bench/rays and at the small house, `Scene.raycast` and Open3D's
  `RaycastingScene.cast_rays`, one thread each.
- lidar rays, random rays: 4,096 rays at ten meshes of 1,280 triangles and a plane of a MuJoCo model, those of a spinning lidar
  and directions in random order, `etendue.mujoco.Lidar.raycast` and `mj_multiRay`.
- batch: 1,024 environments of 4,800 rays, with two moving bodies, intensity, noise and drop-out (`simulate_batch`), compared with
  ranges alone by `mj_multiRay`.

Sides alternate in blocks of calls that take at least `--block` seconds, 0.05 by default: within a block the caches hold the data of
one side, as in a loop of simulations. With `--block 0` single calls alternate, each with the caches as the other side left them.
Each line has the median of the CPU times per call.
"""

import argparse
import math
import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import etendue as et
import etendue.mujoco

CHANNELS, COLUMNS = 64, 4096


class Timing(NamedTuple):
    """How calls are timed."""

    repeats: int
    """Number of blocks of each side."""
    block: float
    """Least time of a block, s."""


def spin(position):
    """Rays (262144, 6) of a rotating lidar."""
    azimuth, elevation = np.meshgrid(
        2 * np.pi * np.arange(COLUMNS) / COLUMNS + 3e-4, np.deg2rad(np.linspace(-25, 15, CHANNELS)), indexing="ij"
    )
    along = [np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)]
    origin = np.broadcast_to(position, (CHANNELS * COLUMNS, 3))
    return np.concatenate([origin, np.stack(along, -1).reshape(-1, 3)], 1).astype(np.float32)


def chance(i, j):
    """Number in [0, 1) of two whole numbers, as in bench/rays/src/scenes.rs."""
    i, j = np.broadcast_arrays(np.asarray(i, np.uint32), np.asarray(j, np.uint32))
    x = i * np.uint32(0x9E3779B1) ^ j * np.uint32(0x85EBCA77)
    for shift, factor in [(15, 0x2C1B3C6D), (12, 0x297A2D39)]:
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return (x ^ (x >> np.uint32(15))) / 0xFFFFFFFF


def patch(corner, u, v, count, height=0.0):
    """Vertices and triangles of a parallelogram of `count` x `count` squares."""
    along = np.arange(count + 1) / count
    vertices = corner + along[:, None, None] * np.asarray(u) + along[None, :, None] * np.asarray(v)
    vertices = vertices + np.multiply.outer(np.broadcast_to(height, vertices.shape[:2]), [0, 0, 1])
    i, j = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    a, b = (i * (count + 1) + j).ravel(), ((i + 1) * (count + 1) + j).ravel()
    return vertices.reshape(-1, 3), np.concatenate([np.stack([a, b, b + 1], -1), np.stack([a, b + 1, a + 1], -1)])


def cuboid(low, size, count):
    """The six faces of a box."""
    x, y, z = np.diag(size)
    faces = [(low, y, x), (low + z, x, y), (low, x, z), (low + y, z, x), (low, z, y), (low + x, y, z)]
    return [patch(*face, count) for face in faces]


def city():
    """Vertices and triangles of the city of bench/rays: 14 x 14 blocks, each with a house and four boxes."""
    blocks, pitch = 14, 24.0
    side = pitch * blocks
    low = np.array([-side / 2, -side / 2, 0])
    at = np.arange(151)
    parts = [patch(low, [side, 0, 0], [0, side, 0], 150, 0.15 * chance(at[:, None], at))]
    for block in range(blocks * blocks):
        i, j = divmod(block, blocks)
        a = chance(i * 977 + j, np.arange(50))
        corner = low + pitch * np.array([i, j, 0]) + [5 + 2 * a[0], 5 + 2 * a[1], -0.1]
        parts += cuboid(corner, [9 + 4 * a[2], 9 + 4 * a[3], 4 + 20 * a[4] * a[5]], 5)
        for k in range(4):
            b = a[10 + 8 * k :]
            stand = low + pitch * np.array([i + 0.9 * b[0], j, 0]) + [0, 0.5 + 1.8 * b[1], 0.1]
            parts += cuboid(stand, [0.4 + 1.5 * b[2], 0.3 + b[3], 0.5 + 2 * b[4]], 1)
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    triangles = [own + start for (_, own), start in zip(parts, first, strict=False)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(triangles)


def house():
    """Vertices and triangles of the small house."""
    import trimesh

    folder = Path(os.environ.get("ETENDUE_DATA", "../shared/data"))
    mesh = trimesh.load(folder / "mesh_aws_worlds" / "small_house_visual.ply", process=False)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def cpu_time(call, calls):
    """CPU time of `calls` calls in a row, s per call."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def compare(title, rays, timing, sides):
    """Alternates blocks of the sides, and prints rays per CPU second."""
    # The first call of each side warms it up, and the second one sets the length of its blocks.
    calls = {}
    for side, call in sides.items():
        call()
        calls[side] = max(1, math.ceil(timing.block / cpu_time(call, 1)))

    # Alternate.
    times = {side: [] for side in sides}
    for _ in range(timing.repeats):
        for side, call in sides.items():
            times[side].append(cpu_time(call, calls[side]))
    rates = {side: rays / np.median(own) * 1e-6 for side, own in times.items()}
    first, second = rates.values()
    print(title, ", ".join(f"{side} {rate:.2f}" for side, rate in rates.items()), "million rays per CPU second;", end=" ")
    print(f"ratio {first / second:.2f}; calls per block {', '.join(map(str, calls.values()))}", flush=True)


def raycast(timing):
    import open3d

    for name, mesh, position in [("city", city(), [0.7, 0.4, 1.9]), ("house", house(), [0, 0, 1.0])]:
        vertices, triangles = mesh
        scene = et.Scene.from_meshes({"all": (vertices, triangles, "wood")})
        other = open3d.t.geometry.RaycastingScene(nthreads=1)
        other.add_triangles(vertices.astype(np.float32), triangles.astype(np.uint32))
        rays = spin(position)

        def of_open3d(other=other, rays=rays):
            found = other.cast_rays(open3d.core.Tensor(rays), nthreads=1)
            return {key: value.numpy() for key, value in found.items()}

        def of_etendue(scene=scene, rays=rays):
            return scene.raycast(rays, threads=1)

        hits = np.isfinite(of_open3d()["t_hit"])
        assert np.mean(hits == np.isfinite(of_etendue()["t_hit"])) > 0.999 and hits.mean() > 0.2
        title = f"raycast, {name} of {len(triangles)} triangles:"
        compare(title, len(rays), timing, {"etendue": of_etendue, "Open3D": of_open3d})


def model_of_meshes():
    """A MuJoCo model of a floor with ten icospheres, two of which move."""
    import mujoco
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=3)
    text = {
        "vertex": " ".join(map(str, np.round(ball.vertices, 6).ravel())),
        "face": " ".join(map(str, ball.faces.ravel())),
    }
    bodies = ""
    for k in range(10):
        joint = "<freejoint/>" if k < 2 else ""
        place = 3 * np.cos(k), 3 * np.sin(k), 1.0
        bodies += f'<body name="ball{k}" pos="{place[0]} {place[1]} {place[2]}">{joint}<geom type="mesh" mesh="ball"/></body>'
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="ball" vertex="{text["vertex"]}" face="{text["face"]}"/></asset><worldbody>
        <geom name="floor" type="plane" size="20 20 .1"/>{bodies}
        <body name="sensor" pos="0 0 1"><site name="site"/></body></worldbody></mujoco>"""
    )


def multi_ray(model, data, directions):
    """Ranges of `mj_multiRay`; -1 for none."""
    import mujoco

    geoms, ranges = np.zeros(len(directions), np.int32), np.zeros(len(directions))
    skip = model.body("sensor").id
    origin = np.array([0.0, 0, 1])
    mujoco.mj_multiRay(
        model, data, origin, directions.ravel(), None, 1, skip, geoms, ranges, None, len(directions), mujoco.mjMAXVAL
    )
    return ranges


def robots(timing):
    import mujoco

    model = model_of_meshes()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lidar = et.Lidar("velodyne-vlp-16").replace(
        {"pattern.spinning.period_us": 1e6 / 10 / 300, "beam.elliptical.sub_ray_rings": 0}
    )
    seen = etendue.mujoco.Lidar(model, "site", lidar)

    # Rays at meshes.
    random = np.random.default_rng(3)
    scattered = random.normal(size=(4096, 3))
    scattered /= np.linalg.norm(scattered, axis=1, keepdims=True)
    azimuth, elevation = np.meshgrid(2 * np.pi * np.arange(256) / 256, np.deg2rad(np.linspace(-15, 15, 16)), indexing="ij")
    flat = np.cos(elevation)
    turned = np.stack([np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)], -1).reshape(-1, 3)
    for name, directions in [("lidar rays", turned), ("random rays", scattered)]:
        theirs = multi_ray(model, data, directions)
        apart = np.abs(theirs - seen.raycast(data, directions)[0])[theirs >= 0]
        print(f"{name}: greatest difference of the ranges {apart.max():.1e} m")
        sides = {
            "etendue": lambda directions=directions: seen.raycast(data, directions),
            "mj_multiRay": lambda directions=directions: multi_ray(model, data, directions),
        }
        compare(f"{name}:", len(directions), timing, sides)

    # Environments.
    states = [data] * 1024
    shots = random.normal(size=(4800, 3))
    shots /= np.linalg.norm(shots, axis=1, keepdims=True)
    ranges, _, _ = seen.simulate_batch(states[:1], seed=1)
    assert ranges.size == 4800
    compare(
        "batch:",
        1024 * 4800,
        timing._replace(repeats=max(timing.repeats // 5, 1)),
        {
            "etendue": lambda: seen.simulate_batch(states, seed=1, threads=1),
            "mj_multiRay, ranges only": lambda: [multi_ray(model, data, shots) for _ in states],
        },
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--block", type=float, default=0.05, help="least time of a block of calls, s")
    timing = Timing(**vars(parser.parse_args()))
    raycast(timing)
    robots(timing)


if __name__ == "__main__":
    main()
