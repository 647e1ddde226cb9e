"""Ray casting: equal to Open3D up to its rounding, and to closed forms."""

import numpy as np
import pytest

import etendue as et

MISS = et.Scene.INVALID_ID


def bumpy_sphere(count):
    """A closed surface of 2 count² triangles."""
    polar = np.linspace(0, np.pi, count + 1)
    around = np.linspace(0, 2 * np.pi, count, endpoint=False)
    polar, around = np.meshgrid(polar, around, indexing="ij")
    radius = 2 + 0.3 * np.sin(3 * around) * np.sin(polar) ** 2
    vertices = radius[..., None] * np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1
    )
    number = np.arange((count + 1) * count).reshape(count + 1, count)
    a, b = number[:-1], np.roll(number[:-1], -1, axis=1)
    c, d = number[1:], np.roll(number[1:], -1, axis=1)
    triangles = np.concatenate([np.stack([a, c, d], -1), np.stack([a, d, b], -1)]).reshape(-1, 3)
    # The triangles at the poles are degenerate.
    vertices = vertices.reshape(-1, 3).astype(np.float32)
    corners = vertices[triangles].astype(float)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return vertices, triangles[area > 1e-9].astype(np.uint32)


def random_rays(count):
    generator = np.random.default_rng(1)
    origin = generator.normal(size=(count, 3))
    origin *= 5 / np.linalg.norm(origin, axis=1, keepdims=True)
    # Aim at the surface and past it, with directions of any length.
    direction = generator.uniform(-2.5, 2.5, size=(count, 3)) - origin
    return np.concatenate([origin, direction], axis=1).astype(np.float32)


def test_hits_are_those_of_open3d():
    open3d = pytest.importorskip("open3d", exc_type=ImportError)
    vertices, triangles = bumpy_sphere(60)
    rays = random_rays(100_000)
    reference = open3d.t.geometry.RaycastingScene()
    reference.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(triangles))
    expected = {key: value.numpy() for key, value in reference.cast_rays(open3d.core.Tensor(rays)).items()}
    hits = et.Scene.from_meshes({"body": (vertices, triangles, "white-paint")}).raycast(rays)

    assert hits.keys() == expected.keys()
    assert all(hits[key].shape == expected[key].shape for key in hits)
    missed = hits["geometry_ids"] == MISS
    assert 0.1 < missed.mean() < 0.9
    # Rays that graze the outline can differ: measured 0 of 100,000.
    agree = missed == (expected["geometry_ids"] == open3d.t.geometry.RaycastingScene.INVALID_ID)
    assert (~agree).sum() <= 5
    same = agree & ~missed & (hits["primitive_ids"] == expected["primitive_ids"])
    # Rays at edges can hit either triangle: measured 0 of 100,000.
    assert (agree & ~missed & ~same).sum() <= 20
    error = np.abs(hits["t_hit"][same] - expected["t_hit"][same])
    # Single precision of Open3D: measured 6.6e-6.
    assert error.max() < 2e-5
    assert np.isinf(hits["t_hit"][missed]).all()
    assert (hits["primitive_ids"][missed] == MISS).all()
    # Measured 8e-5 and 2.2e-5.
    for key in ["primitive_uvs", "primitive_normals"]:
        assert np.abs(hits[key] - expected[key])[same].max() < 5e-4, key


def test_hits_do_not_depend_on_precision_order_and_number_of_the_rays(arena):
    # Rays of a spinning lidar, those rays at random (which are sorted), and rays of many origins.
    generator = np.random.default_rng(2)
    azimuth, elevation = np.meshgrid(np.linspace(0, 6, 2000), np.linspace(-0.1, 0.1, 16), indexing="ij")
    flat = np.cos(elevation)
    direction = np.stack([np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)], -1).reshape(-1, 3)
    turned = np.concatenate([np.broadcast_to([0.1, 0.2, 0.1], direction.shape), direction], 1).astype(np.float32)
    order = generator.permutation(len(turned))
    for rays in [turned, turned[order], random_rays(20_000)]:
        hits = arena.raycast(rays)
        # Measured 1 of the lidar and 0.066 of the others.
        assert (hits["geometry_ids"] != MISS).mean() > 0.05
        double = arena.raycast(rays.astype(float), threads=1)
        few = [arena.raycast(part) for part in np.array_split(rays, 40)]
        for key, values in hits.items():
            assert np.array_equal(values, double[key]), key
            assert np.array_equal(values, np.concatenate([part[key] for part in few])), key
    hits, shuffled = arena.raycast(turned), arena.raycast(turned[order])
    assert all(np.array_equal(hits[key][order], shuffled[key]) for key in hits)


