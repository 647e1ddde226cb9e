"""Complete sweeps compared with Open3D's ray casting of the same rays, alternately.

    cargo build --release && python3 beside_open3d.py 12 0.3 2 vlp-16 os1-128

Arguments: rounds, seconds per measurement, threads, sensors (python3 -m pip install open3d numpy). CPU time on
one thread, wall time on several. Prints medians of the ratios over rounds, and the ratio of the best rounds."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import open3d as o3d

BENCH = Path(__file__).resolve().parents[2] / "target/release/bench-sweeps"


def sweeps(seconds, threads, sensors, **environment):
    """Output of the benchmark."""
    command = [BENCH, str(seconds), str(threads), *sensors]
    run = subprocess.run(
        command,
        env=os.environ | environment,
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def ours(seconds, threads, sensors):
    """Sweeps per second, by scene and sensor."""
    line = re.compile(r"(\w+)\s+(\S+)\s+([\d.]+) ms CPU time per sweep,\s+([\d.]+) sweeps/s")
    found = line.findall(sweeps(seconds, threads, sensors, ONLY="1"))
    return {
        f"{scene}-{sensor}": 1e3 / float(ms) if threads == 1 else float(rate)
        for scene, sensor, ms, rate in found
    }


class Open3d:
    """A scene of the benchmark with the rays of one sweep."""

    def __init__(self, folder, name, threads):
        def numbers(part, kind, width):
            return o3d.core.Tensor(np.fromfile(folder / f"{name}.{part}", kind).reshape(-1, width))

        self.threads = threads
        self.scene = o3d.t.geometry.RaycastingScene(nthreads=threads)
        self.scene.add_triangles(
            numbers("vertices", np.float32, 3), numbers("triangles", np.uint32, 3)
        )
        self.rays = numbers("rays", np.float32, 6)

    def rate(self, seconds):
        """Sweeps per second."""
        clock = time.process_time if self.threads == 1 else time.perf_counter
        self.scene.cast_rays(self.rays, nthreads=self.threads)
        done, start, until = 0, clock(), time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.scene.cast_rays(self.rays, nthreads=self.threads)
            done += 1
        return done / (clock() - start)


def main():
    rounds, seconds, threads = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    sensors = sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        sweeps(seconds, threads, sensors, DUMP=folder)
        names = sorted(path.stem for path in Path(folder).glob("*.rays"))
        others = {name: Open3d(Path(folder), name, threads) for name in names}
    rates = {name: ([], []) for name in names}
    for _ in range(rounds):
        for name in names:
            rates[name][0].append(others[name].rate(seconds))
        for name, rate in ours(seconds, threads, sensors).items():
            rates[name][1].append(rate)
    for name, (other, own) in rates.items():
        ratio = statistics.median(b / a for a, b in zip(other, own))
        print(
            f"{name:22} Open3D {statistics.median(other):7.1f} sweeps/s, etendue "
            f"{statistics.median(own):7.1f}: {ratio:.2f} times the rate "
            f"(best over best {max(own) / max(other):.2f})"
        )


main()
