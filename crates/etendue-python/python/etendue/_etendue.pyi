from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, TypeAlias, TypedDict, final, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "CommandError",
    "ConfigError",
    "DepthError",
    "DeviceError",
    "EtendueError",
    "FitError",
    "FitResult",
    "FormatError",
    "Jacobian",
    "Lidar",
    "MappingError",
    "ModelError",
    "NoiseError",
    "Picture",
    "Pullback",
    "RegisterError",
    "RigError",
    "Scene",
    "SceneError",
    "Sweep",
    "Trajectory",
    "TrajectoryError",
    "UnknownNameError",
    "WorldError",
    "__version__",
    "_run_command",
    "devices",
    "draw",
    "fit",
    "jacobian",
    "jvp",
    "predict",
    "presets",
    "render",
    "scenes",
    "simulate",
    "simulate_batch",
    "vjp",
]

__version__: Final[str]

_Path: TypeAlias = str | PathLike[str]
_Pose: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike]
_Parameters: TypeAlias = list[str] | dict[str, Any]
_Motion: TypeAlias = Literal["spatial", "planar"]
_Image: TypeAlias = Literal[
    "range", "intensity", "time", "azimuth", "elevation", "true_range", "true_label"
]
_Interpolation: TypeAlias = Literal["linear", "cubic"]
_Floats: TypeAlias = NDArray[np.float64]
_Reals: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
_Mask: TypeAlias = NDArray[np.bool_]

class EtendueError(Exception): ...
class ConfigError(EtendueError): ...
class FitError(EtendueError): ...
class FormatError(EtendueError): ...
class ModelError(EtendueError): ...
class SceneError(EtendueError): ...
class TrajectoryError(EtendueError): ...
class UnknownNameError(EtendueError): ...
class WorldError(EtendueError): ...
class CommandError(EtendueError): ...
class DepthError(EtendueError): ...
class DeviceError(EtendueError): ...
class MappingError(EtendueError): ...
class NoiseError(EtendueError): ...
class RegisterError(EtendueError): ...
class RigError(EtendueError): ...

class _Hits(TypedDict):
    t_hit: _Floats
    geometry_ids: NDArray[np.uint32]
    primitive_ids: NDArray[np.uint32]
    primitive_uvs: _Floats
    primitive_normals: _Floats

class _Device(TypedDict):
    device: str
    name: str
    kind: str
    interface: str
    driver: str
    largest_buffer_bytes: int

class _Truth(TypedDict):
    label: NDArray[np.int32]
    material: NDArray[np.int32]
    range: _Floats
    incidence: _Floats

class _Frame(TypedDict):
    picture: NDArray[np.uint8]
    radiance: NDArray[np.float32]
    raw: NDArray[np.uint16]
    depth: NDArray[np.float32]
    range: NDArray[np.float32]
    normal: NDArray[np.float32]
    label: NDArray[np.int32]
    material: NDArray[np.int32]
    flow: NDArray[np.float32]

