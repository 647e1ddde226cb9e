"""The package: documentation, types, import time, memory."""

import copy
import doctest
import importlib.util
import inspect
import pickle
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ROOT

import etendue as et
import etendue.gymnasium
import etendue.mujoco


def documented():
    """All public objects with a docstring, by name."""
    for module in (et, et.correct, etendue.mujoco, etendue.gymnasium):
        yield module.__name__, module
        for name in module.__all__:
            value = getattr(module, name)
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value) and not issubclass(value, Exception):
                for member in vars(value):
                    if not member.startswith("_"):
                        yield f"{module.__name__}.{name}.{member}", getattr(value, member)


def test_every_public_object_is_documented():
    names = [name for name, value in documented() if not isinstance(value, (str, int))]
    missing = [name for name, value in documented() if not isinstance(value, (str, int)) and not value.__doc__]
    assert len(names) > 50 and missing == []


def test_examples_of_the_documentation_run():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    examples = 0
    for name, value in documented():
        if isinstance(value, (str, int)):
            continue
        test = parser.get_doctest(value.__doc__ or "", {}, name, None, None)
        examples += len(test.examples)
        runner.run(test)
    assert examples > 40
    assert runner.summarize(verbose=False).failed == 0


# Calls that need files of the user.
WITHOUT_EXAMPLE = {"apply", "calibrate", "run", "save", "train"}


def test_functions_have_examples():
    functions = [value for _, value in documented() if inspect.isroutine(value) and not inspect.ismethoddescriptor(value)]
    functions = [value for value in functions if "." not in getattr(value, "__qualname__", "")]
    missing = {value.__name__ for value in functions if ">>>" not in value.__doc__}
    assert len(functions) >= 14 and missing <= WITHOUT_EXAMPLE


