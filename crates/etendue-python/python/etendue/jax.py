"""Differentiable simulation in JAX.

The functions have reverse-mode derivatives, and run under `jax.jit` and `jax.vmap`, on the CPU in double precision
inside.
"""

from typing import Any

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("etendue.jax needs JAX\nhelp: pip install jax") from error

from ._differentiable import Differentiable
from ._etendue import Lidar, Scene

__all__ = ["simulate"]


def simulate(
    scene: Scene,
    lidar: Lidar,
    parameters: dict[str, Any],
    *,
    pose: Any = None,
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Expected range and intensity of every beam as a differentiable function of arrays.

    Parameters
    ----------
    scene : Scene
    lidar : Lidar
    parameters : dict of str to array or number
        Values by the paths of `etendue.vjp`, of the shapes there; poses are matrices (4, 4). The result has the
        greatest precision among them: float64 needs the option `jax_enable_x64` of JAX.
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
    y : array (beams, 2)
        Range (m) and intensity (counts), without noise and rounding; NaN without a return.
    valid : bool array (beams, 2)
        Where a beam has a return. Derivatives by other elements of `y` have no effect.

    Raises
    ------
    UnknownNameError
        No parameter has the path.
    TypeError, ValueError
        A value has the wrong shape, is not finite or no real number.

    Examples
    --------
    >>> import etendue as et
    >>> import jax
    >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
    >>> def power(factors):
    ...     y, valid = et.jax.simulate(scene, lidar, {"objects.room.facets.*.scattering": factors})
    ...     return jax.numpy.where(valid, y, 0).sum()
    >>> jax.grad(power)(jax.numpy.ones(12)).shape
    (12,)
    """
    # Read the values.
    if not isinstance(parameters, dict):
        raise TypeError(f"parameters: expected a dict of values by path, got {type(parameters).__name__}")
    function = Differentiable(scene, lidar, pose, edges, paths, threads)
    names = list(parameters)
    values = tuple(_real(path, value) for path, value in parameters.items())
    dtype = jnp.result_type(*values) if values else jnp.result_type(float)

    # Define the function with its derivatives.
    def predict(*arrays: Any) -> Any:
        return function.predict(names, arrays).astype(dtype)

    def gradients(cotangent: Any, *arrays: Any) -> Any:
        found = function.gradients(names, arrays, cotangent)
        return tuple(np.asarray(g, a.dtype) for g, a in zip(found, arrays, strict=True))

    @jax.custom_vjp
    def measured(values: Any) -> Any:
        shape = jax.ShapeDtypeStruct((function.beams, 2), dtype)
        return jax.pure_callback(predict, shape, *values, vmap_method="sequential")

    def forward(values: Any) -> tuple[Any, Any]:
        return measured(values), values

    def backward(values: Any, cotangent: Any) -> tuple[Any]:
        shapes = tuple(jax.ShapeDtypeStruct(value.shape, value.dtype) for value in values)
        return (jax.pure_callback(gradients, shapes, cotangent, *values, vmap_method="sequential"),)

    measured.defvjp(forward, backward)
    y = measured(values)
    return y, ~jnp.isnan(y)


def _real(path: str, value: Any) -> jax.Array:
    """A value as an array of a real type."""
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f'parameters["{path}"]: expected an array of real numbers') from error
    if jnp.issubdtype(array.dtype, jnp.integer):
        array = array.astype(jnp.result_type(float))
    if not jnp.issubdtype(array.dtype, jnp.floating):
        raise TypeError(f'parameters["{path}"]: expected an array of real numbers, got {array.dtype}')
    return array
