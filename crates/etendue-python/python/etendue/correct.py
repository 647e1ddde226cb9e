"""Depth bias of a lidar, learnt from its maps: `docs/depth-correction.md` describes the method and its limits.

`train` learns a model from scans with poses, `apply` corrects scans by it.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias

from ._cli import Report, call, word, words

__all__ = ["apply", "train"]

_Path: TypeAlias = str | PathLike[str]


def train(
    sequences: _Path | Sequence[_Path],
    *,
    output: _Path = "model.toml",
    sensor: str | None = None,
    model: str | None = None,
    validation: _Path | None = None,
    pose_sd: tuple[float, float] | None = None,
    **options: Any,
) -> Report:
    """Learn the depth bias of a lidar from scans with poses.

    The same training as `etendue correct train`.

    Parameters
    ----------
    sequences : path or sequence of paths
        Folders of scans with poses, or MCAP recordings, one per environment.
    output : path, default "model.toml"
        Model file to write.
    sensor : str, optional
        Name of the sensor; a preset with a constant-fraction discriminator gives the start of the waveform model.
    model : str, optional
        Shape of the bias, such as "waveform" or "polynomial".
    validation : path, optional
        Sequence that selects the best iteration.
    pose_sd : (float, float), optional
        Standard deviations of the poses, m and degrees.
    **options
        Other options of the command, such as `poses_move="fixed"` for `--poses-move fixed`.

    Returns
    -------
    Report
        `model`, `weights`, whether it is `usable`, with the `reasons` if not, and the test on scans that were `hold_out`.

    Raises
    ------
    EtendueError
        A sequence cannot be read, or has no planar neighbourhoods.
    """
    paths = [sequences] if isinstance(sequences, (str, PathLike)) else list(sequences)
    given = {"output": output, "sensor": sensor, "model": model, "validation": validation, "pose_sd": pose_sd}
    places = [word("sequences", path) for path in paths]
    return Report(call("correct", "train", *places, *words(**given, **options)))


def apply(
    model: _Path, scans: _Path, output: _Path, *, sensor: str | None = None, cell: float = 0.2, force: bool = False
) -> Report:
    """Correct the depth bias of scans.

    The same correction as `etendue correct apply`. Format, order and all fields but positions stay.

    Parameters
    ----------
    model : path
        Model file of `train`.
    scans : path
        Scan, folder of scans, or MCAP recording, in the frame of the lidar.
    output : path
        Corrected scan, folder or recording to write.
    sensor : str, optional
        Name of the sensor, to be compared with that of the model.
    cell : float, default 0.2
        Size of the cells in which normals are estimated, m.
    force : bool, default False
        Whether to apply a model that is not determined or untested.

    Returns
    -------
    Report
        Numbers of `scans`, `points` and those `left_as_measured`; `rms_change_m`; `warnings`.

    Raises
    ------
    EtendueError
        The model is not usable, or a file cannot be read.
    """
    given = {"model": model, "sensor": sensor, "cell": cell, "force": force}
    places = [word("scans", scans), word("output", output)]
    return Report(call("correct", "apply", *places, *words(**given)))
