"""Gradients equal differences of the prediction, and products with the Jacobian; their cost is that of the beams."""

import time

import numpy as np
import pytest
from test_estimate import twisted

import etendue as et

GRID = 24
# Beside the origin, from which a beam ends at an edge of two triangles.
ASIDE = np.eye(4) + [[0, 0, 0, 0], [0, 0, 0, 0.013], [0, 0, 0, 0.007], [0, 0, 0, 0]]


def tessellated(count, size=2.0):
    """A square wall of 2 count² triangles, 3 m in front of the origin, with a small relief."""
    along = np.linspace(-size, size, count + 1)
    y, z = np.meshgrid(along, along)
    vertices = np.stack([3 + 0.2 * np.sin(2 * y) * np.cos(3 * z), y, z], -1).reshape(-1, 3)
    corner = (np.arange(count) + (count + 1) * np.arange(count)[:, None]).ravel()
    up = count + 1
    triangles = [np.stack([corner, corner + up, corner + up + 1], -1), np.stack([corner, corner + up + 1, corner + 1], -1)]
    return vertices, np.concatenate(triangles)


@pytest.fixture(scope="module")
def wall():
    return et.Scene.from_meshes({"wall": (*tessellated(GRID), "white-paint")})


@pytest.fixture(scope="module")
def loss():
    """A smooth number of the measurements, and its derivatives by them."""

    def of(y, valid):
        weights = np.array([1.0, 1e-3]) * (1 + np.sin(np.arange(y.size).reshape(y.shape)))
        value = np.sum((weights * np.where(valid, y, 0)) ** 2)
        return value, np.where(valid, 2 * weights**2 * y, np.nan)

    return of


def gradient(scene, lidar, parameters, loss, **options):
    y, vjp = et.vjp(scene, lidar, parameters, **options)
    value, cotangent = loss(y, vjp.valid)
    return vjp(cotangent), value


def test_the_reverse_mode_is_the_transposed_jacobian(arena, vlp):
    paths = ["sensor.pose", "objects.mirror.pose", f"materials.{arena.materials[0]}.reflectance",
             "objects.room.facets.*.scattering", "objects.room.vertices.*",
             "sensor.beams.*.azimuth_offset", "sensor.channels.*.range_offset"]  # fmt: skip
    # The dense Jacobian of all beams by all beams would have gigabytes.
    lidar = vlp.replace({"pattern.spinning.period_us": None, "pattern.spinning.columns": 40})
    y, J, valid = et.jacobian(arena, lidar, paths, edges=False)
    same_y, vjp = et.vjp(arena, lidar, paths, edges=False)
    assert np.array_equal(y, same_y, equal_nan=True) and np.array_equal(valid, vjp.valid)
    cotangent = np.where(valid, np.random.default_rng(1).normal(size=y.shape), np.nan)
    found = vjp(cotangent)
    assert list(found) == paths and {path: of.shape for path, of in found.items()} == vjp.shapes
    flat = np.concatenate([found[path].ravel() for path in paths])
    expected = np.einsum("bq,bqk->k", np.where(valid, cotangent, 0), J)
    # Measured 0, of 3,000.
    assert np.abs(flat - expected).max() < 1e-9 * np.abs(expected).max()


def test_the_forward_mode_is_the_jacobian_times_the_direction(arena, urg):
    paths = ["sensor.pose", "objects.mirror.pose"]
    _, J, _ = et.jacobian(arena, urg, paths, motion="planar")
    tangents = {"objects.mirror.pose": [0.2, -0.1, 0.3]}
    y, change, valid = et.jvp(arena, urg, paths, tangents, motion="planar")
    assert np.abs(change - J[..., 3:] @ [0.2, -0.1, 0.3]).max() < 1e-9 and np.abs(change).max() > 0.1
    assert np.isnan(y[~valid]).all() and (change[~valid] == 0).all()


