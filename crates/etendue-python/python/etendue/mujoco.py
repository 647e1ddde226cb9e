"""Lidars in MuJoCo models, and scenes from MJCF and URDF files.

A `Lidar` builds a scene from the geoms of an `mjModel`, follows their poses in an `mjData`, and gives what the sensor
would measure: ranges with noise and drop-out, intensities and labels. `load_scene` makes a scene at rest from a model or
a file.

The package `mujoco` is not imported before it is needed.
"""

import difflib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import Scene, Sweep, simulate, simulate_batch
from . import Lidar as _Sensor

__all__ = ["Lidar", "load_scene"]


class _Mesh(NamedTuple):
    """Vertices (n, 3), m, in the frame of the geom, and triangles (m, 3)."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]


def load_scene(
    model: Any,
    *,
    qpos: ArrayLike | None = None,
    groups: Sequence[int] | None = None,
    materials: Mapping[str, str] | None = None,
    default: str = "white-paint",
    tolerance: float = 1e-3,
    reach: float = 100.0,
) -> Scene:
    """Make a scene at rest from a MuJoCo model, or from an MJCF or URDF file.

    MuJoCo reads the file. Geoms become meshes as in `Lidar`; those that are transparent (an alpha of 0) are left out. MuJoCo
    keeps the collision geometry of a URDF file and drops its visual geometry, unless the file has
    `<mujoco><compiler discardvisual="false"/></mujoco>`.

    Parameters
    ----------
    model : mujoco.MjModel, str or os.PathLike
        The model, or the path of its file.
    qpos : array (nq,), optional
        Positions of the joints: m, rad and quaternions, in the order of MuJoCo. Default: those of the model.
    groups : sequence of int, optional
        Groups of geoms that the scene has. Default: all.
    materials : dict of str to str, optional
        Material of `etendue materials` by name of a geom or of a MuJoCo material. Geoms take precedence.
    default : str, default "white-paint"
        Material of all other geoms.
    tolerance : float, default 0.001
        Greatest distance of the mesh of a curved geom from its surface, m.
    reach : float, default 100.0
        Half of the size of a plane without limits, m.

    Returns
    -------
    Scene
        One object per geom, in the frame of the world.

    Raises
    ------
    ValueError
        If MuJoCo rejects the file, no geom is left, or an argument is wrong.

    Examples
    --------
    >>> import etendue.mujoco
    >>> import mujoco
    >>> model = mujoco.MjModel.from_xml_string('''
    ...   <mujoco><worldbody>
    ...     <body><joint name="slide" type="slide" axis="1 0 0"/><geom type="box" size="0.1 1 1"/></body>
    ...   </worldbody></mujoco>''')
    >>> scene = etendue.mujoco.load_scene(model, qpos=[3.0])
    >>> round(float(scene.raycast([0, 0, 0, 1, 0, 0])["t_hit"]), 6)
    2.9
    """
    import mujoco  # type: ignore[import-untyped,unused-ignore]

    # Read the file, and place its geoms.
    if isinstance(model, (str, os.PathLike)):
        model = mujoco.MjModel.from_xml_path(os.fspath(model))
    _check(model, tolerance, groups, materials)
    if not (isinstance(reach, (int, float)) and 0.0 < reach < math.inf):
        raise ValueError(f"reach: expected a length above 0, got {reach}")
    data = mujoco.MjData(model)
    if qpos is not None:
        positions = np.asarray(qpos, dtype=np.float64)
        if positions.shape != (model.nq,) or not np.isfinite(positions).all():
            raise ValueError(f"qpos: expected {model.nq} finite numbers, got the shape {positions.shape}")
        data.qpos[:] = positions
    mujoco.mj_kinematics(model, data)

    # Make a mesh of each geom, in the frame of the world.
    objects: dict[str, tuple[ArrayLike, ArrayLike, str]] = {}
    for geom in (g for g in range(model.ngeom) if _is_seen(model, g, groups, -1)):
        mesh = _mesh(model, geom, float(tolerance), float(reach))
        if mesh is None:
            _warn_left_out(model, geom, stacklevel=3)
            continue
        vertices = _placed(mesh, data, geom)
        objects[_name(model, geom)] = (vertices, mesh.triangles, _material(model, geom, materials or {}, default))
    if not objects:
        raise ValueError("model: it has no geom for the scene\nhelp: give other groups, or keep the geometry of the file")
    return Scene.from_meshes(objects, name="mujoco")


class Lidar:
    """A lidar at a site of a MuJoCo model.

    Geoms become meshes. Boxes, planes, meshes and height fields are exact. Spheres, capsules, cylinders and ellipsoids are
    meshes whose vertices are on the surface and whose faces are inside it by at most `tolerance`: a range differs from that of the
    true surface by at most the tolerance divided by the cosine of the incidence, except for rays that
    miss the mesh at its outline. A plane without limits is a square around the sensor, larger than the farthest range.

    Geoms that MuJoCo's rays do not hit are left out: those of the body of the site, those of other groups, and those that are
    transparent: an alpha of 0 of their material, or of the geom where it has no material. Flexes and skins are not part of the
    scene.

    Parameters
    ----------
    model : mujoco.MjModel
    site : str or int
        Name or number of the site of the sensor: x forward, y left, z up.
    sensor : etendue.Lidar or str
        The lidar, or the name of a preset.
    groups : sequence of int, optional
        Groups of geoms that are seen. Default: all.
    exclude : str, int or None, optional
        Body whose geoms are not seen. Default: the body of the site. None excludes no body.
    materials : dict of str to str, optional
        Material of `etendue materials` by name of a geom or of a MuJoCo material. Geoms take precedence.
    default : str, default "white-paint"
        Material of all other geoms.
    tolerance : float, default 0.001
        Greatest distance of the mesh of a curved geom from its surface, m.

    Attributes
    ----------
    scene : etendue.Scene
        The scene. Geoms that cannot move are in the frame of the world, the others in their own.
    sensor : etendue.Lidar
    geoms : int array (n,)
        Number of the geom of each object of the scene.

    Examples
    --------
    >>> import etendue.mujoco
    >>> import mujoco
    >>> model = mujoco.MjModel.from_xml_string('''
    ...   <mujoco><worldbody>
    ...     <geom name="wall" type="box" size="0.1 5 5" pos="3 0 0"/>
    ...     <body name="robot"><freejoint/><geom size="0.1"/><site name="lidar" pos="0 0 0.2"/></body>
    ...   </worldbody></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_forward(model, data)
    >>> lidar = etendue.mujoco.Lidar(model, "lidar", "hokuyo-urg-04lx")
    >>> sweep = lidar.simulate(data, seed=1)
    >>> ranges, valid = sweep.image("range")
    >>> bool(abs(ranges[0, 341] - 2.9) < 0.1)
    True
    """

    scene: Scene
    sensor: _Sensor
    geoms: NDArray[np.intp]

    def __init__(
        self,
        model: Any,
        site: str | int,
        sensor: _Sensor | str,
        *,
        groups: Sequence[int] | None = None,
        exclude: str | int | None = "the body of the site",
        materials: Mapping[str, str] | None = None,
        default: str = "white-paint",
        tolerance: float = 1e-3,
    ) -> None:
        # Find the site and the excluded body.
        _check(model, tolerance, groups, materials)
        self._model = model
        self._site = _number(model, "site", site)
        if exclude == "the body of the site":
            excluded = int(model.site_bodyid[self._site])
        else:
            excluded = -1 if exclude is None else _number(model, "exclude", exclude, "body")

        # Choose the geoms, and make the scene.
        self.sensor = _Sensor(sensor) if isinstance(sensor, str) else sensor
        if not isinstance(self.sensor, _Sensor):
            raise TypeError(f"sensor: expected a Lidar, got {type(sensor).__name__}")
        self._reach = 2.0 * self.sensor.range_limits[1]
        seen = [g for g in range(model.ngeom) if _is_seen(model, g, groups, excluded)]
        if not seen:
            raise ValueError("model: no geom is seen\nhelp: give other groups, or exclude=None")
        self._build(model, seen, dict(materials or {}), default, float(tolerance))

    def _build(
        self, model: Any, seen: list[int], materials: dict[str, str], default: str, tolerance: float
    ) -> None:
        """Build the scene, and list the objects that move."""
        import mujoco

        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        names = {geom: _name(model, geom) for geom in seen}
        objects: dict[str, tuple[ArrayLike, ArrayLike, str]] = {}
        used: list[int] = []
        self._moving: list[tuple[str, int]] = []
        self._endless: list[tuple[str, int]] = []
        for geom in seen:
            mesh = _mesh(model, geom, tolerance, self._reach)
            if mesh is None:
                _warn_left_out(model, geom, stacklevel=4)
                continue
            vertices = mesh.vertices
            is_endless = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE and not model.geom_size[geom, :2].all()
            if is_endless:
                self._endless.append((names[geom], geom))
            elif _moves(model, geom):
                self._moving.append((names[geom], geom))
            else:
                vertices = _placed(mesh, data, geom)
            objects[names[geom]] = (vertices, mesh.triangles, _material(model, geom, materials, default))
            used.append(geom)
        self.scene = Scene.from_meshes(objects, name="mujoco")
        self.geoms = np.array(used, dtype=np.intp)
        # The last element is for no object, whose index is greater than all others.
        self._geom_of_object = np.array([*used, -1], dtype=np.int32)

    def pose(self, data: Any) -> NDArray[np.float64]:
        """Pose of the sensor.

        Parameters
        ----------
        data : mujoco.MjData
            Its kinematics have to be current (`mj_forward` or `mj_kinematics`). After `mj_step` they are those before the last
            time step, as for the sensors of MuJoCo.

        Returns
        -------
        float64 (4, 4)
            World from sensor.
        """
        self._check_data(data)
        return _matrix(data.site_xmat[self._site], data.site_xpos[self._site])

    def bodies(self, data: Any) -> dict[str, NDArray[np.float64]]:
        """Poses of the objects that move.

        Parameters
        ----------
        data : mujoco.MjData

        Returns
        -------
        dict of str to float64 (4, 4)
            World from object by name: the argument `bodies` of `etendue.simulate`.
        """
        self._check_data(data)
        poses = {name: _matrix(data.geom_xmat[geom], data.geom_xpos[geom]) for name, geom in self._moving}
        for name, geom in self._endless:
            # Along its limitless directions, the plane is centred below the sensor.
            plane = _matrix(data.geom_xmat[geom], data.geom_xpos[geom])
            model_size = self._model.geom_size[geom, :2]
            local = plane[:3, :3].T @ (data.site_xpos[self._site] - plane[:3, 3])
            local[[*(model_size > 0), True]] = 0.0
            plane[:3, 3] += plane[:3, :3] @ local
            poses[name] = plane
        return poses

    def simulate(self, data: Any, **settings: Any) -> Sweep:
        """Simulate a sweep at the state of the model.

        The geoms do not move during the sweep.

        Parameters
        ----------
        data : mujoco.MjData
        **settings
            Other arguments of `etendue.simulate`, such as `seed`, `sweep`, `weather`, `device` and `truth`.

        Returns
        -------
        Sweep
            Labels are indices of `scene.objects`; `geoms` has the geom of each.
        """
        return simulate(self.scene, self.sensor, self.pose(data), bodies=self.bodies(data), **settings)

    def simulate_batch(self, states: Sequence[Any], **settings: Any) -> tuple[NDArray[Any], ...]:
        """Simulate a sweep at each of many states of the model.

        Parameters
        ----------
        states : sequence of mujoco.MjData, or of (pose, bodies)
            The states, or what `pose` and `bodies` returned for them.
        **settings
            Other arguments of `etendue.simulate_batch`, such as `seed`, `labels`, `out`, `device` and `randomise`.

        Returns
        -------
        tuple of numpy.ndarray
            As `etendue.simulate_batch`.
        """
        pairs = [s if isinstance(s, tuple) else (self.pose(s), self.bodies(s)) for s in _items("states", states)]
        poses = np.array([pose for pose, _ in pairs]).reshape(-1, 4, 4)
        names = [name for name, _ in self._moving + self._endless]
        bodies = {name: np.array([bodies[name] for _, bodies in pairs]).reshape(-1, 4, 4) for name in names}
        return simulate_batch(self.scene, self.sensor, poses, bodies=bodies, **settings)

    def raycast(self, data: Any, directions: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Distances along rays from the sensor, without a model of the receiver: as `mujoco.mj_multiRay`.

        Unlike MuJoCo's, rays hit planes from both sides.

        Parameters
        ----------
        data : mujoco.MjData
        directions : array of the shape (n, 3)
            Directions in the frame of the world.

        Returns
        -------
        distance : float64 (n,)
            In lengths of the direction; inf for none.
        geom : int32 (n,)
            Number of the geom; -1 for none.
        """
        directions = np.asarray(directions, dtype=np.float64)
        if directions.ndim != 2 or directions.shape[1] != 3:
            raise ValueError(f"directions: expected the shape (n, 3), got {directions.shape}")
        hits = self.scene.raycast(
            directions,
            origin=self.pose(data)[:3, 3],
            keys=["t_hit", "geometry_ids"],
            bodies=self.bodies(data),
        )
        return hits["t_hit"], self._geom_of_object.take(hits["geometry_ids"], mode="clip")

    def _check_data(self, data: Any) -> None:
        """Check that an `MjData` is one of the model, and has poses."""
        import mujoco

        if not isinstance(data, mujoco.MjData):
            raise TypeError(f"data: expected a mujoco.MjData, got {type(data).__name__}")
        model = self._model
        if data.geom_xpos.shape[0] != model.ngeom or data.site_xpos.shape[0] != model.nsite:
            raise ValueError("data: it is not of the model of this lidar\nhelp: make a Lidar of its own model")
        if not data.site_xmat[self._site].any():
            raise ValueError("data: it has no poses yet\nhelp: call mujoco.mj_forward(model, data) first")

    def __repr__(self) -> str:
        moving = len(self._moving)
        return f"etendue.mujoco.Lidar({self.sensor.name!r}, geoms={len(self.geoms)}, moving={moving})"


def _check(
    model: Any, tolerance: float, groups: Sequence[int] | None, materials: Mapping[str, str] | None
) -> None:
    """Check the arguments that `Lidar` and `load_scene` share."""
    import mujoco

    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model: expected a mujoco.MjModel, got {type(model).__name__}")
    if groups is not None and not all(isinstance(group, (int, np.integer)) for group in _items("groups", groups)):
        raise TypeError(f"groups: expected whole numbers, got {groups!r}")
    known = {model.geom(n).name for n in range(model.ngeom)} | {model.mat(n).name for n in range(model.nmat)}
    for name in materials or {}:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            found = f"did you mean {near[0]!r}?" if near else f"there are {sorted(known - {''})}"
            raise ValueError(f"materials: no geom and no material of the model is named {name!r}\nhelp: {found}")
    if not (isinstance(tolerance, (int, float)) and 0.0 < tolerance < math.inf):
        raise ValueError(f"tolerance: expected a length above 0, got {tolerance}")


def _items(argument: str, given: Any) -> list[Any]:
    """The items of a sequence."""
    try:
        return list(given)
    except TypeError:
        raise TypeError(f"{argument}: expected a sequence, got {type(given).__name__}") from None


def _warn_left_out(model: Any, geom: int, stacklevel: int) -> None:
    """Warn that a geom is not in the scene."""
    import mujoco

    kind = mujoco.mjtGeom(model.geom_type[geom]).name
    warnings.warn(f"{_name(model, geom)} is left out: {kind} has no mesh", stacklevel=stacklevel)


def _placed(mesh: _Mesh, data: Any, geom: int) -> NDArray[np.float64]:
    """Vertices of the mesh of a geom in the frame of the world."""
    placed: NDArray[np.float64] = mesh.vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    return placed


def _matrix(rotation: NDArray[np.float64], position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Homogeneous matrix."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation.reshape(3, 3)
    matrix[:3, 3] = position
    return matrix


def _number(model: Any, argument: str, given: str | int, kind: str | None = None) -> int:
    """Number of the site or body of a name or a number."""
    import mujoco

    kind = kind or argument
    count = getattr(model, f"n{kind}")
    if isinstance(given, str):
        number = mujoco.mj_name2id(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), given)
        if number < 0:
            known = [getattr(model, kind)(n).name for n in range(count)]
            raise ValueError(f"{argument}: no {kind} is named {given!r}\nhelp: there are {known}")
        return int(number)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if not 0 <= given < count:
            raise ValueError(f"{argument}: expected a number from 0 to {count - 1}, got {given}")
        return int(given)
    raise TypeError(f"{argument}: expected the name or the number of a {kind}, got {type(given).__name__}")


def _name(model: Any, geom: int) -> str:
    """Name of a geom, unique in the scene."""
    return model.geom(geom).name or f"geom {geom}"


def _is_seen(model: Any, geom: int, groups: Sequence[int] | None, excluded: int) -> bool:
    """Whether rays of MuJoCo can hit a geom."""
    if model.geom_bodyid[geom] == excluded:
        return False
    if groups is not None and model.geom_group[geom] not in groups:
        return False
    # A geom with a material has its alpha, whatever its own colour.
    material = model.geom_matid[geom]
    rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
    return bool(rgba[3] != 0)


def _moves(model: Any, geom: int) -> bool:
    """Whether a geom can move relative to the world."""
    body = model.geom_bodyid[geom]
    is_mocap = model.body_mocapid[model.body_rootid[body]] >= 0
    return bool(model.body_weldid[body] != 0 or is_mocap)


def _material(model: Any, geom: int, materials: Mapping[str, str], default: str) -> str:
    """Material of a geom."""
    name = model.geom(geom).name
    if name in materials:
        return materials[name]
    number = model.geom_matid[geom]
    return materials.get(model.mat(number).name, default) if number >= 0 else default


def _mesh(model: Any, geom: int, tolerance: float, reach: float) -> _Mesh | None:
    """Mesh of a geom in its own frame; none for types without one."""
    import mujoco

    kind, size = mujoco.mjtGeom(model.geom_type[geom]), model.geom_size[geom]
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_PLANE:
        half = [length if length > 0 else reach for length in size[:2]]
        return _rectangle(*half)
    if kind == types.mjGEOM_BOX:
        return _box(size)
    if kind == types.mjGEOM_SPHERE:
        return _ellipsoid(np.full(3, size[0]), tolerance)
    if kind == types.mjGEOM_ELLIPSOID:
        return _ellipsoid(size, tolerance)
    if kind == types.mjGEOM_CYLINDER:
        angles = _steps(size[0], tolerance)
        return _revolved([(0.0, -size[1]), (size[0], -size[1]), (size[0], size[1]), (0.0, size[1])], angles)
    if kind == types.mjGEOM_CAPSULE:
        return _capsule(size[0], size[1], tolerance)
    if kind == types.mjGEOM_MESH:
        return _stored(model, model.geom_dataid[geom])
    if kind == types.mjGEOM_HFIELD:
        return _height_field(model, model.geom_dataid[geom])
    return None


def _rectangle(x: float, y: float) -> _Mesh:
    """Rectangle of half lengths x and y in the plane z = 0."""
    corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return _Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def _box(half: NDArray[np.float64]) -> _Mesh:
    """Cuboid of half lengths."""
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    return _Mesh(corners * half, np.array(triangles))


def _steps(radius: float, tolerance: float) -> int:
    """Number of sides of a polygon in a circle that is within a tolerance of it."""
    share = min(tolerance / radius, 0.5)
    return max(8, math.ceil(math.pi / math.acos(1.0 - share)))


def _revolved(profile: Sequence[tuple[float, float]], around: int) -> _Mesh:
    """Closed surface of a profile (radius, z) from its lower to its upper end on the axis, turned about z."""
    rings: list[tuple[int, bool]] = []
    vertices: list[tuple[float, float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    angles = [2.0 * math.pi * i / around for i in range(around)]
    for radius, z in profile:
        rings.append((len(vertices), radius > 0.0))
        points = [(radius * math.cos(t), radius * math.sin(t), z) for t in angles]
        vertices.extend(points if radius > 0.0 else [(0.0, 0.0, z)])
    for (low, low_is_ring), (high, high_is_ring) in zip(rings, rings[1:]):
        for i in range(around):
            k = (i + 1) % around
            a, b = (low + i, low + k) if low_is_ring else (low, low)
            c, d = (high + k, high + i) if high_is_ring else (high, high)
            if low_is_ring:
                triangles.append((a, b, c))
            if high_is_ring:
                triangles.append((a, c, d))
    return _Mesh(np.array(vertices), np.array(triangles))


def _ellipsoid(radii: NDArray[np.float64], tolerance: float) -> _Mesh:
    """Ellipsoid: a sphere of radius 1, scaled, which scales the distance from the mesh by at most the greatest radius."""
    # Meridians and parallels have half of the tolerance each.
    around = _steps(float(max(radii)), 0.5 * tolerance)
    count = math.ceil(0.5 * around)
    polar = [math.pi * i / count for i in range(1, count)]
    profile = [(0.0, -1.0), *((math.sin(p), -math.cos(p)) for p in polar), (0.0, 1.0)]
    sphere = _revolved(profile, around)
    return _Mesh(sphere.vertices * radii, sphere.triangles)


def _capsule(radius: float, half: float, tolerance: float) -> _Mesh:
    """Cylinder of a half length with hemispheres at its ends."""
    around = _steps(radius, 0.5 * tolerance)
    count = math.ceil(0.25 * around)
    polar = [0.5 * math.pi * i / count for i in range(1, count + 1)]
    lower = [(radius * math.sin(p), -half - radius * math.cos(p)) for p in polar]
    upper = [(r, -z) for r, z in reversed(lower)]
    return _revolved([(0.0, -half - radius), *lower, *upper, (0.0, half + radius)], around)


def _stored(model: Any, mesh: int) -> _Mesh:
    """Mesh of the model."""
    vertices = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    triangles = np.array(model.mesh_face[faces], dtype=np.int64)
    return _Mesh(np.array(model.mesh_vert[vertices], dtype=np.float64), triangles)


def _height_field(model: Any, field: int) -> _Mesh:
    """Height field of the model: its surface, its sides and its base."""
    # Surface: two triangles for each cell.
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    x_half, y_half, top, base = model.hfield_size[field]
    start = model.hfield_adr[field]
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns) * top
    x, y = np.meshgrid(np.linspace(-x_half, x_half, columns), np.linspace(-y_half, y_half, rows))
    vertices = np.stack([x, y, heights], axis=-1).reshape(-1, 3).astype(np.float64)
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    d, c = number[1:, :-1].ravel(), number[1:, 1:].ravel()
    surface = np.concatenate([np.stack([a, c, d], 1), np.stack([a, b, c], 1)])

    # Sides and base: the outline, and below it.
    outline = np.concatenate([number[0], number[1:, -1], number[-1, -2::-1], number[-2:0:-1, 0]])
    below = vertices[outline] * [1.0, 1.0, 0.0] - [0.0, 0.0, base]
    low = len(vertices) + np.arange(len(outline))
    next_low, following = np.roll(low, -1), np.roll(outline, -1)
    sides = np.concatenate([np.stack([low, next_low, following], 1), np.stack([low, following, outline], 1)])
    corners = low[[0, columns - 1, columns + rows - 2, 2 * columns + rows - 3]]
    floor = corners[[[0, 2, 1], [0, 3, 2]]]
    return _Mesh(np.concatenate([vertices, below]), np.concatenate([surface, sides, floor]))
