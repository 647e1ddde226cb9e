"""Wrong arguments raise exceptions that name them, with a remedy; none ends the process."""

import inspect

import numpy as np
import pytest

import etendue as et

EYE = np.eye(4)


def mirrored():
    return np.diag([1.0, 1, -1, 1])


@pytest.mark.parametrize(
    ("pose", "kind", "text"),
    [
        (np.eye(3), ValueError, r"pose: expected the shape \(4, 4\).*got \(3, 3\)"),
        (EYE * np.nan, ValueError, "pose: all numbers have to be finite"),
        (mirrored(), ValueError, "pose: .*have to be a rotation"),
        (2 * EYE, ValueError, "pose: the last row"),
        ("here", TypeError, "pose: expected an array of real numbers"),
        (object(), TypeError, "pose: expected an array of real numbers"),
        ([[1, 2], [3]], TypeError, "pose: expected an array of real numbers"),
        (EYE.astype(complex), TypeError, "pose: .*complex128"),
        (EYE.astype(bool), TypeError, "pose: .*bool"),
        (([0, 0], [0, 0, 0, 1]), ValueError, r"pose \(position\): expected the shape \(3,\), got \(2,\)"),
        (([0, 0, 0], [0, 0, 0, 2]), ValueError, r"pose \(quaternion\): the norm"),
        (([0, 0, np.inf], [0, 0, 0, 1]), ValueError, r"pose \(position\): .*finite"),
    ],
)
def test_wrong_poses_are_refused(arena, urg, pose, kind, text):
    with pytest.raises(kind, match=text):
        et.simulate(arena, urg, pose)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"seed": -1}, ValueError, "seed: expected a whole number from 0 to 18446744073709551615, got -1"),
        ({"seed": 1.5}, TypeError, "seed: "),
        ({"sweep": 2**32}, ValueError, "sweep: "),
        ({"time": np.nan}, ValueError, "time: "),
        ({"time": "now"}, TypeError, "time"),
        ({"threads": 0}, ValueError, "threads: expected 1 to 1024, got 0"),
        ({"threads": -3}, ValueError, "threads: "),
        ({"colour": "red"}, TypeError, "colour"),
        ({"device": "cuda"}, ValueError, r'device: expected "cpu", "gpu", "gpu:N" .*got "cuda"'),
        ({"device": "gpu:-1"}, ValueError, "device: .*gpu:-1"),
        ({"device": 0}, TypeError, "device"),
    ],
)
def test_wrong_settings_are_refused(arena, urg, arguments, kind, text):
    with pytest.raises(kind, match=text):
        et.simulate(arena, urg, **arguments)


def test_what_is_no_scene_is_refused_with_the_ways_to_load_one(urg):
    message = r"scene.*: expected a Scene, not str\nhelp: load one, as in et\.Scene\.arena\(\)"
    with pytest.raises(TypeError, match=message):
        et.simulate("arena", urg)
    with pytest.raises(TypeError, match="not NoneType"):
        et.simulate_batch(None, urg, [EYE])


def test_unknown_names_get_the_nearest(arena, urg):
    cases = [
        (lambda: et.Lidar("hokuyo-urg04"), "hokuyo-urg-04lx"),
        (lambda: et.Scene.load("arna"), "arena"),
        (lambda: urg["range.far"], "range.far_m"),
        (lambda: et.simulate(arena, urg).image("rnge"), "range"),
        (lambda: et.jacobian(arena, urg, ["sensor.pos"]), "sensor.pose"),
        (lambda: et.jacobian(arena, urg, ["sensor.pose"], motion="planer"), "planar"),
        (lambda: et.Scene.from_meshes({"a": (np.eye(3), [[0, 1, 2]], "woood")}), "wood"),
    ]
    for call, nearest in cases:
        with pytest.raises(et.UnknownNameError, match=f'did you mean "{nearest}"'):
            call()


