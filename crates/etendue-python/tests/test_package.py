"""The package: documentation, types, import time, memory."""

import doctest
import importlib.util
import inspect
import resource
import subprocess
import sys

import numpy as np
from conftest import ROOT

import etendue as et


def documented():
    """All public objects with a docstring, by name."""
    yield "etendue", et
    for name in et.__all__:
        value = getattr(et, name)
        yield name, value
        if inspect.isclass(value) and not issubclass(value, Exception):
            for member in vars(value):
                if not member.startswith("_"):
                    yield f"{name}.{member}", getattr(value, member)


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


def test_functions_have_examples():
    functions = [value for _, value in documented() if inspect.isbuiltin(value) and value.__name__ != "save"]
    missing = [value.__name__ for value in functions if ">>>" not in value.__doc__]
    assert len(functions) >= 6 and missing == []


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
    # Measured 0.006 s.
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


def test_memory_does_not_grow_with_calls(arena, urg):
    rays = np.tile([0.0, 0, 0.1, 1, 0, 0], (1000, 1))

    def work(count):
        for seed in range(count):
            sweep = et.simulate(arena, urg, seed=seed, truth=True)
            sweep.points, sweep.range, sweep.image("range"), sweep.truth
            arena.raycast(rays)
            try:
                et.Lidar("nothing")
            except et.UnknownNameError:
                pass
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(200)
    # The arrays of one call are 100 kB: a leak of 1,000 would be 100 MB. Measured 0.
    assert work(1000) - before < 8000
