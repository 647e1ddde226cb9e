"""Sweeps: equal to those of the command line, deterministic, with masks for missing returns."""

import multiprocessing
import subprocess
import threading

import numpy as np
import pytest

import etendue as et

COLUMNS = ["range", "intensity", "time", "ring", "column"]


@pytest.mark.parametrize("preset", et.presets())
def test_files_equal_those_of_the_command_line_byte_for_byte(preset, command, tmp_path):
    reference, own = tmp_path / "reference.npz", tmp_path / "own.npz"
    arguments = ["simulate", "glass-door", "--sensor", preset, "--seed", "7", "--frame", "sensor"]
    subprocess.run([command, *arguments, "-o", reference], check=True, capture_output=True)

    sweep = et.simulate(et.Scene.load("glass-door"), et.Lidar(preset), seed=7)
    sweep.save(own)
    assert len(sweep) > 100
    assert own.read_bytes() == reference.read_bytes()

    table = np.load(reference)
    for name in COLUMNS:
        assert np.array_equal(getattr(sweep, name).astype(table[name].dtype), table[name]), name
    points = np.stack([table["x"], table["y"], table["z"]], axis=1)
    assert np.array_equal(sweep.points.astype(points.dtype), points)


def test_images_hold_first_returns_and_a_mask(vlp):
    sweep = et.simulate(et.Scene.load("patio"), vlp, seed=1)
    values, valid = sweep.image("range")
    assert values.shape == valid.shape == sweep.shape == (16, vlp.columns)
    # The patio is open: some beams have no return.
    assert 0 < valid.sum() < valid.size
    assert np.isnan(values[~valid]).all() and (values[valid] > 0).all()

    # The highest ring is the first row.
    elevation, fired = sweep.image("elevation")
    means = [np.mean(row[mask]) for row, mask in zip(elevation, fired)]
    assert means == sorted(means, reverse=True)
    rows, columns = 15 - sweep.ring.astype(int), sweep.column
    assert valid[rows, columns].all()
    assert (valid.sum() == np.unique(np.stack([rows, columns]), axis=1).shape[1])


def test_truth_is_separate_and_optional(arena, urg):
    plain = et.simulate(arena, urg, seed=3)
    assert plain.truth is None
    with pytest.raises(et.UnknownNameError):
        plain.image("true_range")

    true = et.simulate(arena, urg, seed=3, truth=True)
    assert np.array_equal(true.range, plain.range)
    label = true.truth["label"]
    assert set(np.unique(label)) <= {-1, *range(len(arena.objects))} and (label >= 0).any()
    direct = arena.objects.index("room") == label
    # Noise of the URG-04LX: measured median 2.2 mm.
    assert np.median(np.abs(true.range - true.truth["range"])[direct]) < 0.01
    values, valid = true.image("true_label")
    assert valid.all() and set(np.unique(values)) <= {0, 1, 2}


def test_results_do_not_depend_on_threads(arena, vlp):
    one = et.simulate(arena, vlp, seed=5, threads=1)
    for threads in (2, 3):
        other = et.simulate(arena, vlp, seed=5, threads=threads)
        assert one.points.tobytes() == other.points.tobytes()
        assert one.intensity.tobytes() == other.intensity.tobytes()
    assert et.simulate(arena, vlp, seed=6).range.tobytes() != one.range.tobytes()


def test_two_python_threads_at_once_give_the_same_results(arena, urg):
    expected = [et.simulate(arena, urg, seed=seed).points.tobytes() for seed in range(20)]
    results = {}

    def work(name):
        results[name] = [et.simulate(arena, urg, seed=seed).points.tobytes() for seed in range(20)]

    workers = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == {"a": expected, "b": expected}


def test_other_python_threads_run_during_a_call(arena, vlp):
    poses = np.stack([arena.sensor_pose] * 20)
    worker = threading.Thread(target=et.simulate_batch, args=(arena, vlp, poses))
    worker.start()
    steps = 0
    while worker.is_alive():
        steps += 1
    # A call that holds the lock leaves a few steps between two calls of the worker; measured 200,000.
    assert steps > 10_000


# Windows starts processes without a fork, so that no thread can be lost there.
# Windows starts processes without copying memory, so that no pool is inherited.
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the platform has no fork"
)
def test_a_forked_process_simulates_too(arena, urg):
    """Pools end with their calls: a child process does not wait for threads that it lacks."""
    expected = et.simulate(arena, urg, seed=1, threads=2).range.tobytes()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        call = pool.apply_async(_simulate_in_child)
        assert call.get(timeout=60) == expected