@final
class Scene:
    INVALID_ID: int
    @staticmethod
    def load(name: _Path) -> Scene: ...
    @staticmethod
    def arena() -> Scene: ...
    @staticmethod
    def from_meshes(
        meshes: dict[str, tuple[ArrayLike, ArrayLike, str]]
        | dict[str, tuple[Any, str]]
        | dict[str, tuple[ArrayLike, ArrayLike, str] | tuple[Any, str]],
        *,
        name: str = "meshes",
    ) -> Scene: ...
    def raycast(
        self,
        rays: ArrayLike,
        *,
        origin: ArrayLike | None = None,
        keys: Sequence[str] | None = None,
        time: float = 0.0,
        bodies: Mapping[str, _Pose] | None = None,
        threads: int | None = None,
    ) -> _Hits: ...
    def __copy__(self) -> Scene: ...
    def __deepcopy__(self, _memo: Any, /) -> Scene: ...
    @property
    def name(self) -> str: ...
    @property
    def objects(self) -> list[str]: ...
    @property
    def materials(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def sensor_pose(self) -> _Floats | None: ...

@final
class Lidar:
    def __new__(cls, name: _Path) -> Lidar: ...
    def replace(self, changes: dict[str, Any] | None = None, **values: Any) -> Lidar: ...
    def save(self, path: _Path) -> None: ...
    @staticmethod
    def _of_text(path: _Path, text: str) -> Lidar: ...
    def __copy__(self) -> Lidar: ...
    def __deepcopy__(self, _memo: Any, /) -> Lidar: ...
    def keys(self) -> list[str]: ...
    def __getitem__(self, key: str, /) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def sources(self) -> list[str]: ...
    @property
    def receiver(self) -> Literal["pulsed", "phase", "fmcw", "triangulation"]: ...
    @property
    def wavelength(self) -> float: ...
    @property
    def channels(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def beams(self) -> int: ...
    @property
    def sweep_duration(self) -> float: ...
    @property
    def range_limits(self) -> tuple[float, float]: ...
    @property
    def toml(self) -> str: ...

@final
class Sweep:
    def __copy__(self) -> Sweep: ...
    def __deepcopy__(self, _memo: Any, /) -> Sweep: ...
    @property
    def points(self) -> _Floats: ...
    @property
    def range(self) -> _Floats: ...
    @property
    def intensity(self) -> _Floats: ...
    @property
    def time(self) -> _Floats: ...
    @property
    def ring(self) -> NDArray[np.uint16]: ...
    @property
    def column(self) -> NDArray[np.uint32]: ...
    @property
    def azimuth(self) -> _Floats: ...
    @property
    def elevation(self) -> _Floats: ...
    @property
    def truth(self) -> _Truth | None: ...
    def image(self, name: _Image) -> tuple[_Floats, _Mask]: ...
    def save(self, path: _Path) -> None: ...
    def to_arrow(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def plot(self, kind: Literal["top", "range", "intensity"] | None = None) -> Picture: ...
    def _repr_png_(self) -> bytes: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def index(self) -> int: ...
    @property
    def start(self) -> float: ...
    @property
    def pose(self) -> _Floats: ...
    def __len__(self) -> int: ...

@final
class Picture:
    @property
    def png(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    def _repr_png_(self) -> bytes: ...

@final
class Trajectory:
    def __new__(
        cls, times: ArrayLike, poses: ArrayLike, *, interpolation: _Interpolation = "linear"
    ) -> Trajectory: ...
    @staticmethod
    def load(
        path: _Path, *, interval: float = 0.1, interpolation: _Interpolation = "linear"
    ) -> Trajectory: ...
    @staticmethod
    def _of_numbers(
        times: list[float], poses: list[list[float]], interpolation: str
    ) -> Trajectory: ...
    def __copy__(self) -> Trajectory: ...
    def __deepcopy__(self, _memo: Any, /) -> Trajectory: ...
    def at(self, time: float) -> _Floats: ...
    @property
    def times(self) -> _Floats: ...
    @property
    def poses(self) -> _Floats: ...
    @property
    def interpolation(self) -> _Interpolation: ...
    def __len__(self) -> int: ...

@final
class Jacobian:
    @property
    def y(self) -> _Floats: ...
    @property
    def J(self) -> _Floats: ...
    @property
    def valid(self) -> _Mask: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def units(self) -> list[str]: ...
    def __iter__(self) -> Iterator[Any]: ...

@final
class Pullback:
    @property
    def valid(self) -> _Mask: ...
    @property
    def shapes(self) -> dict[str, tuple[int, ...]]: ...
    def __call__(self, cotangent: ArrayLike) -> dict[str, _Floats]: ...

@final
class FitResult:
    @property
    def estimate(self) -> dict[str, float | _Floats]: ...
    @property
    def covariance(self) -> _Floats: ...
    @property
    def std(self) -> _Floats: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def units(self) -> list[str]: ...
    @property
    def verdict(self) -> Literal["good", "doubtful", "wrong model"]: ...
    @property
    def reasons(self) -> list[str]: ...
    @property
    def undetermined(self) -> list[str]: ...
    @property
    def rms(self) -> float: ...
    @property
    def converged(self) -> bool: ...
    @property
    def iterations(self) -> int: ...

def simulate(
    scene: Scene,
    lidar: Lidar,
    pose: _Pose | Trajectory | None = None,
    *,
    bodies: Mapping[str, _Pose] | None = None,
    values: Mapping[str, float] | None = None,
    weather: Mapping[str, float] | None = None,
    paths: int | None = None,
    seed: int = 1,
    sweep: int = 0,
    time: float | None = None,
    device: str = "cpu",
    threads: int | None = None,
    truth: bool = False,
) -> Sweep: ...
@overload
def simulate_batch(
    scene: Scene,
    lidar: Lidar,
    poses: ArrayLike,
    *,
    bodies: Mapping[str, ArrayLike] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    randomise: Mapping[str, tuple[float, float]] | None = None,
    weather: Mapping[str, float] | None = None,
    paths: int | None = None,
    seed: int = 1,
    sweep: int = 0,
    time: float = 0.0,
    labels: Literal[False] = False,
    dtype: DTypeLike | None = None,
    out: Mapping[str, NDArray[Any]] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> tuple[_Reals, _Reals, _Mask]: ...
@overload
def simulate_batch(
    scene: Scene,
    lidar: Lidar,
    poses: ArrayLike,
    *,
    bodies: Mapping[str, ArrayLike] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    randomise: Mapping[str, tuple[float, float]] | None = None,
    weather: Mapping[str, float] | None = None,
    paths: int | None = None,
    seed: int = 1,
    sweep: int = 0,
    time: float = 0.0,
    labels: Literal[True],
    dtype: DTypeLike | None = None,
    out: Mapping[str, NDArray[Any]] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> tuple[_Reals, _Reals, _Mask, NDArray[np.int32]]: ...
def draw(
    randomise: Mapping[str, tuple[float, float]], count: int, *, seed: int = 1
) -> dict[str, _Floats]: ...
def render(
    scene: Scene,
    camera: _Path | None = None,
    pose: _Pose | Trajectory | None = None,
    *,
    light: Literal["direct", "paths"] = "direct",
    samples: int | None = None,
    seed: int = 1,
    index: int = 0,
    time: float | None = None,
    device: str = "cpu",
    threads: int | None = None,
) -> _Frame: ...
def jacobian(
    scene: Scene,
    lidar: Lidar,
    free: list[str],
    *,
    pose: _Pose | None = None,
    motion: _Motion = "spatial",
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> Jacobian: ...
def predict(
    scene: Scene,
    lidar: Lidar,
    parameters: _Parameters | None = None,
    *,
    pose: _Pose | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[_Floats, _Mask]: ...
def vjp(
    scene: Scene,
    lidar: Lidar,
    parameters: _Parameters,
    *,
    pose: _Pose | None = None,
    motion: _Motion = "spatial",
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[_Floats, Pullback]: ...
def jvp(
    scene: Scene,
    lidar: Lidar,
    parameters: _Parameters,
    tangents: dict[str, Any],
    *,
    pose: _Pose | None = None,
    motion: _Motion = "spatial",
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
) -> tuple[_Floats, _Floats, _Mask]: ...
def fit(
    scene: Scene,
    lidar: Lidar,
    measured: Sweep | ArrayLike,
    free: list[str],
    *,
    start: dict[str, float | _Pose] | None = None,
    pose: _Pose | None = None,
    motion: _Motion = "spatial",
    edges: bool | None = None,
    paths: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> FitResult: ...
def devices() -> list[_Device]: ...
def presets() -> list[str]: ...
def scenes() -> list[str]: ...
def _run_command(words: Sequence[str]) -> tuple[int, str | None]: ...
