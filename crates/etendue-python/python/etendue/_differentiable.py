"""The expected measurements as a function of arrays, for frameworks of automatic differentiation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._etendue import Lidar, Scene, predict, vjp

# Deviation of a matrix from a rotation up to which it is projected: above the steps of difference checks.
_TOLERANCE = 1e-5


class Differentiable:
    """Expected measurements of a scene and a lidar as a function of the arrays of some parameters.

    Poses are matrices (4, 4). A matrix next to a pose stands for the nearest rotation and the last row 0, 0, 0, 1,
    so that derivatives by its entries exist; they are those of any parametrisation of the pose by the chain rule.
    """

    def __init__(
        self, scene: Scene, lidar: Lidar, pose: Any, edges: bool | None, paths: int | None, threads: int | None
    ) -> None:
        self.scene = scene
        self.lidar = lidar
        self.pose = pose
        self.edges = edges
        self.light_paths = paths
        self.threads = threads
        self.beams = lidar.beams

    def predict(self, paths: Sequence[str], values: Sequence[Any]) -> NDArray[np.float64]:
        """Range (m) and intensity (counts) of each beam, (beams, 2); NaN without a return."""
        parameters: dict[str, Any] = dict(zip(paths, map(_float64, paths, values), strict=True))
        return predict(
            self.scene, self.lidar, parameters, pose=self.pose, paths=self.light_paths, threads=self.threads
        )[0]

    def gradients(self, paths: Sequence[str], values: Sequence[Any], cotangent: Any) -> list[NDArray[np.float64]]:
        """Derivatives by each array of a function with the derivatives `cotangent` by the measurements."""
        parameters: dict[str, Any] = dict(zip(paths, map(_float64, paths, values), strict=True))
        _, pullback = vjp(
            self.scene,
            self.lidar,
            parameters,
            pose=self.pose,
            edges=self.edges,
            paths=self.light_paths,
            threads=self.threads,
        )
        found = pullback(np.asarray(cotangent, np.float64))
        return [
            _of_matrix(parameters[path], found[path]) if path.endswith(".pose") else found[path] for path in paths
        ]


def _float64(path: str, value: Any) -> NDArray[np.float64]:
    """A value in double precision; the nearest pose of a matrix."""
    value = np.array(value, np.float64)
    if not path.endswith(".pose") or value.shape != (4, 4) or not np.isfinite(value).all():
        return value
    rotation, last = value[:3, :3], value[3]
    if np.abs(rotation.T @ rotation - np.eye(3)).max() <= _TOLERANCE:
        left, _, right = np.linalg.svd(rotation)
        value[:3, :3] = left @ right
    if np.abs(last - [0, 0, 0, 1]).max() <= _TOLERANCE:
        value[3] = [0, 0, 0, 1]
    return value


def _of_matrix(pose: NDArray[np.float64], twist: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives by the entries of a pose from those by its body-fixed twist.

    With the rotation R, the twist of a change dM is R^T dM_t and the antisymmetric part of R^T dM_R.
    """
    rotation = pose[:3, :3]
    x, y, z = twist[3:] / 2
    gradient = np.zeros((4, 4))
    gradient[:3, 3] = rotation @ twist[:3]
    gradient[:3, :3] = rotation @ [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    return gradient
