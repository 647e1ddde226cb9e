"""Exchange with other packages: meshes of trimesh and Open3D, Arrow."""

from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

import etendue as et


def test_meshes_of_trimesh_and_open3d_are_those_of_their_arrays():
    ball = trimesh.creation.icosphere(subdivisions=2, radius=1.5)
    tensor = lambda values: SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: values))
    vertices, faces = np.array(ball.vertices), np.array(ball.faces)
    given = [
        (vertices, faces, "wood"),
        (ball, "wood"),
        # The attributes of open3d.geometry.TriangleMesh and of open3d.t.geometry.TriangleMesh
        (SimpleNamespace(vertices=vertices.tolist(), triangles=faces), "wood"),
        (SimpleNamespace(vertex={"positions": tensor(vertices)}, triangle={"indices": tensor(faces)}), "wood"),
    ]
    rays = np.hstack([np.zeros((50, 3)), np.random.default_rng(1).normal(size=(50, 3))])
    hits = [et.Scene.from_meshes({"ball": mesh}).raycast(rays) for mesh in given]
    assert np.isfinite(hits[0]["t_hit"]).all()
    for other in hits[1:]:
        assert all(np.array_equal(other[key], hits[0][key]) for key in hits[0])


def test_arrow_tables_share_the_memory_of_sweeps(arena, urg):
    pyarrow = pytest.importorskip("pyarrow")
    sweep = et.simulate(arena, urg, truth=True)
    table = sweep.to_arrow()
    assert table.num_rows == len(sweep) and "true_label" in table.column_names
    for name in ["range", "intensity", "time", "ring", "column"]:
        column = table[name].chunk(0)
        assert np.array_equal(column.to_numpy(), getattr(sweep, name))
        assert column.buffers()[1].address == getattr(sweep, name).ctypes.data
    points = table["points"].chunk(0).flatten()
    assert points.buffers()[1].address == sweep.points.ctypes.data
    # Other libraries read the sweep itself.
    assert pyarrow.table(sweep).equals(table)


def test_arrow_needs_its_package(arena, urg, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match="pyarrow"):
        et.simulate(arena, urg).to_arrow()


def test_dlpack_shares_the_memory_of_sweeps(arena, urg):
    ranges = et.simulate(arena, urg).range
    try:
        shared = np.from_dlpack(ranges)
    except BufferError:
        pytest.skip("NumPy before 2.1 has no DLPack of read-only arrays")
    assert len(shared) > 600 and shared.ctypes.data == ranges.ctypes.data and not shared.flags.writeable
