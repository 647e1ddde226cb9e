"""Batches of environments: each item equals a single sweep."""

import subprocess
import sys

import numpy as np
import pytest

import etendue as et

COUNT = 5


@pytest.fixture(scope="module")
def poses(arena):
    poses = np.tile(arena.sensor_pose, (COUNT, 1, 1))
    poses[:, 1, 3] += 0.02 * np.arange(COUNT)
    return poses


@pytest.fixture(scope="module")
def hall():
    """A plate in front of a wall."""
    square = np.array([[0.0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]])
    triangles = [[0, 2, 1], [0, 3, 2]]
    wall = (3 * square + [3.0, 0, 0], triangles, "drywall")
    return et.Scene.from_meshes({"wall": wall, "plate": (0.2 * square, triangles, "wood")})


RANDOMISE = {"materials.drywall.reflectance": (0.1, 0.9), "sensor.range.far_m": (2.0, 5.6)}


def test_items_equal_single_sweeps_bit_for_bit(hall, urg):
    # Environments with their own pose of sensor and plate
    poses = np.tile(np.eye(4), (COUNT, 1, 1))
    poses[:, 1, 3] = 0.02 * np.arange(COUNT)
    plates = np.tile(np.eye(4), (COUNT, 1, 1))
    plates[:, 0, 3], plates[:, 1, 3] = 1.5, 0.2 * np.arange(COUNT) - 0.4
    weather = {"visibility": 5000.0}
    ranges, intensities, valid, labels = et.simulate_batch(
        hall, urg, poses, bodies={"plate": plates}, randomise=RANDOMISE, weather=weather, seed=9, sweep=70, labels=True,
        time=0.5, threads=2,
    )

    # Each equals its single sweep.
    drawn = et.draw(RANDOMISE, COUNT, seed=9)
    for i in range(COUNT):
        values = {path: float(numbers[i]) for path, numbers in drawn.items()}
        sweep = et.simulate(
            hall, urg, poses[i], bodies={"plate": plates[i]}, values=values, weather=weather, seed=9, sweep=70 + i,
            time=0.5, truth=True,
        )
        values, mask = sweep.image("range")
        assert ranges[i].tobytes() == values.tobytes()
        assert intensities[i].tobytes() == sweep.image("intensity")[0].tobytes()
        assert np.array_equal(valid[i], mask)
        assert np.array_equal(labels[i][0][sweep.column], sweep.truth["label"])
        assert (labels[i][~mask] == -1).all()

    # They differ by their bodies and values, not only by noise.
    plate, wall = labels == 1, labels == 0
    assert len({mask.tobytes() for mask in plate}) == COUNT and (plate.sum(axis=(1, 2)) > 20).all()
    far = drawn["sensor.range.far_m"]
    assert (np.nanmax(ranges, axis=(1, 2)) < far + 0.05).all() and len(set(valid.sum(axis=(1, 2)))) > 1
    # Intensity of the wall grows with its reflectance where the wall is within the range.
    seen, wall = far > 3.5, wall & (ranges < 3.2)
    order = np.argsort(drawn["materials.drywall.reflectance"][seen])
    means = [intensities[i][wall[i]].mean() for i in np.flatnonzero(seen)[order]]
    assert len(means) > 1 and (np.diff(means) > 0).all()


def test_bodies_move_what_rays_hit(arena):
    angles = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    flat = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    rays = np.hstack([np.tile(arena.sensor_pose[:3, 3], (360, 1)), flat])
    own = arena.raycast(rays)
    on_mirror = own["geometry_ids"] == arena.objects.index("mirror")
    assert 10 < on_mirror.sum() < 180
    away = np.eye(4)
    away[0, 3] = 50.0
    moved = arena.raycast(rays, bodies={"mirror": away})
    assert not (moved["geometry_ids"] == arena.objects.index("mirror")).any()
    assert (moved["t_hit"] > own["t_hit"])[on_mirror].all()
    assert np.array_equal(moved["t_hit"][~on_mirror], own["t_hit"][~on_mirror])
    # The scene itself is unchanged.
    assert np.array_equal(arena.raycast(rays)["t_hit"], own["t_hit"])