def test_errors_of_changed_lidars_are_those_of_files(urg, tmp_path):
    with pytest.raises(et.ConfigError, match=r'(?s)hokuyo-urg-04lx.toml:\d+:\d+: unknown key "fare_m".*did you mean "far_m"'):
        urg.replace({"range.fare_m": 1.0})
    with pytest.raises(et.ConfigError, match="where a number is expected"):
        urg.replace({"range.far_m": "far"})
    with pytest.raises(et.ConfigError, match="far_m is -1.0 m"):
        urg.replace({"range.far_m": -1.0})
    with pytest.raises(et.UnknownNameError):
        urg.replace({"wavelength_nm.far": 1.0})
    with pytest.raises(TypeError, match="range.far_m: expected a number"):
        urg.replace({"range.far_m": object()})
    with pytest.raises(ValueError, match="is no key"):
        urg.replace({"range..far_m": 1})

    # The same text as of a file with the same mistake
    path = tmp_path / "hokuyo-urg-04lx.toml"
    path.write_text(urg.toml.replace("far_m", "fare_m"))
    with pytest.raises(et.ConfigError, match='unknown key "fare_m"'):
        et.Lidar(path)


def test_errors_of_files_have_their_class(tmp_path, arena, urg):
    with pytest.raises(et.FormatError, match="(?s)cannot read.*help: "):
        et.Scene.load(tmp_path / "no.toml")
    with pytest.raises(et.FormatError, match="(?s)ending.*help: use one of .pcd"):
        et.simulate(arena, urg).save(tmp_path / "scan.foo")
    with pytest.raises(et.FormatError, match="cannot write"):
        urg.save(tmp_path)
    with pytest.raises(et.FormatError, match="from_meshes"):
        et.Scene.load("house.obj")
    bad = tmp_path / "bad.toml"
    bad.write_text('version = 1\n[[objects]]\nname = "ball"\nshape.sphere = { radius_m = -1 }\nmaterial = "wood"\n')
    with pytest.raises(et.EtendueError, match="bad.toml"):
        et.Scene.load(bad)
    assert not (tmp_path / "scan.foo").exists()


@pytest.mark.parametrize(
    ("mesh", "kind", "text"),
    [
        (([[1, 2]], [[0, 1, 2]], "wood"), ValueError, r'vertices of "a": expected the shape \(n, 3\), got \(1, 2\)'),
        ((np.eye(3), [[0, 1]], "wood"), ValueError, r'triangles of "a": expected the shape \(m, 3\)'),
        ((np.eye(3), [[0.0, 1, 2]], "wood"), TypeError, 'triangles of "a": expected an array of whole numbers'),
        ((np.eye(3), [[0, 1, -2]], "wood"), ValueError, "-2 is no index"),
        ((np.eye(3), [[0, 1, 7]], "wood"), et.SceneError, "vertex 7"),
        ((np.eye(3) * np.nan, [[0, 1, 2]], "wood"), et.SceneError, "finite"),
        ((np.eye(3), np.zeros((0, 3), int), "wood"), et.SceneError, "no triangle"),
        ((np.eye(3), [[0, 1, 2]], 5), TypeError, "material"),
        ((np.eye(3), "wood"), TypeError, 'mesh of "a": expected a mesh of trimesh or Open3D, got ndarray'),
        ((np.eye(3),), TypeError, r"\(vertices, triangles, material\)"),
        ("wood", TypeError, r"\(vertices, triangles, material\)"),
    ],
)
def test_wrong_meshes_are_refused(mesh, kind, text):
    with pytest.raises(kind, match=text):
        et.Scene.from_meshes({"a": mesh})


@pytest.mark.parametrize(
    ("rays", "kind", "text"),
    [
        ([1.0, 2, 3], ValueError, r"rays: expected the shape \(..., 6\), got \(3,\)"),
        (1.0, ValueError, r"rays: expected the shape \(..., 6\), got \(\)"),
        ([0, 0, 0, 0, 0, 0], ValueError, "rays: the direction of ray 0 has the length 0"),
        ([0, 0, 0, np.nan, 0, 0], ValueError, "rays: .*finite"),
        (["a"] * 6, TypeError, "rays: expected an array of real numbers"),
    ],
)
def test_wrong_rays_are_refused(arena, rays, kind, text):
    with pytest.raises(kind, match=text):
        arena.raycast(rays)