def _simulate_in_child():
    lidar = et.Lidar("hokuyo-urg-04lx")
    return et.simulate(et.Scene.load("arena"), lidar, seed=1, threads=2).range.tobytes()


def test_a_batch_equals_single_runs(arena, vlp):
    poses = np.stack([arena.sensor_pose] * 5)
    poses[:, 0, 3] += np.linspace(-0.2, 0.2, 5)
    ranges, intensities, valid = et.simulate_batch(arena, vlp, poses, seed=9, time=0.25)
    assert ranges.shape == (5, 16, vlp.columns) and valid.any()
    for number, pose in enumerate(poses):
        sweep = et.simulate(arena, vlp, pose, seed=9, sweep=number, time=0.25)
        single, mask = sweep.image("range")
        assert ranges[number].tobytes() == single.tobytes()
        assert np.array_equal(valid[number], mask)
        assert intensities[number].tobytes() == sweep.image("intensity")[0].tobytes()
    other = et.simulate_batch(arena, vlp, poses, seed=9, time=0.25, threads=3)
    assert other[0].tobytes() == ranges.tobytes()
    assert et.simulate_batch(arena, vlp, np.zeros((0, 4, 4)))[0].shape == (0, 16, vlp.columns)


def test_poses_as_matrices_and_as_quaternions_agree(arena, urg):
    angle = 0.3
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    matrix[:3, 3] = 0.1, 0.05, 0.1
    pair = ([0.1, 0.05, 0.1], [0, 0, np.sin(angle / 2), np.cos(angle / 2)])
    of_matrix = et.simulate(arena, urg, matrix, seed=2)
    of_pair = et.simulate(arena, urg, pair, seed=2)
    # Poses differ by rounding, 1e-16, and ranges are steps of 1 mm: measured all equal.
    assert np.mean(of_matrix.range == of_pair.range) > 0.99
    assert np.allclose(of_matrix.pose, matrix, atol=1e-15)


def test_arrays_of_any_type_and_layout_are_accepted(arena, urg):
    expected = et.simulate(arena, urg, np.eye(4), seed=1).range
    strided = np.zeros((8, 8))[::2, ::2]
    strided[:] = np.eye(4)
    constant = np.eye(4)
    constant.setflags(write=False)
    swapped = np.eye(4).astype(">f8")
    for pose in [
        np.eye(4, dtype=np.float32), np.eye(4, dtype=int), np.asfortranarray(np.eye(4)),
        strided, constant, swapped, np.eye(4).tolist(),
    ]:
        assert np.array_equal(et.simulate(arena, urg, pose, seed=1).range, expected)


def test_arrays_of_a_sweep_are_read_only_and_made_once(arena, urg):
    sweep = et.simulate(arena, urg)
    assert sweep.points is sweep.points
    for name in ["points", "azimuth", "elevation", *COLUMNS]:
        column = getattr(sweep, name)
        assert len(column) == len(sweep)
        with pytest.raises(ValueError):
            column[...] = 0


def test_points_are_ranges_along_beams(arena, vlp):
    sweep = et.simulate(arena, vlp)
    azimuth, elevation = sweep.azimuth, sweep.elevation
    flat = np.cos(elevation)
    axis = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=1)
    # The exits of the beams of a VLP-16 are off the centre: measured 11 mm.
    offset = sweep.points - axis * sweep.range[:, None]
    assert np.abs(offset).max() < 0.015


@pytest.mark.parametrize("ending", ["pcd", "ply", "npz", "las", "csv", "bin", "e57", "mcap"])
def test_sweeps_are_saved_in_every_format(arena, urg, tmp_path, ending):
    path = tmp_path / f"scan.{ending}"
    et.simulate(arena, urg).save(path)
    assert path.stat().st_size > 1000


def test_reprs_have_counts(arena, urg):
    sweep = et.simulate(arena, urg)
    assert repr(sweep).startswith('Sweep("Hokuyo URG-04LX", shots=682, with_return=')
    assert repr(arena) == 'Scene("arena", objects=3, materials=3, triangles=16)'
    assert "channels=1, columns=682, wavelength=785 nm" in repr(urg)