def test_numbers_of_materials_change_intensities(arena, urg):
    dark, bright = (
        et.simulate(arena, urg, seed=1, values={"materials.wall.reflectance": value}, truth=True) for value in (0.2, 0.8)
    )
    room = arena.objects.index("room")
    mean = [np.mean(sweep.intensity[sweep.truth["label"] == room]) for sweep in (dark, bright)]
    assert mean[1] > 1.5 * mean[0]


def test_draws_are_uniform_and_addressed_by_path():
    drawn = et.draw({"a": (0.0, 1.0), "b": (2.0, 4.0)}, 4000, seed=3)
    # The standard deviation of the mean of 4,000 uniform numbers is 0.0046.
    assert abs(drawn["a"].mean() - 0.5) < 0.02 and abs(drawn["b"].mean() - 3.0) < 0.04
    assert drawn["b"].min() >= 2.0 and drawn["b"].max() <= 4.0
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 0.06
    # The numbers of a path do not depend on other paths or on the number of environments.
    alone = et.draw({"b": (2.0, 4.0)}, 10, seed=3)
    assert np.array_equal(alone["b"], drawn["b"][:10])
    assert not np.array_equal(et.draw({"b": (2.0, 4.0)}, 10, seed=4)["b"], alone["b"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_given_arrays_are_written_in_place(arena, urg, poses, dtype):
    shape = (COUNT, urg.channels, urg.columns)
    out = {
        "range": np.full(shape, 7, dtype), "intensity": np.full(shape, 7, dtype),
        "valid": np.zeros(shape, bool), "label": np.full(shape, 7, np.int32),
    }
    result = et.simulate_batch(arena, urg, poses, seed=2, labels=True, out=out)
    fresh = et.simulate_batch(arena, urg, poses, seed=2, labels=True)
    for name, given, new in zip(["range", "intensity", "valid", "label"], result, fresh):
        assert given is out[name]
        assert np.array_equal(given, new.astype(given.dtype), equal_nan=given.dtype.kind == "f"), name
    single = et.simulate_batch(arena, urg, poses, seed=2, dtype=dtype)
    assert single[0].dtype == dtype and single[0].tobytes() == out["range"].tobytes()


def arrays(urg, **changed):
    shape = (COUNT, urg.channels, urg.columns)
    out = {"range": np.zeros(shape), "intensity": np.zeros(shape), "valid": np.zeros(shape, bool)}
    return {**out, **changed}


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (lambda s: {"range": np.zeros((1, 1, 1))}, ValueError, r'out\["range"\]: expected the shape \(5, 1, 682\)'),
        (lambda s: {"intensity": np.zeros(s, "float32")}, TypeError, r'out\["intensity"\]: expected an array of float64'),
        (lambda s: {"valid": np.zeros(s)}, TypeError, r'out\["valid"\]: expected an array of bool'),
        (lambda s: {"range": [1.0]}, TypeError, r'out\["range"\]: .* got list'),
        (lambda s: {"range": np.zeros(s[::-1]).T}, ValueError, r'out\["range"\]: expected an array in C order'),
        (lambda s: {"range": np.zeros(s, int)}, TypeError, r'out\["range"\]: expected an array of float64'),
    ],
)
def test_wrong_arrays_are_refused(arena, urg, poses, change, kind, text):
    out = arrays(urg, **change((COUNT, urg.channels, urg.columns)))
    with pytest.raises(kind, match=text):
        et.simulate_batch(arena, urg, poses, out=out)


