"""Lidars as observations of Gymnasium environments.

The package `gymnasium` is imported with this module.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import draw
from .mujoco import Lidar

__all__ = ["LidarObservation"]

# Arguments of `simulate_batch` that the wrapper sets itself.
_OWN = ("bodies", "dtype", "labels", "out", "poses", "progress", "seed", "sweep")


class LidarObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Add the ranges of a lidar to the observation of a MuJoCo environment.

    The observation is a dictionary: "observation", that of the environment; "range", float32 (channels, columns), m, with
    the farthest range of the lidar where there is no return; "valid", int8 of the same shape, 1 where there is a return; and, on request,
    "intensity", float32.

    Noise differs from step to step and is determined by the seed of `reset`. Until there is one, an environment has a seed from the
    operating system, so that environments have different noise. The seed also selects the device: the fixed pattern of its
    errors.

    Parameters
    ----------
    env : gymnasium.Env
        Environment with the attribute `data`, a `mujoco.MjData`, such as those of `gymnasium.envs.mujoco`.
    lidar : etendue.mujoco.Lidar
        Lidar of its model.
    intensity : bool, default False
        Whether to add the intensity, counts.
    values : dict of str to float, optional
        Numbers by path, as in `etendue.simulate`.
    randomise : dict of str to (float, float), optional
        Least and greatest number by path, as in `etendue.simulate_batch`. Each `reset` draws other numbers, which hold until the
        next one: those of `etendue.draw` with the seed, one for each episode since.
    **settings
        Other arguments of `etendue.simulate_batch`: `weather`, `paths`, `time`, `device` and `threads`.

    Examples
    --------
    >>> import etendue.gymnasium
    >>> import etendue.mujoco
    >>> import gymnasium
    >>> import mujoco
    >>> class Fall(gymnasium.Env):
    ...     model = mujoco.MjModel.from_xml_string('''
    ...       <mujoco><worldbody><geom type="plane" size="9 9 1"/>
    ...         <body pos="0 0 3"><freejoint/><geom size="0.1"/><site name="lidar" euler="0 90 0"/></body>
    ...       </worldbody></mujoco>''')
    ...     observation_space = gymnasium.spaces.Box(-100, 100, (7,))
    ...     action_space = gymnasium.spaces.Discrete(1)
    ...     def reset(self, *, seed=None, options=None):
    ...         self.data = mujoco.MjData(self.model)
    ...         mujoco.mj_forward(self.model, self.data)
    ...         return self.data.qpos.astype("float32"), {}
    ...     def step(self, action):
    ...         mujoco.mj_step(self.model, self.data, 100)
    ...         return self.data.qpos.astype("float32"), 0.0, False, False, {}
    >>> lidar = etendue.mujoco.Lidar(Fall.model, "lidar", "hokuyo-urg-04lx")
    >>> env = etendue.gymnasium.LidarObservation(Fall(), lidar)
    >>> above = env.reset(seed=1)[0]["range"][0, 341]
    >>> below = env.step(0)[0]["range"][0, 341]
    >>> bool(2.9 < above < 3.1), bool(2.7 < below < 2.9)
    (True, True)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        lidar: Lidar,
        *,
        intensity: bool = False,
        values: Mapping[str, float] | None = None,
        randomise: Mapping[str, tuple[float, float]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(env)
        if not isinstance(lidar, Lidar):
            raise TypeError(f"lidar: expected an etendue.mujoco.Lidar, got {type(lidar).__name__}")
        for name in _OWN:
            if name in settings:
                raise TypeError(f"{name}: the wrapper sets it\nhelp: omit it; `reset` has the seed")
        # Wrong limits are an error here.
        draw(randomise or {}, 1)
        shape = (lidar.sensor.channels, lidar.sensor.columns)
        far = lidar.sensor.range_limits[1]
        # Noise can carry a range beyond the farthest.
        images: dict[str, spaces.Space[Any]] = {
            "observation": env.observation_space,
            "range": spaces.Box(0.0, np.inf, shape, np.float32),
            "valid": spaces.MultiBinary(shape),
        }
        if intensity:
            images["intensity"] = spaces.Box(0.0, np.inf, shape, np.float32)
        self.observation_space = spaces.Dict(images)
        self.lidar = lidar
        self._far = far
        self._intensity = intensity
        self._randomise = dict(randomise or {})
        self._values = {path: np.atleast_1d(number) for path, number in (values or {}).items()}
        self._settings = settings
        self._seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._episode = 0
        self._sweep = 0
        self._drawn: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the environment, and draw numbers of `randomise`; with a seed, noise and numbers begin again."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._seed, self._episode, self._sweep = seed, 0, 0

        # Draw the numbers of the episode.
        drawn = draw(self._randomise, self._episode + 1, seed=self._seed)
        self._drawn = {path: numbers[-1:] for path, numbers in drawn.items()}
        self._episode += 1
        return self._sensed(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Step the environment, and sense."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._sensed(observation), reward, terminated, truncated, info

    def _sensed(self, observation: Any) -> dict[str, Any]:
        """The observation with a sweep at the present state."""
        states = [self.env.unwrapped.data]  # type: ignore[attr-defined]
        ranges, intensities, valid = self.lidar.simulate_batch(
            states, seed=self._seed, sweep=self._sweep, dtype="float32", values={**self._values, **self._drawn}, **self._settings
        )
        self._sweep += 1
        result = {
            "observation": observation,
            "range": np.where(valid[0], ranges[0], np.float32(self._far)),
            "valid": valid[0].astype(np.int8),
        }
        if self._intensity:
            result["intensity"] = np.where(valid[0], intensities[0], np.float32(0.0))
        return result
