from typing import Any

import jax

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
) -> tuple[jax.Array, jax.Array]: ...