def test_arrays_that_cannot_be_written_are_refused(arena, urg, poses):
    constant = arrays(urg)
    constant["range"].setflags(write=False)
    with pytest.raises(ValueError, match=r'out\["range"\]'):
        et.simulate_batch(arena, urg, poses, out=constant)
    twice = arrays(urg)
    twice["intensity"] = twice["range"]
    with pytest.raises(ValueError, match=r'out\["intensity"\]'):
        et.simulate_batch(arena, urg, poses, out=twice)
    with pytest.raises(TypeError, match="label"):
        et.simulate_batch(arena, urg, poses, out=arrays(urg), labels=True)
    with pytest.raises(TypeError, match="dtype"):
        et.simulate_batch(arena, urg, poses, dtype="int8")


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"bodies": {"miror": np.zeros((COUNT, 4, 4))}}, et.UnknownNameError, 'did you mean "mirror"'),
        ({"bodies": {"mirror": np.tile(np.eye(4), (2, 1, 1))}}, ValueError, "expected one for each of the 5 poses, got 2"),
        ({"bodies": {"mirror": np.full((COUNT, 4, 4), np.nan)}}, ValueError, r'bodies\["mirror"\]\[0\]: .*finite'),
        ({"bodies": {3: np.zeros((COUNT, 4, 4))}}, TypeError, "bodies: expected names"),
        ({"values": {"materials.wall.reflectance": [0.5]}}, ValueError, "expected one for each of the 5 poses, got 1"),
        ({"values": {"materials.wal.reflectance": [0.5] * COUNT}}, et.UnknownNameError, "materials.wall.reflectance"),
        ({"values": {"materials.wall.reflectance": [1.5] * COUNT}}, ValueError, "between 0 and 1"),
        ({"values": {"sensor.range.fare_m": [1.0] * COUNT}}, et.UnknownNameError, 'did you mean "range.far_m"'),
        ({"values": {"sensor.range.far_m": [-1.0] * COUNT}}, et.ConfigError, "far_m is -1.0 m"),
        ({"randomise": {"sensor.range.far_m": (5.0, 4.0)}}, ValueError, "the least number 5 is above the greatest 4"),
        ({"randomise": {"sensor.range.far_m": 5.0}}, TypeError, "expected the least and the greatest number"),
        ({"randomise": {"sensor.range.far_m": (np.nan, 4.0)}}, ValueError, "finite"),
        ({"randomise": [1]}, TypeError, "randomise"),
        (
            {"randomise": {"sensor.range.far_m": (4.0, 5.0)}, "values": {"sensor.range.far_m": np.full(COUNT, 4.5)}},
            ValueError,
            "values has this path, too",
        ),
    ],
)
def test_wrong_variations_are_refused(arena, urg, poses, arguments, kind, text):
    with pytest.raises(kind, match=text):
        et.simulate_batch(arena, urg, poses, **arguments)


def test_results_that_do_not_fit_into_memory_are_a_memory_error(arena):
    poses = np.broadcast_to(arena.sensor_pose, (300_000, 4, 4))
    with pytest.raises(MemoryError):
        et.simulate_batch(arena, et.Lidar("ouster-os1-128"), poses)


def test_environments_need_little_memory():
    """A process of its own, of which the peak is known."""
    code = """
import resource, sys
import numpy as np
import etendue as et
count = int(sys.argv[1])
scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
poses = np.tile(scene.sensor_pose, (count, 1, 1))
bodies = {name: np.tile(np.eye(4), (count, 1, 1)) for name in ("mirror", "pane")}
shape = (count, 1, lidar.columns)
out = {"range": np.zeros(shape), "intensity": np.zeros(shape), "valid": np.zeros(shape, bool)}
for array in out.values():
    array.fill(1)
et.simulate_batch(scene, lidar, poses, bodies=bodies, out=out, randomise={"materials.wall.reflectance": (0.2, 0.8)})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sum(array.nbytes for array in out.values()) / 1024)
"""
    def peak(count):
        text = subprocess.check_output([sys.executable, "-c", code, str(count)])
        used, outputs = map(float, text.split())
        return used - outputs

    # kB for each environment beyond its outputs: measured 0.6, its poses.
    assert (peak(600) - peak(100)) / 500 < 50.0