@pytest.mark.parametrize("name", ["hokuyo-urg-04lx", "velodyne-vlp-16"])
def test_gradients_by_poses_equal_differences(arena, loss, name):
    lidar = et.Lidar(name)
    pose = twisted(arena.sensor_pose, 5, 0.1)
    found, _ = gradient(arena, lidar, {"sensor.pose": pose}, loss)
    step = 1e-7
    differences = []
    for component in range(6):
        values = [
            loss(*et.predict(arena, lidar, pose=twisted(pose, component, sign * step)))[0] for sign in (1, -1)
        ]
        differences.append((values[0] - values[1]) / (2 * step))
    # Measured 2e-8.
    error = np.abs(found["sensor.pose"] - differences) / np.abs(differences).max()
    assert error.max() < 1e-5, error


@pytest.mark.parametrize(
    ("path", "step", "least"),
    [
        ("objects.wall.facets.*.scattering", 1e-5, 300),
        ("objects.wall.vertices.*", 1e-7, 300),
        ("sensor.beams.*.azimuth_offset", 1e-7, 1000),
        ("sensor.beams.*.elevation_offset", 1e-7, 1000),
        ("sensor.beams.*.range_offset", 1e-6, 1000),
        ("sensor.channels.*.elevation_offset", 1e-8, 16),
    ],
)
def test_gradients_by_thousands_of_parameters_equal_differences(wall, vlp, loss, path, step, least):
    """Along random directions, and for single parameters."""
    lidar = vlp
    _, vjp = et.vjp(wall, lidar, [path], pose=ASIDE)
    rng = np.random.default_rng(2)
    shape = vjp.shapes[path]
    base = {"facets": 1 + 0.1 * rng.normal(size=shape), "vertices": tessellated(GRID)[0]}
    start = next((value for key, value in base.items() if key in path), 1e-3 * rng.normal(size=shape))
    found, _ = gradient(wall, lidar, {path: start}, loss, pose=ASIDE)
    assert np.count_nonzero(found[path]) >= least

    def difference(direction):
        plus, minus = (
            loss(*et.predict(wall, lidar, {path: start + sign * step * direction}, pose=ASIDE))[0]
            for sign in (1, -1)
        )
        return (plus - minus) / (2 * step)

    strongest = np.unravel_index(np.abs(found[path]).argmax(), shape)
    single = np.zeros(shape)
    single[strongest] = 1
    # Measured at most 8e-7.
    assert difference(single) == pytest.approx(found[path][strongest], rel=1e-5)
    # Of all parameters at once, rays cross edges within the step. Measured at most 3e-6.
    direction = np.where(rng.random(shape) < 200 / found[path].size, rng.normal(size=shape), 0)
    along = np.sum(direction * found[path])
    assert along != 0 and difference(direction) == pytest.approx(along, rel=1e-4)


def test_gradients_by_numbers_equal_differences(arena, urg, loss):
    for path, value, step in [
        (f"materials.{arena.materials[0]}.reflectance", 0.6, 1e-6),
        ("sensor.beam.divergence", 0.004, 1e-9),
        ("objects.room.facets.3.scattering", 0.9, 1e-6),
    ]:
        found, _ = gradient(arena, urg, {path: value}, loss)
        plus, minus = (loss(*et.predict(arena, urg, {path: value + sign * step}))[0] for sign in (1, -1))
        assert found[path].shape == ()
        # Measured at most 7e-5, by the rounding of the differences.
        assert float(found[path]) == pytest.approx((plus - minus) / (2 * step), rel=3e-4), path


def test_the_cost_does_not_grow_with_the_number_of_parameters(vlp):
    """A wall with 100 times the triangles: the gradient by all vertices and factors takes about as long."""

    def seconds(count):
        scene = et.Scene.from_meshes({"wall": (*tessellated(count), "white-paint")})
        paths = ["objects.wall.vertices.*", "objects.wall.facets.*.scattering"]
        best = np.inf
        for _ in range(3):
            begin = time.process_time()
            y, vjp = et.vjp(scene, vlp, paths, pose=np.eye(4), threads=1)
            vjp(np.ones_like(y))
            best = min(best, time.process_time() - begin)
        return best, sum(np.prod(shape) for shape in vjp.shapes.values())

    few, many = seconds(5), seconds(50)
    assert many[1] > 60 * few[1]
    # Measured 1.3 times the time for 81 times the parameters.
    assert many[0] < 10 * few[0], (few, many)


