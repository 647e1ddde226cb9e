"""Differentiable simulation in PyTorch.

The functions are operators of `torch.library` with reverse-mode derivatives. They run on the CPU, in double
precision inside, and under `torch.compile`.
"""

import functools
import itertools
import weakref
from typing import Any

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("etendue.torch needs PyTorch\nhelp: pip install torch") from error

from ._differentiable import Differentiable
from ._etendue import Lidar, Scene

__all__ = ["Simulator", "simulate"]

# Operators take tensors, numbers and texts only: simulators have names.
_NUMBERS = itertools.count(1)
_SIMULATORS: weakref.WeakValueDictionary[str, "Simulator"] = weakref.WeakValueDictionary()


class Simulator:
    """Expected measurements of a scene and a lidar as a function of tensors.

    Parameters
    ----------
    scene : Scene
    lidar : Lidar
    pose : array of the shape (4, 4), or (position, quaternion), optional
        Pose of the sensor, unless it is a parameter of the call. Default: that of the scene file.
    edges : bool, optional
        Whether derivatives contain the motion of edges across beams. Default: if the pose of an object is a
        parameter.
    paths : int, optional
        Number of random light paths per ray, for light that several rough surfaces reflect; they are the same at
        every call. Default: ray trees, which only follow mirrors and glass.
    threads : int, optional
        Number of threads; the results do not depend on it.

    Examples
    --------
    >>> import etendue as et
    >>> import torch
    >>> simulator = et.torch.Simulator(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"))
    >>> factors = torch.ones(12, requires_grad=True)
    >>> y, valid = simulator({"objects.room.facets.*.scattering": factors})
    >>> y[valid].sum().backward()
    >>> factors.grad.shape
    torch.Size([12])
    """

    def __init__(
        self,
        scene: Scene,
        lidar: Lidar,
        *,
        pose: Any = None,
        edges: bool | None = None,
        paths: int | None = None,
        threads: int | None = None,
    ) -> None:
        self._function = Differentiable(scene, lidar, pose, edges, paths, threads)
        self._beams = self._function.beams
        self._name = f"simulator {next(_NUMBERS)}"
        _SIMULATORS[self._name] = self

    def __call__(self, parameters: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Expected range and intensity of every beam.

        Parameters
        ----------
        parameters : dict of str to tensor, array or number
            Values by the paths of `etendue.vjp`, of the shapes there; poses are matrices (4, 4). Tensors are
            differentiated. The result has the greatest precision among them.

        Returns
        -------
        y : tensor (beams, 2)
            Range (m) and intensity (counts); NaN without a return.
        valid : bool tensor (beams, 2)
            Where a beam has a return. Derivatives by other elements of `y` have no effect.

        Raises
        ------
        TypeError, ValueError
            A tensor is not of float32 or float64, or not on the CPU.
        """
        tensors, dtype = _tensors(parameters)
        y = _measurements(tensors, "\n".join(parameters), self._name, self._beams, dtype)
        return y, ~torch.isnan(y)


def simulate(
    scene: Scene,
    lidar: Lidar,
    parameters: dict[str, Any],
    *,
    pose: Any = None,
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected range and intensity of every beam as a differentiable function of tensors.

    The last eight combinations of scene, lidar and options are kept for later calls. Under `torch.compile` with
    `fullgraph=True`, make a `Simulator` before, which has to exist until the backward pass.

    Parameters
    ----------
    scene : Scene
    lidar : Lidar
    parameters : dict of str to tensor, array or number
        Values by the paths of `etendue.vjp`, of the shapes there; poses are matrices (4, 4). Tensors are
        differentiated. The result has the greatest precision among them.
    pose : array of the shape (4, 4), or (position, quaternion), optional
        Pose of the sensor, unless it is one of `parameters`. Default: that of the scene file.
    edges : bool, optional
        Whether derivatives contain the motion of edges across beams. Default: if the pose of an object is a
        parameter.
    paths : int, optional
        Number of random light paths per ray, for light that several rough surfaces reflect; they are the same at
        every call. Default: ray trees, which only follow mirrors and glass.
    threads : int, optional
        Number of threads; the results do not depend on it.

    Returns
    -------
    y : tensor (beams, 2)
        Range (m) and intensity (counts), without noise and rounding; NaN without a return.
    valid : bool tensor (beams, 2)
        Where a beam has a return. Derivatives by other elements of `y` have no effect.

    Raises
    ------
    UnknownNameError
        No parameter has the path.
    TypeError, ValueError
        A value has the wrong shape, is not finite, is not of float32 or float64, or is not on the CPU.

    Examples
    --------
    A pose as the exponential of a twist, for an optimiser:

    >>> import etendue as et
    >>> import torch
    >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
    >>> start = torch.tensor(scene.sensor_pose)
    >>> shift = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    >>> pose = start + torch.nn.functional.pad(shift[:, None], (3, 0, 0, 1))
    >>> y, valid = et.torch.simulate(scene, lidar, {"sensor.pose": pose})
    >>> y[valid].sum().backward()
    >>> shift.grad.shape
    torch.Size([3])
    """
    simulator = _simulator(scene, lidar, pose, edges, paths, threads)
    return simulator(parameters)


@torch.compiler.disable
def _simulator(
    scene: Scene, lidar: Lidar, pose: Any, edges: bool | None, paths: int | None, threads: int | None
) -> Simulator:
    """The simulator of the arguments: that of an earlier call, so that compiled functions need not change."""
    if pose is not None:
        parts = pose if isinstance(pose, tuple) and len(pose) == 2 else [pose]
        try:
            arrays = [np.asarray(part, np.float64) for part in parts]
        except (TypeError, ValueError):
            return Simulator(scene, lidar, pose=pose, edges=edges, paths=paths, threads=threads)
        pose = tuple((array.shape, array.tobytes()) for array in arrays)
    return _cached(scene, lidar, pose, edges, paths, threads)


@functools.lru_cache(maxsize=8)
def _cached(
    scene: Scene, lidar: Lidar, key: Any, edges: bool | None, paths: int | None, threads: int | None
) -> Simulator:
    pose: Any = None
    if key is not None:
        arrays = [np.frombuffer(numbers).reshape(shape) for shape, numbers in key]
        pose = tuple(arrays) if len(arrays) == 2 else arrays[0]
    return Simulator(scene, lidar, pose=pose, edges=edges, paths=paths, threads=threads)


def _tensors(parameters: dict[str, Any]) -> tuple[list[torch.Tensor], torch.dtype]:
    """The values as tensors, and the type of the result."""
    if not isinstance(parameters, dict):
        raise TypeError(f"parameters: expected a dict of values by path, got {type(parameters).__name__}")
    given = [value for value in parameters.values() if isinstance(value, torch.Tensor)]
    for path, value in parameters.items():
        if not isinstance(value, torch.Tensor):
            continue
        if value.device.type != "cpu":
            raise ValueError(
                f'parameters["{path}"]: expected a tensor on the CPU, got one on {value.device}\n'
                'help: give tensor.cpu(); derivatives return to its device'
            )
        if value.dtype not in (torch.float32, torch.float64):
            raise TypeError(f'parameters["{path}"]: expected float32 or float64, got {value.dtype}')
    is_single = bool(given) and all(value.dtype == torch.float32 for value in given)
    tensors = [
        value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)
        for value in parameters.values()
    ]
    return tensors, torch.float32 if is_single else torch.float64


