"""Moving sensors, weather, Ctrl-C and progress."""

import pathlib
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import etendue as et

ROOT = pathlib.Path(__file__).resolve().parents[3]


def drive(speed=10.0, seconds=1.0, count=11):
    """A straight drive of the sensor of the patio."""
    times = np.linspace(100.0, 100.0 + seconds, count)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, 3] = [0.0, 0.0, 1.0]
    poses[:, 0, 3] += speed * (times - times[0]) / 10
    return times, poses


def tum(path, times, poses):
    rows = [f"{t!r} {p[0, 3]!r} {p[1, 3]!r} {p[2, 3]!r} 0 0 0 1" for t, p in zip(times.tolist(), poses.tolist())
            for p in [np.array(p)]]
    path.write_text("\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n")


def test_sweeps_in_motion_equal_those_of_the_command_line(command, vlp, tmp_path):
    times, poses = drive()
    tum(tmp_path / "drive.tum", times, poses)
    out = tmp_path / "reference.npz"
    vlp.save(tmp_path / "vlp.toml")
    words = ["simulate", "patio", "--sensor", tmp_path / "vlp.toml", "--seed", "3", "--frame", "sensor",
             "--trajectory", tmp_path / "drive.tum", "--sweeps", "3", "--rain", "20", "--fog", "60", "-o", out]
    subprocess.run([command, *words], check=True, capture_output=True)
    reference = np.load(out)

    scene = et.Scene.load("patio")
    weather = {"rain": 20, "fog": 60}
    for trajectory in [et.Trajectory(times, poses), et.Trajectory.load(tmp_path / "drive.tum")]:
        sweeps = [et.simulate(scene, vlp, trajectory, sweep=k, seed=3, weather=weather) for k in range(3)]
        for name in ["range", "intensity", "time"]:
            joined = np.concatenate([getattr(sweep, name) for sweep in sweeps])
            assert joined.astype(reference[name].dtype).tobytes() == reference[name].tobytes(), name
    still = et.simulate(scene, vlp, poses[0], seed=3, weather=weather)
    assert len(still) != len(sweeps[0]) or not np.array_equal(still.range, sweeps[0].range)


def test_path_traced_sweeps_equal_those_of_the_command_line(command, arena, urg, tmp_path):
    out = tmp_path / "reference.npz"
    words = ["simulate", "arena", "--seed", "2", "--frame", "sensor", "--paths", "4", "-o", out]
    subprocess.run([command, *words], check=True, capture_output=True)
    sweep = et.simulate(arena, urg, seed=2, paths=4)
    sweep.save(tmp_path / "own.npz")
    assert (tmp_path / "own.npz").read_bytes() == out.read_bytes()
    ranges, _, _ = et.simulate_batch(arena, urg, arena.sensor_pose[None], seed=2, paths=4)
    assert ranges[0].tobytes() == sweep.image("range")[0].tobytes()
    with pytest.raises(ValueError, match="paths: expected a number from 1"):
        et.simulate(arena, urg, paths=0)


def test_trajectories_interpolate():
    times, poses = drive()
    trajectory = et.Trajectory(times, poses)
    assert len(trajectory) == 11 and trajectory.interpolation == "linear"
    assert np.array_equal(trajectory.times, times) and np.allclose(trajectory.poses, poses, atol=1e-15)
    # Halfway between two poses: measured 0.
    assert np.abs(trajectory.at(100.05)[:3, 3] - (poses[0] + poses[1])[:3, 3] / 2).max() < 1e-12
    assert et.Trajectory(times, poses, interpolation="cubic").interpolation == "cubic"


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (([0.0, 0.0], np.tile(np.eye(4), (2, 1, 1))), et.TrajectoryError, "not later"),
        (([], np.zeros((0, 4, 4))), et.TrajectoryError, "no pose"),
        (([0.0], np.tile(np.eye(4), (2, 1, 1))), ValueError, "poses: expected one for each of the 1 times, got 2"),
        (([[0.0]], np.eye(4)[None]), ValueError, r"times: expected the shape \(n,\)"),
        (([np.nan], np.eye(4)[None]), ValueError, "times: .*finite"),
        ((["now"], np.eye(4)[None]), TypeError, "times: "),
        (([0.0], np.eye(4)), ValueError, r"poses: expected the shape \(n, 4, 4\)"),
    ],
)
def test_wrong_trajectories_are_refused(arguments, kind, text):
    with pytest.raises(kind, match=text):
        et.Trajectory(*arguments)


