"""Objects from what pickle has stored of them."""

from os import PathLike
from typing import Any

from ._etendue import Lidar, Scene, Trajectory


def lidar(path: str | PathLike[str], text: str) -> Lidar:
    """The lidar of the text of a sensor file."""
    return Lidar._of_text(path, text)


def loaded_scene(source: str | PathLike[str]) -> Scene:
    """The scene of a file or a name."""
    return Scene.load(source)


def scene_of_meshes(meshes: dict[str, Any], name: str) -> Scene:
    """The scene of arrays."""
    return Scene.from_meshes(meshes, name=name)


def trajectory(times: list[float], poses: list[list[float]], interpolation: str) -> Trajectory:
    """The trajectory of times and of poses as x, y, z and a quaternion x, y, z, w."""
    return Trajectory._of_numbers(times, poses, interpolation)