def test_very_short_and_long_directions_are_normalised(arena):
    for size in [1e-300, 1e-200, 1e-30, 1e30, 1e150, 1e300]:
        hits = arena.raycast([[0, 0, 0.1, 1, 0, 0], [0, 0, 0.1, 0.6 * size, 0.8 * size, 0]])
        unit = arena.raycast([0, 0, 0.1, 0.6, 0.8, 0])
        # Rounding of the unit vector; measured 2e-16.
        assert hits["t_hit"][1] * size == pytest.approx(float(unit["t_hit"]), rel=1e-14)


def test_shapes_follow_the_rays(arena):
    for shape in [(), (5,), (4, 7), (2, 3, 4), (0,)]:
        rays = np.zeros((*shape, 6))
        rays[..., 3] = 1.0
        hits = arena.raycast(rays)
        assert hits["t_hit"].shape == hits["primitive_ids"].shape == shape
        assert hits["primitive_uvs"].shape == (*shape, 2)
        assert hits["primitive_normals"].shape == (*shape, 3)


def test_rays_of_one_origin_have_the_results_that_are_wanted(arena):
    generator = np.random.default_rng(4)
    origin, directions = np.array([0.1, 0.2, 0.1]), generator.normal(size=(50, 60, 3))
    rays = np.concatenate([np.broadcast_to(origin, directions.shape), directions], -1)
    hits = arena.raycast(rays)
    assert (hits["geometry_ids"] != MISS).mean() > 0.05
    for keys in [["t_hit", "geometry_ids"], ("primitive_normals",), ["primitive_uvs", "primitive_ids"], []]:
        wanted = arena.raycast(directions, origin=origin, keys=keys)
        assert set(wanted) == set(keys)
        assert all(np.array_equal(wanted[key], hits[key]) for key in keys)
    with pytest.raises(et.UnknownNameError, match='did you mean "t_hit"'):
        arena.raycast(rays, keys=["t_hits"])
    with pytest.raises(ValueError, match="with an origin, got"):
        arena.raycast(rays, origin=origin)
    for wrong in [[0.0, 1.0], [[0.0, 0.0, 0.0]], [0.0, np.nan, 0.0]]:
        with pytest.raises(ValueError, match="origin"):
            arena.raycast(directions, origin=wrong)


def test_distances_are_in_lengths_of_the_direction():
    corners = np.array([[3.0, -1, -1], [3, 1, -1], [3, 1, 1], [3, -1, 1]])
    scene = et.Scene.from_meshes({"wall": (corners, [[0, 2, 1], [0, 3, 2]], "white-paint")})
    rays = np.array([[0, 0, 0, 1, 0, 0], [0, 0, 0, 2, 0, 0], [0, 0, 0, 1, 0.1, 0], [0, 0, 0, -1, 0, 0]])
    hits = scene.raycast(rays)
    assert np.allclose(hits["t_hit"], [3, 1.5, 3, np.inf], rtol=1e-15)
    assert np.array_equal(hits["primitive_normals"][0], [-1, 0, 0])
    # Squares of these lengths overflow or underflow.
    for length in [1e-300, 1e-160, 1e160, 1e300]:
        assert scene.raycast([0, 0, 0, length, 0, 0])["t_hit"] == pytest.approx(3 / length, rel=1e-14)


def test_threads_and_order_do_not_change_hits(arena):
    rays = random_rays(20_000).astype(float)
    rays[:, :3] *= 0.02
    one, many = arena.raycast(rays, threads=1), arena.raycast(rays[::-1], threads=3)
    for key in one:
        assert np.array_equal(one[key], many[key][::-1]), key