def test_a_trajectory_that_is_too_short_is_refused(arena, vlp, tmp_path):
    short = et.Trajectory([0.0, 0.01], np.tile(arena.sensor_pose, (2, 1, 1)))
    with pytest.raises(et.TrajectoryError, match="the run needs poses"):
        et.simulate(arena, vlp, short)
    with pytest.raises(et.TrajectoryError):
        short.at(1.0)
    with pytest.raises(et.UnknownNameError, match='did you mean "cubic"'):
        et.Trajectory([0.0], np.eye(4)[None], interpolation="cubik")
    bad = tmp_path / "bad.tum"
    bad.write_text("0 0 0 0 0 0 0 1\n1 0 0\n")
    with pytest.raises(et.FormatError, match="bad.tum"):
        et.Trajectory.load(bad)
    with pytest.raises(ValueError, match="interval"):
        et.Trajectory.load(bad, interval=0.0)


def test_fog_shortens_the_view(vlp):
    patio = et.Scene.load("patio")
    clear, fog = (et.simulate(patio, vlp, seed=1, weather=weather, truth=True) for weather in ({}, {"fog": 8.0}))
    # Light from the fog itself returns before that from the walls: measured 2.0 m and 1.0 m.
    assert np.median(fog.range) < 0.7 * np.median(clear.range)
    assert (fog.truth["label"] == -1).mean() > 0.5 and (clear.truth["label"] == -1).mean() < 0.01
    none = et.simulate(patio, vlp, seed=1, weather={"rain": 0})
    assert np.array_equal(none.range, clear.range)


@pytest.mark.parametrize(
    ("weather", "kind", "text"),
    [
        ({"foggy": 1.0}, et.UnknownNameError, 'did you mean "fog"'),
        ({"fog": 0.0}, ValueError, r'weather\["fog"\]: expected a number above 0'),
        ({"rain": -1.0}, ValueError, r'weather\["rain"\]: expected a number 0 or more'),
        ({"rain": np.nan}, ValueError, "rain"),
        ({"rain": "much"}, TypeError, r'weather\["rain"\]: expected a number'),
        ({1: 1.0}, TypeError, "weather: expected names"),
        ({"drops_from": 0.5}, ValueError, "there are no drops"),
        ("rain", TypeError, "weather"),
    ],
)
def test_wrong_weather_is_refused(arena, urg, weather, kind, text):
    with pytest.raises(kind, match=text):
        et.simulate(arena, urg, weather=weather)


def interrupted(call):
    """Seconds from Ctrl-C to the KeyboardInterrupt of a call."""
    begun = []

    def press():
        begun.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    return time.monotonic() - begun[0]


def test_ctrl_c_stops_long_calls(arena, vlp):
    poses = np.tile(arena.sensor_pose, (20000, 1, 1))
    # Without Ctrl-C the calls take minutes; measured 0.06 s.
    assert interrupted(lambda: et.simulate_batch(arena, et.Lidar("hokuyo-urg-04lx"), poses)) < 5.0
    assert interrupted(lambda: et.render(arena, light="paths", samples=100000)) < 5.0
    # A process of its own ends with the call.
    assert interrupted(lambda: et.run(ROOT / "examples" / "cart.toml", duration=1e5)) < 5.0
    # The next call is not stopped.
    assert len(et.simulate(arena, vlp)) > 0


def test_progress_is_reported(arena, urg):
    poses = np.tile(arena.sensor_pose, (200, 1, 1))
    seen = []
    et.simulate_batch(arena, urg, poses, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (200, 200) and seen == sorted(seen)

    def fail(done, total):
        raise RuntimeError(f"stop at {done}")

    with pytest.raises(RuntimeError, match="stop at"):
        et.simulate_batch(arena, urg, poses, progress=fail)
    iterations = []
    measured, start = et.simulate(arena, urg, seed=1), arena.sensor_pose.copy()
    start[0, 3] += 0.02
    arguments = {"start": {"sensor.pose": start}, "motion": "planar"}
    et.fit(arena, urg, measured, ["sensor.pose"], progress=lambda done, most: iterations.append((done, most)), **arguments)
    assert 0 < iterations[-1][0] <= iterations[-1][1]
    with pytest.raises(TypeError, match="progress: expected a function"):
        et.simulate_batch(arena, urg, poses, progress=1)


def test_progress_can_be_a_bar_of_tqdm(arena, urg, monkeypatch):
    bars = []

    class Bar:
        def __init__(self):
            self.n, self.total, self.closed = 0, None, False
            bars.append(self)

        def refresh(self):
            assert self.n <= self.total

        def close(self):
            self.closed = True

    poses = np.tile(np.eye(4), (50, 1, 1))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    et.simulate_batch(arena, urg, poses, progress=True)
    (bar,) = bars
    assert (bar.n, bar.total, bar.closed) == (50, 50, True)

    # Without tqdm, or with False, there is no bar.
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    expected = et.simulate_batch(arena, urg, poses, progress=True)
    found = et.simulate_batch(arena, urg, poses, progress=False)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(expected, found, strict=True)) and len(bars) == 1