def _arrays(values: list[torch.Tensor]) -> list[Any]:
    return [value.detach().numpy() for value in values]


@torch.library.custom_op("etendue::measurements", mutates_args=())
def _measurements(
    values: list[torch.Tensor], paths: str, simulator: str, beams: int, dtype: torch.dtype
) -> torch.Tensor:
    y = _SIMULATORS[simulator]._function.predict(paths.split("\n") if values else [], _arrays(values))
    return torch.from_numpy(y).to(dtype)


@_measurements.register_fake
def _(values: list[torch.Tensor], paths: str, simulator: str, beams: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty((beams, 2), dtype=dtype)


@torch.library.custom_op("etendue::gradients", mutates_args=())
def _gradients(
    values: list[torch.Tensor], paths: str, simulator: str, cotangent: torch.Tensor
) -> list[torch.Tensor]:
    function = _SIMULATORS[simulator]._function
    gradients = function.gradients(paths.split("\n"), _arrays(values), cotangent.detach().numpy())
    return [torch.from_numpy(np.array(g)).to(v.dtype) for g, v in zip(gradients, values, strict=True)]


@_gradients.register_fake
def _(values: list[torch.Tensor], paths: str, simulator: str, cotangent: torch.Tensor) -> list[torch.Tensor]:
    return [torch.empty(value.shape, dtype=value.dtype) for value in values]


def _set_up(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    values, ctx.paths, ctx.name, _, _ = inputs
    # The simulator lives until the backward pass.
    ctx.simulator = _SIMULATORS.get(ctx.name)
    ctx.save_for_backward(*values)


def _backward(ctx: Any, cotangent: torch.Tensor) -> tuple[Any, ...]:
    return _gradients(list(ctx.saved_tensors), ctx.paths, ctx.name, cotangent), None, None, None, None


_measurements.register_autograd(_backward, setup_context=_set_up)
