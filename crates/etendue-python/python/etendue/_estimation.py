"""Registration, mapping, calibration, comparison and robots: the commands of the command line, from and to NumPy."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._cli import Report, call, word, words
from ._etendue import Sweep, Trajectory

_Path: TypeAlias = str | PathLike[str]
_Cloud: TypeAlias = Sweep | ArrayLike | _Path


def register(
    a: _Cloud,
    b: _Cloud,
    *,
    method: Literal["icp", "point-to-plane", "gicp", "ndt"] = "gicp",
    start: ArrayLike | None = None,
    planar: bool = False,
    tuned: bool = True,
    max_distance: float | None = None,
    keep: float | None = None,
    neighbours: int | None = None,
    cell: float | None = None,
    voxel: float | None = None,
    iterations: int | None = None,
    topic: str | None = None,
    topic_b: str | None = None,
) -> Report:
    """Register one point cloud with another.

    The same registration as `etendue register`.

    Parameters
    ----------
    a : Sweep, array of the shape (n, 3), or path
        Source cloud, m, which is moved. Points at the origin are ignored.
    b : Sweep, array of the shape (m, 3), or path
        Target cloud. Two clouds in the plane z = 0 are registered in the plane.
    method : {"icp", "point-to-plane", "gicp", "ndt"}, default "gicp"
        Distances between nearest points, to local planes, between local planes, or to normal distributions in cells.
    start : array of the shape (4, 4), optional
        Initial pose of A in B. Default: the identity.
    planar : bool, default False
        Whether to register in the plane, ignoring heights.
    tuned : bool, default True
        Settings from the size of B; otherwise those of common implementations.
    max_distance : float, optional
        Largest distance of a pair, m.
    keep : float, optional
        Fraction of the pairs to keep, the nearest first.
    neighbours : int, optional
        Number of neighbours for a local plane.
    cell : float, optional
        Cell size of NDT, m.
    voxel : float, optional
        Voxel size to which both clouds are downsampled, m; 0 keeps all points.
    iterations : int, optional
        Largest number of iterations.
    topic : str, optional
        Topic of the lidar in bags; required where a bag has several lidars.
    topic_b : str, optional
        That of B, where it differs.

    Returns
    -------
    Report
        `b_from_a`, float64 (4, 4), the pose of A in B; `rms` in `rms_unit`; `pairs`, `unpaired`, `iterations`, `converged`,
        `stop`, `settings` and others.

    Raises
    ------
    EtendueError
        The clouds cannot be registered or read.

    Examples
    --------
    >>> import etendue as et
    >>> import numpy as np
    >>> scene, lidar = et.Scene.load("glass-door"), et.Lidar("velodyne-vlp-16")
    >>> moved = scene.sensor_pose.copy()
    >>> moved[:3, 3] += 0.1, 0.05, 0.0
    >>> a, b = et.simulate(scene, lidar, moved, seed=1), et.simulate(scene, lidar, seed=2)
    >>> found = et.register(a, b, method="gicp")
    >>> truth = np.linalg.inv(scene.sensor_pose) @ moved
    >>> bool(abs(found.b_from_a - truth)[:3, 3].max() < 0.02)
    True
    """
    given = {
        "method": method, "2d": planar, "settings": "tuned" if tuned else "common", "max_distance": max_distance, "keep": keep,
        "neighbours": neighbours, "cell": cell, "voxel": voxel, "iterations": iterations,
        "topic": topic, "topic_b": topic_b,
    }
    begin = [] if start is None else [f"--start={_pose_text(start)}"]
    with _files(a=a, b=b) as (paths, names):
        found = call("register", *paths, *words(**given), *begin, names=names)
    found["b_from_a"] = np.array(found.pop("b_from_a_matrix"))
    return Report(found)


def compare(real: _Cloud, simulated: _Cloud, *, tolerance: float = 0.1, cell: float = 1.0) -> Report:
    """Compare two point clouds, such as a real and a simulated one.

    The same comparison as `etendue compare`. Both clouds have to be in the same frame; ranges and beams are computed from its
    origin.

    Parameters
    ----------
    real : Sweep, array of the shape (n, 3), or path
        Real cloud, m.
    simulated : Sweep, array of the shape (m, 3), or path
        Simulated cloud, m.
    tolerance : float, default 0.1
        Largest distance of matching points, m.
    cell : float, default 1.0
        Width of the cell of a beam in azimuth, degrees.

    Returns
    -------
    Report
        `chamfer_m`, `hausdorff_m`, `median_m`, `precision`, `recall`, `f_score`, differences of the distributions of `range`
        and `intensity`, and `beams` with the errors beam by beam; None where they cannot be computed.

    Raises
    ------
    EtendueError
        A cloud has no finite point, or cannot be read.

    Examples
    --------
    >>> import etendue as et
    >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
    >>> real, simulated = et.simulate(scene, lidar, seed=1), et.simulate(scene, lidar, seed=2)
    >>> et.compare(real, simulated).f_score > 0.95
    True
    """
    with _files(real=real, simulated=simulated) as (paths, names):
        return Report(call("compare", *paths, *words(tolerance=tolerance, cell=cell), names=names))


def slam(
    scans: _Path | Sequence[Sweep | ArrayLike],
    *,
    poses: _Path | Trajectory | ArrayLike | None = None,
    convention: str | None = None,
    prior: Literal["motion", "poses"] = "motion",
    prior_noise: tuple[float, float] = (0.0, 0.0),
    correction: _Path | None = None,
    force: bool = False,
    within: float | None = None,
    deskew: bool = True,
    topic: str | None = None,
) -> Report:
    """Map a sequence of scans.

    The same mapping as `etendue slam`: each scan is registered with the map of the scans before it. There are no loop closures.
    Planar scans, whose points all have z = 0, are mapped in the plane.

    Parameters
    ----------
    scans : path, or sequence of (Sweep or array of the shape (n, 3))
        Folder of scans, recording or scan log; or the scans, m, in the frame of the lidar.
    poses : path, Trajectory, or array of the shape (n, 4, 4), optional
        Reference poses, world from lidar, one for each scan, with which the result is compared. Default: those in the folder.
    convention : str, optional
        Convention of the reference poses, as in `etendue slam --help`.
    prior : {"motion", "poses"}, default "motion"
        Initial pose of each scan: constant velocity, or the motions of the reference poses or of the odometry of a scan log.
    prior_noise : (float, float), default (0, 0)
        Noise that is added to the motions of the reference poses, m and degrees.
    correction : path, optional
        Depth model that corrects each scan, of `etendue.correct.train`.
    force : bool, default False
        Whether to apply a correction that is not determined or untested.
    within : float, optional
        Largest distance of a pair, m.
    deskew : bool, default True
        Whether to deskew points of a recording that carry times.
    topic : str, optional
        Topic of the lidar in a recording; required where it has several lidars.

    Returns
    -------
    Report
        `poses`, float64 (n, 4, 4), world from lidar; `points`, float64 (m, 3), the map, m; `verdict`, "good", "doubtful" or
        "failed", with its `reasons`; `quality` of each scan, `degenerate` directions, and `drift` from the reference.

    Raises
    ------
    EtendueError
        There are no scans, or they cannot be read.

    Examples
    --------
    >>> import etendue as et
    >>> import numpy as np
    >>> scene, lidar = et.Scene.load("glass-door"), et.Lidar("velodyne-vlp-16")
    >>> truth = np.stack([scene.sensor_pose] * 3)
    >>> truth[:, 0, 3] += 0.05 * np.arange(3)
    >>> found = et.slam([et.simulate(scene, lidar, pose, sweep=k) for k, pose in enumerate(truth)])
    >>> found.poses.shape, found.verdict in ("good", "doubtful", "failed")
    ((3, 4, 4), True)
    """
    given = {
        "convention": convention, "prior": prior, "prior_noise": list(prior_noise), "correction": correction,
        "force": force, "within": within, "no_deskew": not deskew, "topic": topic,
    }
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        folder = Path(name)
        reference = _pose_file(folder / "reference.txt", poses)
        out = folder / "map"
        names = {str(folder / "reference.txt"): "poses", str(out): "map"}
        if isinstance(scans, (str, PathLike)):
            sequence = fspath(scans)
        else:
            sequence = str(_scan_folder(folder / "scans", scans))
            names[sequence] = "scans"
            files = (str(Path(sequence, f"{number:06}.npz")) for number in range(len(scans)))
            names |= {file: f"scans[{number}]" for number, file in enumerate(files)}
        found = call("slam", sequence, *words(poses=reference, output=out, **given), names=names)
        found["poses"] = _kitti(out / "trajectory_kitti.txt")
        lines = (out / "map.csv").read_text().splitlines()[1:]
        found["points"] = np.loadtxt(lines, delimiter=",").reshape(-1, 3) if lines else np.empty((0, 3))
    return Report(found)


def calibrate(
    setup: _Path | None = None,
    *,
    recording: _Path | None = None,
    material: str | None = None,
    sensor: str | None = None,
    time_of_flight: bool = False,
    distance: float | None = None,
    width: float | None = None,
    bearing: float | None = None,
    holdout: bool = False,
    accept_doubtful: bool = False,
    figures: bool = False,
    output: _Path | None = None,
) -> Report:
    """Calibrate the noise profiles of a sensor from recordings of panels of known materials.

    The same calibration as `etendue calibrate`, which `docs/calibrated-noise.md` describes.

    Parameters
    ----------
    setup : path, optional
        Calibration setup file, or an ApolloSim data.config.
    recording : path, optional
        Recording of one panel, instead of a setup file.
    material : str, optional
        Its material.
    sensor : str, optional
        Name of the sensor.
    time_of_flight : bool, default False
        Whether the sensor measures the time of flight; otherwise it triangulates.
    distance : float, optional
        Approximate distance of the panel, m.
    width : float, optional
        Width of the panel, m.
    bearing : float, optional
        Bearing of the centre of the panel, degrees anticlockwise from x.
    holdout : bool, default False
        Whether to report the test on held-out scans, with all of them.
    accept_doubtful : bool, default False
        Whether to write doubtful profiles, too.
    figures : bool, default False
        Whether to draw the profiles.
    output : path, optional
        Folder for the profiles, one file per material. Default: the folder "out/profiles", which is made.

    Returns
    -------
    Report
        The JSON of the command: `materials`, a list with the `material` and the `verdict` of each, which has a `grade`, "good",
        "doubtful" or "refused", and `reasons`.

    Raises
    ------
    EtendueError
        A recording cannot be used, or a file cannot be read.
    """
    given = {
        "recording": recording, "material": material, "sensor": sensor, "time_of_flight": time_of_flight,
        "distance": distance, "width": width, "bearing": bearing, "holdout": holdout,
        "accept_doubtful": accept_doubtful, "figures": figures, "output": output,
    }
    files = [] if setup is None else [word("setup", setup)]
    return Report(call("calibrate", *files, *words(**given)))


def run(
    robot: _Path,
    *,
    duration: float | None = None,
    seed: int = 1,
    output: _Path | None = None,
    nmea: _Path | None = None,
    threads: int | None = None,
) -> Report:
    """Run a robot with all its sensors.

    The same run as `etendue run`, which `docs/robots.md` describes.

    Parameters
    ----------
    robot : path
        Robot file.
    duration : float, optional
        Duration, s. Default: that of the robot file, or of its trajectory.
    seed : int, default 1
        Seed of all noise.
    output : path, optional
        MCAP file for a recording of ROS 2 messages.
    nmea : path, optional
        File for the GNSS fixes, as NMEA 0183.
    threads : int, optional
        Number of threads; the results do not depend on it.

    Returns
    -------
    Report
        The JSON of the command: counts of the data of each sensor.

    Raises
    ------
    EtendueError
        The robot file is invalid or cannot be read.
    """
    given = {"duration": duration, "seed": seed, "output": output, "nmea": nmea, "threads": threads}
    return Report(call("run", word("robot", robot), *words(**given)))


@contextmanager
def _files(**clouds: _Cloud) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Paths of clouds, and their names by path; arrays and sweeps are written to a temporary folder."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        paths = [_cloud_file(Path(folder, name), name, cloud) for name, cloud in clouds.items()]
        written = [not isinstance(cloud, (str, PathLike)) for cloud in clouds.values()]
        yield paths, {path: name for path, name, own in zip(paths, clouds, written, strict=True) if own}


def _cloud_file(path: Path, name: str, cloud: _Cloud) -> str:
    """Path of a cloud; an array or a sweep is written to a file `path` with an ending."""
    if isinstance(cloud, (str, PathLike)):
        return str(fspath(cloud))
    path = path.with_suffix(".npz")
    if isinstance(cloud, Sweep):
        cloud.save(path)
        return str(path)
    points = _points(name, cloud)
    np.savez(path, x=points[:, 0], y=points[:, 1], z=points[:, 2])
    return str(path)


def _points(name: str, cloud: ArrayLike) -> NDArray[np.float64]:
    """Points of the argument `name`."""
    points = np.asarray(cloud)
    if points.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected an array of real numbers, a Sweep or a path, got {type(cloud).__name__}")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"{name}: expected the shape (n, 3), got {points.shape}")
    return points.astype(np.float64)


def _scan_folder(folder: Path, scans: Sequence[Sweep | ArrayLike]) -> Path:
    """Writes scans to a folder, and returns it."""
    if not isinstance(scans, (Sequence, np.ndarray)):
        raise TypeError(f"scans: expected a path or a sequence of scans, got {type(scans).__name__}")
    folder.mkdir()
    for number, scan in enumerate(scans):
        _cloud_file(folder / f"{number:06}", f"scans[{number}]", scan)
    return folder


def _pose_file(path: Path, poses: Any) -> str | None:
    """Path of reference poses; arrays and trajectories are written to `path`."""
    if poses is None or isinstance(poses, (str, PathLike)):
        return None if poses is None else str(fspath(poses))
    matrices = np.asarray(poses.poses if isinstance(poses, Trajectory) else poses, dtype=np.float64)
    if matrices.ndim != 3 or matrices.shape[1:] != (4, 4):
        raise ValueError(f"poses: expected the shape (n, 4, 4), got {matrices.shape}")
    np.savetxt(path, matrices[:, :3].reshape(-1, 12), fmt="%.17g")
    return str(path)


def _kitti(path: Path) -> NDArray[np.float64]:
    """Poses of a KITTI file."""
    rows = np.loadtxt(path, ndmin=2).reshape(-1, 3, 4)
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3] = rows
    return poses


def _pose_text(pose: ArrayLike) -> str:
    """A pose as x,y,z,yaw,pitch,roll in metres and degrees."""
    matrix = np.asarray(pose, dtype=np.float64)
    if matrix.shape != (4, 4):
        raise ValueError(f"start: expected the shape (4, 4), got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("start: all numbers have to be finite")
    rotation = matrix[:3, :3]
    is_rigid = np.abs(rotation.T @ rotation - np.eye(3)).max() <= 1e-5 and np.linalg.det(rotation) > 0
    if not is_rigid or (matrix[3] != [0, 0, 0, 1]).any():
        raise ValueError("start: the matrix has to be a rotation and a translation, with the last row 0, 0, 0, 1")
    cosine = math.hypot(matrix[2, 1], matrix[2, 2])
    pitch = math.atan2(-matrix[2, 0], cosine)
    if cosine > 1e-9:
        yaw = math.atan2(matrix[1, 0], matrix[0, 0])
        roll = math.atan2(matrix[2, 1], matrix[2, 2])
    else:
        # The x axis is vertical: yaw and roll turn about it alike.
        yaw = math.atan2(-matrix[0, 1], matrix[1, 1])
        roll = 0.0
    angles = [math.degrees(angle) for angle in (yaw, pitch, roll)]
    return ",".join(repr(float(number)) for number in [*matrix[:3, 3], *angles])
