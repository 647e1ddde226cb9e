"""A sweep from Python compared with the same sweep from Rust, alternately.

    cargo build --release && python3 from_python.py 10 0.5 ouster-os1-128

Arguments: rounds, seconds per measurement, presets (python3 -m pip install etendue trimesh). The scene is the city of bench/rays with a grey
surface, in a scene file that both load. Prints medians of the CPU time
per sweep on one thread, and of the ratios over rounds.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trimesh

import etendue as et

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))

SCENE = """version = 1
name = "city"

[sensor]
preset = "ouster-os1-128"
position_m = [0.7, 0.4, 1.9]

[materials.grey]
diffuse = { reflectance = 0.5 }

[[objects]]
name = "all"
shape.mesh.file = "city.ply"
material = "grey"
"""


def of_rust(scene, name, seconds):
    """CPU time of a sweep, ms."""
    command = [HERE.parents[1] / "target/release/bench-sweeps", str(seconds), "1", name]
    run = subprocess.run(command, env=os.environ | {"SCENE": str(scene)}, capture_output=True, text=True, check=True)
    return float(re.search(r"([\d.]+) ms CPU time", run.stdout)[1])


def of_python(scene, lidar, seconds):
    """The same of `etendue.simulate`."""
    et.simulate(scene, lidar, sweep=0, threads=1)
    count, start, until = 0, time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < until:
        count += 1
        et.simulate(scene, lidar, sweep=count, threads=1)
    return 1e3 * (time.process_time() - start) / count


def main():
    import rays_beside_peers

    rounds, seconds, names = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        vertices, triangles = rays_beside_peers.city()
        trimesh.Trimesh(vertices, triangles, process=False).export(Path(folder, "city.ply"))
        file = Path(folder, "city.toml")
        file.write_text(SCENE)
        scene = et.Scene.load(file)
        for name in names:
            lidar = et.Lidar(name)
            pairs = [(of_python(scene, lidar, seconds), of_rust(file, name, seconds)) for _ in range(rounds)]
            python, rust = (statistics.median(side) for side in zip(*pairs))
            ratio = statistics.median(python / rust for python, rust in pairs)
            print(f"{name}: Python {python:.2f} ms, Rust {rust:.2f} ms of CPU time per sweep; ratio {ratio:.3f}")


main()
