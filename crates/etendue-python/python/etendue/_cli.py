"""The command `etendue`, and results of its commands."""

import json
import sys
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from . import _etendue
from ._etendue import _run_command

# Runs the command line in a new interpreter with the modules of this one.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from etendue._cli import _child; _child()"
)

# Separates the text of an error and the name of its class.
_SEPARATOR = "\x1e"

# Exit codes of failures; others are those of a result with a verdict.
_INVALID_ARGUMENTS = 2


def main() -> None:
    """Run the command line with `sys.argv`, and exit with its code."""
    code, _ = _run_command(["etendue", *sys.argv[1:]])
    sys.exit(code)


def _child() -> None:
    """Run the command line as `main`, and write the name of the exception of an error to standard error."""
    code, name = _run_command(["etendue", *sys.argv[1:]])
    if name is not None:
        sys.stderr.write(_SEPARATOR + name)
    sys.exit(code)


class Report(Mapping[str, Any]):
    """Result of a command: a mapping whose values are also attributes.

    The keys are those of its JSON, which `etendue COMMAND --json` prints, and contain their units. Arrays are NumPy
    arrays.

    Examples
    --------
    >>> import etendue as et
    >>> import numpy as np
    >>> points = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    >>> found = et.register(points, points + [0.01, 0, 0], method="icp")
    >>> found["converged"], found.method
    (True, 'icp')
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(f"no result is named {key!r}; there are {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        shown = {key: value for key, value in self.items() if isinstance(value, (str, bool, int, float))}
        return f"Report({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def words(**options: Any) -> list[str]:
    """Words of options of the command line: False and None omit an option, True has no value, lists have several."""
    result = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            result.append(option)
        elif isinstance(value, (list, tuple)):
            result.extend([option, *(word(name, one) for one in value)])
        else:
            result.append(f"{option}={word(name, value)}")
    return result


def word(name: str, value: Any) -> str:
    """A number, a text or a path as a word of the command line."""
    if isinstance(value, (str, PathLike)):
        return str(fspath(value))
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    raise TypeError(f"{name}: expected a number, a text or a path, got {type(value).__name__}")


def call(*arguments: str, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a command in a process of its own, and return its JSON.

    A verdict other than good is part of the result, not an error. Messages have the names of arguments, such as
    `scans[3]`, in place of the paths of the temporary files that `names` maps to them.
    """
    import subprocess

    program = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)]
    done = subprocess.run([*program, *arguments, "--json"], capture_output=True, text=True, check=False)
    in_json = {json.dumps(path)[1:-1]: name for path, name in (names or {}).items()}
    found = _json(_renamed(done.stdout, in_json))
    if found is None or done.returncode == _INVALID_ARGUMENTS:
        text, _, name = _renamed(done.stderr, names or {}).partition(_SEPARATOR)
        text = text.strip().removeprefix("×").removeprefix("error:").strip()
        kind: type[Exception] = getattr(_etendue, name or "CommandError")
        raise kind(text or f"the command ended with exit code {done.returncode}")
    return found


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with names in place of paths, of which one may begin with another."""
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    return text


def _json(text: str) -> dict[str, Any] | None:
    """The JSON object that a text contains; None if it has none."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    return dict(found)