def test_results_do_not_depend_on_the_number_of_threads(wall, vlp):
    paths = ["sensor.pose", "objects.wall.vertices.*", "objects.wall.facets.*.scattering"]
    results = []
    for threads in (1, 2, 5):
        y, vjp = et.vjp(wall, vlp, paths, pose=np.eye(4), threads=threads)
        results.append([y, *vjp(np.ones_like(y)).values()])
    for other in results[1:]:
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(results[0], other, strict=True))


def test_predictions_are_those_of_the_jacobian_and_of_changed_scenes(arena, urg):
    y, valid = et.predict(arena, urg)
    expected, _, mask = et.jacobian(arena, urg, [])
    assert np.array_equal(y, expected, equal_nan=True) and np.array_equal(valid, mask)
    # Vertices twice as far, seen by a sensor at the origin, give twice the range.
    vertices, triangles = tessellated(4)
    near, far = (
        et.Scene.from_meshes({"wall": (scale * vertices, triangles, "white-paint")}) for scale in (1, 2)
    )
    lidar = et.Lidar("velodyne-vlp-16")
    moved, _ = et.predict(near, lidar, {"objects.wall.vertices.*": 2 * vertices}, pose=np.eye(4))
    assert np.array_equal(moved, et.predict(far, lidar, pose=np.eye(4))[0], equal_nan=True)


@pytest.mark.parametrize(
    ("parameters", "kind", "text"),
    [
        (["sensor.pos"], et.UnknownNameError, 'did you mean "sensor.pose"'),
        (["objects.room.vertexes.*"], et.UnknownNameError, r'did you mean "objects.room.vertices.\*"'),
        (["objects.room.vertices.99"], et.UnknownNameError, "no parameter"),
        (["objects.room.vertices.0.w"], et.UnknownNameError, "no parameter"),
        (["sensor.pose", "sensor.pose"], et.ModelError, "free already"),
        ({"sensor.pose": np.eye(3)}, ValueError, r'parameters\["sensor.pose"\]: expected the shape \(4, 4\)'),
        ({"sensor.pose": np.full((4, 4), np.nan)}, ValueError, "finite"),
        ({"sensor.pose": 1.0}, ValueError, "expected the shape"),
        ({"objects.room.facets.*.scattering": np.ones(3)}, ValueError, r"expected the shape \(12,\), got \(3,\)"),
        ({"objects.room.facets.*.scattering": np.full(12, np.nan)}, ValueError, r"scattering.*number 0 is NaN"),
        ({"objects.room.vertices.*": np.zeros((8, 2))}, ValueError, r"expected the shape \(8, 3\), got \(8, 2\)"),
        ({"objects.room.vertices.0": 1.0}, ValueError, r"expected the shape \(3,\), got \(\)"),
        ({"sensor.beam.divergence": "wide"}, TypeError, "sensor.beam.divergence.*real numbers"),
        ({3: 1.0}, TypeError, "parameters: expected paths"),
        (7, TypeError, "parameters: expected a list of paths"),
    ],
)
def test_wrong_parameters_are_refused(arena, urg, parameters, kind, text):
    for call in (et.vjp, lambda *a: et.jvp(*a, {}), et.predict):
        if call is et.predict and isinstance(parameters, list):
            continue
        with pytest.raises(kind, match=text):
            call(arena, urg, parameters)


