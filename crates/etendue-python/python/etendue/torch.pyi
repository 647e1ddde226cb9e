from typing import Any

import torch

from ._etendue import Lidar, Scene

__all__ = ["Simulator", "simulate"]

class Simulator:
    def __init__(
        self,
        scene: Scene,
        lidar: Lidar,
        *,
        pose: Any = None,
        edges: bool | None = None,
        paths: int | None = None,
        threads: int | None = None,
    ) -> None: ...
    def __call__(self, parameters: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]: ...

def simulate(
    scene: Scene,
    lidar: Lidar,
    parameters: dict[str, Any],
    *,
    pose: Any = None,
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]: ...
