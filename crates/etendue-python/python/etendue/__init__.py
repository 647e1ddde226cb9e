"""Physics-based, differentiable simulation of lidars.

A `Scene` and a `Lidar` are immutable values. `simulate` gives a `Sweep`, `simulate_batch` the images of many
poses, `Scene.raycast` the hits of rays, `jacobian` the derivatives of the expected measurements, and `fit`
estimates poses, materials and sensor parameters from a sweep.

Lengths are in metres, angles in radians, times in seconds; keys of files contain their unit. Frames are x
forward, y left, z up. Results depend on their arguments only, not on the number of threads.

Examples
--------
>>> import etendue as et
>>> sweep = et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"), seed=1)
>>> sweep.points.shape == (len(sweep), 3)
True
"""

import importlib
from types import ModuleType

from ._etendue import (
    ConfigError,
    EtendueError,
    FitError,
    FitResult,
    FormatError,
    Jacobian,
    Lidar,
    ModelError,
    Pullback,
    Scene,
    SceneError,
    Sweep,
    TrajectoryError,
    UnknownNameError,
    WorldError,
    __version__,
    fit,
    jacobian,
    jvp,
    predict,
    presets,
    scenes,
    simulate,
    simulate_batch,
    vjp,
)

__all__ = [
    "ConfigError",
    "EtendueError",
    "FitError",
    "FitResult",
    "FormatError",
    "Jacobian",
    "Lidar",
    "ModelError",
    "Pullback",
    "Scene",
    "SceneError",
    "Sweep",
    "TrajectoryError",
    "UnknownNameError",
    "WorldError",
    "__version__",
    "fit",
    "jacobian",
    "jvp",
    "predict",
    "presets",
    "scenes",
    "simulate",
    "simulate_batch",
    "vjp",
]


def __getattr__(name: str) -> ModuleType:
    """The modules of frameworks, which are imported when they are first used."""
    if name in ("jax", "torch"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