def test_wrong_cotangents_and_tangents_are_refused(arena, urg):
    y, vjp = et.vjp(arena, urg, ["sensor.pose"])
    for cotangent, kind, text in [
        (y[:3], ValueError, r"cotangent: expected the shape \(682, 2\), got \(3, 2\)"),
        (np.full_like(y, np.nan), ValueError, "cotangent: all numbers have to be finite"),
        ("all", TypeError, "cotangent: "),
    ]:
        with pytest.raises(kind, match=text):
            vjp(cotangent)
    for tangents, kind, text in [
        ({"sensor.pose": [1, 2, 3]}, ValueError, r'tangents\["sensor.pose"\]: expected the shape \(6,\)'),
        ({"objects.mirror.pose": [0] * 6}, ValueError, 'tangents: "objects.mirror.pose" is not one of parameters'),
        ({"sensor.pose": [np.inf] * 6}, ValueError, "finite"),
        ([1], TypeError, "tangents"),
    ]:
        with pytest.raises(kind, match=text):
            et.jvp(arena, urg, ["sensor.pose"], tangents)
    with pytest.raises(ValueError, match="pose: parameters contain a value"):
        et.vjp(arena, urg, {"sensor.pose": np.eye(4)}, pose=np.eye(4))


def test_threads_that_call_at_once_get_the_results_of_calls_in_turn(wall, vlp):
    from concurrent.futures import ThreadPoolExecutor

    def found(step):
        factors = np.full(2 * GRID**2, 1 + 0.1 * step)
        y, vjp = et.vjp(wall, vlp, {"objects.wall.facets.*.scattering": factors}, pose=np.eye(4))
        return vjp(np.ones_like(y))["objects.wall.facets.*.scattering"]

    in_turn = [found(step) for step in range(4)]
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(found, range(4)))
    assert all(np.array_equal(a, b) for a, b in zip(in_turn, at_once, strict=True))
    assert not np.array_equal(in_turn[0], in_turn[3])


def test_memory_does_not_grow_with_calls(arena, urg):
    import resource

    paths = {"sensor.pose": arena.sensor_pose, "objects.room.vertices.*": None}

    def work(count):
        for _ in range(count):
            y, vjp = et.vjp(arena, urg, paths)
            vjp(np.ones_like(y))
            et.predict(arena, urg)
            et.jvp(arena, urg, paths, {"sensor.pose": np.ones(6)})

    work(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(60)
    # The arrays of one call are 100 kB: a leak of 60 would be 6 MB. Measured 112 kB.
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert growth < 2_000, growth


def test_random_light_paths_have_both_modes_and_refuse_triangles(arena):
    lidar = et.Lidar("hokuyo-urg-04lx").replace({"pattern.encoder.columns": 80, "receiver.phase.window": None})
    paths = ["sensor.pose", f"materials.{arena.materials[0]}.reflectance"]
    y, J, valid = et.jacobian(arena, lidar, paths, paths=16)
    same_y, vjp = et.vjp(arena, lidar, paths, paths=16)
    expected, seen = et.predict(arena, lidar, paths=16)
    assert np.array_equal(y, same_y, equal_nan=True) and np.array_equal(y, expected, equal_nan=True)
    assert np.array_equal(valid, vjp.valid) and np.array_equal(valid, seen)
    trees, _ = et.predict(arena, lidar)
    both = np.isfinite(y[:, 0]) & np.isfinite(trees[:, 0])
    assert both.any() and not np.array_equal(y[both], trees[both])

    cotangent = np.where(valid, np.random.default_rng(1).normal(size=y.shape), np.nan)
    found = vjp(cotangent)
    product = np.einsum("ij,ijk->k", np.where(valid, cotangent, 0), J)
    assert np.allclose(np.append(found["sensor.pose"], found[paths[1]]), product, rtol=1e-9, atol=1e-12)
    twist = np.random.default_rng(2).normal(size=6)
    _, change, _ = et.jvp(arena, lidar, paths, {"sensor.pose": twist}, paths=16)
    assert np.allclose(change, J[:, :, :6] @ twist, rtol=1e-9, atol=1e-12)

    for path in ["objects.room.facets.*.scattering", "objects.room.vertices.*"]:
        with pytest.raises(et.ModelError, match="several surfaces"):
            et.vjp(arena, lidar, [path], paths=16)
    with pytest.raises(ValueError, match="paths"):
        et.predict(arena, lidar, paths=0)