def test_wrong_fits_are_refused(arena, urg, vlp):
    measured = et.simulate(arena, urg)
    with pytest.raises(et.FitError, match="scan 0 has 28944 beams, the sensor has 682"):
        et.fit(arena, urg, et.simulate(arena, vlp), ["sensor.pose"])
    with pytest.raises(et.FitError, match="no valid range"):
        et.fit(arena, urg, np.full(682, np.nan), ["sensor.pose"])
    with pytest.raises(et.FitError, match="no parameter is free"):
        et.fit(arena, urg, measured, [])
    with pytest.raises(et.ModelError, match="free already"):
        et.fit(arena, urg, measured, ["sensor.pose", "sensor.pose"])
    with pytest.raises(ValueError, match="is not free"):
        et.fit(arena, urg, measured, ["sensor.pose"], start={"objects.mirror.pose": EYE})
    with pytest.raises(TypeError, match="expected a pose, got a number"):
        et.fit(arena, urg, measured, ["sensor.pose"], start={"sensor.pose": 1.0})
    with pytest.raises(ValueError, match=r"measured: expected the shape"):
        et.fit(arena, urg, np.zeros((2, 2, 2)), ["sensor.pose"])


def test_a_name_in_place_of_a_list_of_names_is_refused(arena, urg):
    sweep = et.simulate(arena, urg)
    for call, name in [
        (lambda: et.jacobian(arena, urg, "sensor.pose"), "free"),
        (lambda: et.fit(arena, urg, sweep, "sensor.pose"), "free"),
        (lambda: arena.raycast([0, 0, 0, 1, 0, 0], keys="t_hit"), "keys"),
    ]:
        with pytest.raises(TypeError, match=f"{name}: expected a list of names, got str"):
            call()


@pytest.mark.parametrize("wrong", [None, 5, "text", b"bytes", object(), [], {}, EYE, float("nan"), lambda: 0])
def test_no_function_accepts_or_dies_of_wrong_types(wrong, arena, urg):
    """Every positional argument of every function and method, replaced by an object of a wrong type."""
    sweep = et.simulate(arena, urg)
    good = {
        et.simulate: (arena, urg),
        et.simulate_batch: (arena, urg, EYE[None]),
        et.jacobian: (arena, urg, ["sensor.pose"]),
        et.fit: (arena, urg, sweep, ["sensor.pose"]),
        et.Trajectory: ([0.0], EYE[None]),
        et.draw: ({"a": (0.0, 1.0)}, 3),
        et.render: (arena, "fisheye", EYE),
    }
    # Defaults, and arguments that are valid.
    accepted = {(et.render, 1): type(None), (et.render, 2): (type(None), np.ndarray), (et.draw, 0): dict, (et.draw, 1): int}
    calls = 0
    for function, arguments in good.items():
        for place in range(len(arguments)):
            changed = list(arguments)
            changed[place] = wrong
            if function is et.jacobian and place == 2 and isinstance(wrong, (list, dict)):
                # No unknown is a Jacobian without columns.
                continue
            if isinstance(wrong, accepted.get((function, place), ())):
                continue
            with pytest.raises((TypeError, ValueError, et.EtendueError)):
                function(*changed)
            calls += 1
    for call in [et.Lidar, et.Scene.load, et.Scene.from_meshes, arena.raycast, sweep.image, sweep.save, urg.__getitem__]:
        with pytest.raises((TypeError, ValueError, et.EtendueError)):
            call(wrong)
        calls += 1
    if not isinstance(wrong, str):
        with pytest.raises(TypeError):
            urg.save(wrong)
    assert calls >= 18


def test_every_exception_is_documented_and_below_the_base():
    kinds = [kind for kind in vars(et).values() if inspect.isclass(kind) and issubclass(kind, Exception)]
    assert len(kinds) == 16
    assert all(issubclass(kind, et.EtendueError) and kind.__doc__ for kind in kinds)
    assert all(kind.__module__ == "etendue" for kind in kinds)
