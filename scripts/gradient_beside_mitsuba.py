"""Time of the gradient of a pose for 65,536 rays, compared with Mitsuba 3 (`prb`, llvm).

A wall of 20,000 triangles, 3 m in front of the sensor, fills the view; every ray hits it. Each call evaluates the expected
measurements (etendue) or the image (Mitsuba) at a new pose, the sum of their squares, and its gradient by the six degrees of freedom
of the pose, from NumPy to NumPy. Sides alternate in blocks of `--calls` calls, so that most calls find the caches as the call before left
them, as in a loop of an optimiser; with `--calls 1` another side was called before each. The medians of the CPU times and of the
durations of all calls are printed. After a call, threads of Mitsuba wait for work in a loop for about 20 ms, which counts as CPU time of
the process: a pause separates the calls.

    pip install mitsuba
    DRJIT_LIBLLVM_PATH=libLLVM.so python scripts/gradient_beside_mitsuba.py --repeats 20

Mitsuba needs a shared library of LLVM 16 or later; that of the Rust toolchain serves: `$(rustc --print
sysroot)/lib/libLLVM.so.*`.

- "phase, N rays": a phase-shift lidar with N rays per beam, 65,536 rays together.
- "pulsed": a pulsed lidar of 65,536 beams of one ray.
- Mitsuba: an image of 256 x 256 pixels, one ray per pixel and one to the lamp at the camera; the wall moves rigidly, because `prb`
  fails with the pose of the camera as a parameter.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import etendue as et

RAYS = 65_536
# Pause before each call, s.
PAUSE = 0.1
COUNT = 100


def wall():
    """Vertices and triangles of a wall of 4 x 4 m with a small relief."""
    along = np.linspace(-2, 2, COUNT + 1)
    y, z = np.meshgrid(along, along)
    vertices = np.stack([3 + 0.05 * np.sin(2 * y) * np.cos(3 * z), y, z], -1).reshape(-1, 3)
    corner = (np.arange(COUNT) + (COUNT + 1) * np.arange(COUNT)[:, None]).ravel()
    up = COUNT + 1
    lower = np.stack([corner, corner + up, corner + up + 1], -1)
    upper = np.stack([corner, corner + up + 1, corner + 1], -1)
    return vertices, np.concatenate([lower, upper])


def shifted(number):
    """A pose of the sensor near the origin."""
    pose = np.eye(4)
    pose[:3, 3] = 0.01 * np.sin([number, 2 * number, 3 * number])
    return pose


def of_etendue(lidar, threads):
    """Function of the number of a pose: gradient of the sum of squares by the twist."""
    scene = et.Scene.from_meshes({"wall": (*wall(), "white-paint")})

    def gradient(number):
        y, vjp = et.vjp(scene, lidar, {"sensor.pose": shifted(number)}, threads=threads)
        assert vjp.valid.mean() > 0.99
        return vjp(2 * y)["sensor.pose"]

    return gradient


def of_mitsuba():
    """The same of an image of Mitsuba, by the twist of the wall."""
    import drjit
    import mitsuba

    mitsuba.set_variant("llvm_ad_mono")
    vertices, triangles = wall()
    mesh = mitsuba.Mesh("wall", len(vertices), len(triangles))
    values = mitsuba.traverse(mesh)
    values["vertex_positions"] = vertices.astype(np.float32).ravel()
    values["faces"] = triangles.astype(np.uint32).ravel()
    values.update()
    file = Path(tempfile.mkdtemp()) / "wall.ply"
    mesh.write_ply(str(file))
    view = mitsuba.ScalarTransform4f().look_at(origin=[0, 0, 0], target=[1, 0, 0], up=[0, 0, 1])
    film = {"type": "hdrfilm", "width": 256, "height": 256, "rfilter": {"type": "box"}, "pixel_format": "luminance"}
    paint = {"type": "diffuse", "reflectance": {"type": "spectrum", "value": 0.8}}
    scene = mitsuba.load_dict(
        {
            "type": "scene",
            "integrator": {"type": "prb", "max_depth": 2},
            "sensor": {
                "type": "perspective",
                "fov": 60,
                "to_world": view,
                "film": film,
                "sampler": {"type": "independent", "sample_count": 1},
            },
            "light": {"type": "point", "position": [0, 0, 0], "intensity": 1.0},
            "wall": {
                "type": "ply",
                "filename": str(file),
                "face_normals": True,
                "bsdf": {"type": "twosided", "paint": paint},
            },
        }
    )
    parameters = mitsuba.traverse(scene)
    start = drjit.unravel(mitsuba.Point3f, mitsuba.Float(parameters["wall.vertex_positions"]))

    def gradient(number):
        shift = -shifted(number)[:3, 3]
        twist = [mitsuba.Float(float(value)) for value in (*shift, 0, 0, 0)]
        drjit.enable_grad(*twist)
        transform = mitsuba.Transform4f().translate(mitsuba.Vector3f(*twist[:3]))
        for axis, angle in zip(np.eye(3).tolist(), twist[3:], strict=True):
            transform = transform @ mitsuba.Transform4f().rotate(axis, angle * (180 / np.pi))
        parameters["wall.vertex_positions"] = drjit.ravel(transform @ start)
        parameters.update()
        image = mitsuba.render(scene, parameters, spp=1, seed=number)
        drjit.backward(drjit.sum(drjit.square(image), axis=None))
        return np.array([drjit.grad(part)[0] for part in twist])

    return gradient


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--calls", type=int, default=5, help="calls per block")
    parser.add_argument("--threads", type=int, help="of etendue; Mitsuba uses all processors")
    arguments = parser.parse_args()

    # The lidars.
    def phase(rings):
        beams = RAYS // (1 + 3 * rings * (rings + 1))
        changes = {
            "pattern.encoder.columns": beams,
            "pattern.encoder.azimuth_first_deg": -30.0,
            "pattern.encoder.azimuth_step_deg": 60.0 / beams,
            "beam.cone.rays": {"rings": {"count": rings}} if rings else "centre",
        }
        return of_etendue(et.Lidar("hokuyo-urg-04lx").replace(changes), arguments.threads)

    pulsed = et.Lidar("ouster-os1-128").replace(
        {
            "pattern.spinning.columns": 3072,
            "pattern.spinning.fired": 512,
            "pattern.spinning.start_deg": 30.0,
            "beam.elliptical.sub_ray_rings": 0,
        }
    )

    # Alternate, after two blocks of each to warm up.
    sides = {
        "phase, 1 ray": phase(0),
        "phase, 7 rays": phase(1),
        "phase, 61 rays": phase(4),
        "pulsed": of_etendue(pulsed, arguments.threads),
        "Mitsuba": of_mitsuba(),
    }
    times = {side: [] for side in sides}
    for number in range(arguments.repeats + 2):
        for side, gradient in sides.items():
            for call in range(arguments.calls):
                time.sleep(PAUSE)
                before = time.perf_counter(), time.process_time()
                found = gradient(arguments.calls * number + call)
                after = time.perf_counter(), time.process_time()
                assert np.isfinite(found).all() and np.abs(found).max() > 0
                times[side].append(np.subtract(after, before))
    for side, pairs in times.items():
        wall_clock, processor = 1e3 * np.median(pairs[2 * arguments.calls :], axis=0)
        print(f"{side:14s}  {processor:7.1f} ms of CPU, {wall_clock:7.1f} ms")


if __name__ == "__main__":
    main()
