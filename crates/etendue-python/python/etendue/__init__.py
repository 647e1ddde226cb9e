"""Physics-based, differentiable simulation of lidars.

A `Scene` and a `Lidar` are immutable values. `simulate` gives a `Sweep`, `simulate_batch` the images of many
poses, `Scene.raycast` the hits of rays, `jacobian` the derivatives of the expected measurements, and `fit`
estimates poses, materials and sensor parameters from a sweep. `render` gives pictures of cameras. `register`, `slam`,
`calibrate`, `correct`, `compare` and `run` are the commands of the command line. `etendue.mujoco` has lidars in MuJoCo models,
`etendue.gymnasium` observations of them.

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
from typing import TYPE_CHECKING

from . import correct
from ._cli import Report
from ._estimation import calibrate, compare, register, run, slam
from ._etendue import (
    CommandError,
    ConfigError,
    DepthError,
    DeviceError,
    EtendueError,
    FitError,
    FitResult,
    FormatError,
    Jacobian,
    Lidar,
    MappingError,
    ModelError,
    NoiseError,
    Picture,
    Pullback,
    RegisterError,
    RigError,
    Scene,
    SceneError,
    Sweep,
    Trajectory,
    TrajectoryError,
    UnknownNameError,
    WorldError,
    __version__,
    devices,
    draw,
    fit,
    jacobian,
    jvp,
    predict,
    presets,
    render,
    scenes,
    simulate,
    simulate_batch,
    vjp,
)

__all__ = [
    "CommandError",
    "ConfigError",
    "DepthError",
    "DeviceError",
    "EtendueError",
    "FitError",
    "FitResult",
    "FormatError",
    "Jacobian",
    "Lidar",
    "MappingError",
    "ModelError",
    "NoiseError",
    "Picture",
    "Pullback",
    "RegisterError",
    "Report",
    "RigError",
    "Scene",
    "SceneError",
    "Sweep",
    "Trajectory",
    "TrajectoryError",
    "UnknownNameError",
    "WorldError",
    "__version__",
    "calibrate",
    "compare",
    "correct",
    "devices",
    "draw",
    "fit",
    "jacobian",
    "jvp",
    "predict",
    "presets",
    "register",
    "render",
    "run",
    "scenes",
    "simulate",
    "simulate_batch",
    "slam",
    "vjp",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """Modules for other packages, imported when they are first used."""
        if name in ("gymnasium", "jax", "mujoco", "torch"):
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