def test_type_stubs_are_those_of_the_module(tmp_path):
    # Modules of frameworks that are not installed cannot be imported.
    frameworks = [name for name in ("jax", "torch") if importlib.util.find_spec(name) is None]
    missing = tmp_path / "missing"
    missing.write_text("".join(f"etendue\\.{name}\n" for name in frameworks))
    command = [sys.executable, "-m", "mypy.stubtest", "etendue", "--allowlist", missing]
    command += ["--mypy-config-file", ROOT / "pyproject.toml"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_import_is_fast():
    code = "import numpy, time; t = time.process_time(); import etendue; print(time.process_time() - t)"
    seconds = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    # Measured 0.015 s.
    assert seconds < 0.2


def test_the_import_imports_no_framework():
    code = "import sys, etendue; print([name for name in ('jax', 'torch') if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_missing_framework_is_named():
    code = (
        "import sys; sys.modules.update(torch=None, jax=None)\n"
        "import etendue\n"
        "for name in ('torch', 'jax'):\n"
        "    try: getattr(etendue, name)\n"
        "    except ImportError as error: print(str(error).splitlines()[1])\n"
        "try: etendue.tensorflow\n"
        "except AttributeError as error: print(error)"
    )
    lines = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert lines[:2] == ["help: pip install torch", "help: pip install jax"]
    assert "no attribute 'tensorflow'" in lines[2]


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert et.__version__ == version("etendue")


def test_values_are_copied_and_pickled(arena, urg, tmp_path):
    times, poses = [0.0, 0.1, 0.3], np.stack([arena.sensor_pose] * 3)
    poses[:, 0, 3] += 0.1, 0.2, 0.25
    (tmp_path / "own.toml").write_text(
        'version = 1\n[[objects]]\nname = "wall"\nshape.box = { size_m = [0.1, 4, 4] }\nposition_m = [2, 0, 0]\nmaterial = "wood"\n'
    )
    corners = np.array([[2.0, -1, -1], [2, 1, -1], [2, 1, 1], [2, -1, 1]])
    trajectory, lidar = et.Trajectory(times, poses, interpolation="cubic"), urg.replace({"range.far_m": 3.0}, name="mine")
    scenes = [
        arena,
        et.Scene.load("patio"),
        et.Scene.load(tmp_path / "own.toml"),
        et.Scene.from_meshes({"a": (corners, [[0, 2, 1]], "wood"), "b": (corners, [[0, 3, 2]], "brick")}, name="walls"),
    ]
    for scene in scenes:
        copies = pickle.loads(pickle.dumps((scene, lidar, trajectory)))
        expected, found = (et.simulate(*three, seed=2, truth=True) for three in ((scene, lidar, trajectory), copies))
        assert found.points.tobytes() == expected.points.tobytes()
        assert found.truth["material"].tobytes() == expected.truth["material"].tobytes()
        assert copies[0].name == scene.name and copies[1].name == "mine" and copies[2].interpolation == "cubic"
        for value in (scene, lidar, trajectory, expected):
            assert copy.copy(value) is value and copy.deepcopy(value) is value
    with pytest.raises(TypeError, match="cannot pickle a Sweep\nhelp: return its arrays"):
        pickle.dumps(expected)


CALLS = {
    "simulate": lambda scene, lidar, k: et.simulate(scene, lidar, seed=k, truth=True).truth,
    "changed": lambda scene, lidar, k: et.simulate(scene, lidar, bodies=BODIES, values=VALUES, weather={"fog": 20.0}).points,
    "batch": lambda scene, lidar, k: et.simulate_batch(scene, lidar, POSES, labels=True, randomise={"sensor.range.far_m": (4, 5)}),
    "draw": lambda scene, lidar, k: et.draw({"a": (0.0, 1.0)}, 1000, seed=k),
    "raycast": lambda scene, lidar, k: scene.raycast(RAYS, bodies=BODIES),
    "image": lambda scene, lidar, k: et.simulate(scene, lidar, seed=k).image("range"),
    "plot": lambda scene, lidar, k: SWEEPS[0].plot(),
    "trajectory": lambda scene, lidar, k: et.Trajectory([0.0, 1.0], POSES[:2]).poses,
    "meshes": lambda scene, lidar, k: et.Scene.from_meshes({"a": (np.eye(3), [[0, 1, 2]], "wood")}),
    "lidar": lambda scene, lidar, k: lidar.replace({"range.far_m": 4.0}),
    "error": lambda scene, lidar, k: refused(lambda: et.Lidar("nothing")),
    "jacobian": lambda scene, lidar, k: et.jacobian(scene, lidar, ["sensor.pose"]).J,
}
RAYS = np.tile([0.0, 0, 0.1, 1, 0, 0], (1000, 1))
POSES = np.tile(et.Scene.arena().sensor_pose, (3, 1, 1))
BODIES = {"mirror": np.eye(4)}
VALUES = {"materials.wall.reflectance": 0.5}
SWEEPS = [et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"))]


def refused(call):
    try:
        call()
    except et.EtendueError:
        pass


@pytest.mark.parametrize("name", CALLS)
def test_memory_does_not_grow_with_calls(arena, name):
    # A lidar of few beams: what leaks with each call, leaks here.
    urg = et.Lidar("hokuyo-urg-04lx").replace({"pattern.encoder.columns": 68})
    call = CALLS[name]
    # A picture takes 50 ms, and a leak of one would be 60 kB.
    count = 30 if name == "plot" else 1000
    for k in range(count // 10):
        call(arena, urg, k)
    before = memory()
    for k in range(count):
        call(arena, urg, k)
    # A leak of 10 kB in each of 1,000 calls would be 10,000 kB. Measured at most 64.
    assert memory() - before < 1000


def memory():
    """Resident memory of this process, kB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def test_two_threads_at_once_give_the_results_of_one_after_the_other(arena, urg):
    calls = [(name, call) for name, call in CALLS.items() if name in ("changed", "batch", "raycast", "jacobian", "draw")]

    def numbers(result):
        """All numbers of a result."""
        if isinstance(result, dict):
            return [array.tobytes() for array in result.values()]
        return [array.tobytes() for array in (result if isinstance(result, tuple) else (result,))]

    expected = {name: numbers(call(arena, urg, 1)) for name, call in calls}
    found = []

    def work():
        for name, call in calls:
            found.append(numbers(call(arena, urg, 1)) == expected[name])

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * (2 * len(calls))
