//! Scenes.

use crate::arrays::{array, floats, integers, read_only, wrong_shape};
use crate::errors::Outcome;
use crate::gpu::SceneOnGpus;
use crate::pose::matrix;
use crate::variations::Variations;
use crate::{raycast, threads};
use etendue::config::material;
use etendue::config::scene::{Classes, LoadedScene, ScenePlaces, arena, example, examples, load};
use etendue::io::FormatError;
use etendue::raycast::{MaterialId, Mesh, MeshId};
use etendue::scene::lighting::Lighting;
use etendue::scene::{NamedMaterial, Object, SceneBuilder, Textures};
use etendue::sensors::NoiseProfiles;
use etendue::sensors::lidar::Air;
use etendue::sensors::transport::AmbientLight;
use nalgebra::{Isometry3, Point3};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// Endings of mesh files, which have no materials at the wavelength of a lidar.
const MESH_ENDINGS: [&str; 5] = ["obj", "ply", "stl", "gltf", "glb"];

/// Objects with meshes and materials, weather and light: an immutable value.
///
/// `Scene.load`, `Scene.arena` and `Scene.from_meshes` make one.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> scene = et.Scene.arena()
/// >>> scene.objects[:2]
/// ['room', 'mirror']
#[pyclass(frozen, module = "etendue")]
pub struct Scene {
    loaded: Arc<LoadedScene>,
    /// The name or the absolute path that was loaded; None for meshes from arrays.
    source: Option<PathBuf>,
    /// The scene in the memory of GPUs.
    on_gpus: SceneOnGpus,
}

/// A scene as an argument of a function: an error for something else names the ways to load one.
pub struct SceneArgument<'py>(Bound<'py, Scene>);

impl<'py> FromPyObject<'_, 'py> for SceneArgument<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.cast::<Scene>().map(|scene| Self(scene.to_owned())).map_err(|_| {
            let given = object.get_type();
            PyTypeError::new_err(format!(
                "scene: expected a Scene, not {}\nhelp: load one, as in et.Scene.arena() or et.Scene.load(NAME or FILE)",
                given.name().map_or_else(|_| "another object".into(), |name| name.to_string()),
            ))
        })
    }
}

impl<'py> Deref for SceneArgument<'py> {
    type Target = Bound<'py, Scene>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Scene {
    fn new(loaded: LoadedScene, source: Option<PathBuf>) -> Self {
        Self {
            loaded: Arc::new(loaded),
            source,
            on_gpus: SceneOnGpus::default(),
        }
    }

    /// The scene in the memory of GPUs.
    pub fn on_gpus(&self) -> &SceneOnGpus {
        &self.on_gpus
    }

    /// The scene with the other content of its file.
    pub fn loaded(&self) -> &Arc<LoadedScene> {
        &self.loaded
    }

    /// Pose of the sensor: the given one, else that of the scene.
    pub fn sensor_pose_or(&self, given: Option<Isometry3<f64>>) -> PyResult<Isometry3<f64>> {
        let placement = self.loaded.sensor.as_ref();
        let own = placement.map(|placement| placement.world_from_sensor);
        given.or(own).ok_or_else(|| {
            let name = &self.loaded.name;
            PyValueError::new_err(format!(
                "pose: the scene \"{name}\" has no pose of the sensor\nhelp: give pose, a matrix (4, 4) or \
                 (position, quaternion), or add a [sensor] table to the scene file"
            ))
        })
    }
}

#[pymethods]
impl Scene {
    /// Read a scene file, or load a built-in scene.
    ///
    /// Parameters
    /// ----------
    /// name : str or os.PathLike
    ///     Path of a TOML file, or a name of `etendue.scenes()`.
    ///
    /// Returns
    /// -------
    /// Scene
    ///
    /// Raises
    /// ------
    /// UnknownNameError
    ///     No file and no built-in scene has the name.
    /// ConfigError, FormatError, SceneError
    ///     The file is invalid or cannot be read.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> et.Scene.load("mirror-corridor")
    /// Scene("mirror corridor", objects=4, materials=3, triangles=8)
    #[staticmethod]
    fn load(py: Python<'_>, name: PathBuf) -> Outcome<Self> {
        let is_built_in = name.extension().is_none() && !name.exists();
        let source = if is_built_in {
            name.clone()
        } else {
            std::path::absolute(&name).unwrap_or_else(|_| name.clone())
        };
        let loaded = threads::run(py, None, usize::MAX, || -> Outcome<LoadedScene> {
            let ending = name.extension().map(|ending| ending.to_string_lossy());
            match ending.map(|ending| ending.to_ascii_lowercase()) {
                Some(ending) if MESH_ENDINGS.contains(&ending.as_str()) => {
                    Err(FormatError::Unsupported {
                        path: name,
                        message: "a mesh is no scene: it has no materials".into(),
                        remedy: "read its vertices and triangles, and call Scene.from_meshes"
                            .into(),
                    }
                    .into())
                }
                None if !name.exists() => Ok(example(&name.to_string_lossy())?),
                _ => Ok(load(&name)?),
            }
        })??;
        Ok(Self::new(loaded, Some(source)))
    }

    /// The built-in arena: a room of 1.85 x 0.92 x 0.28 m with a mirror and a glass pane.
    ///
    /// Returns
    /// -------
    /// Scene
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> et.Scene.arena().sensor_pose.shape
    /// (4, 4)
    #[staticmethod]
    fn arena(py: Python<'_>) -> Outcome<Self> {
        let loaded = threads::run(py, None, 0, arena)?;
        Ok(Self::new(loaded, Some("arena".into())))
    }

    /// Make a scene of meshes.
    ///
    /// Parameters
    /// ----------
    /// meshes : dict of str to (vertices, triangles, material), or (mesh, material)
    ///     The objects by name. `vertices` is an array of the shape (n, 3), m, in the frame of the world;
    ///     `triangles` an array of whole numbers of the shape (m, 3), the vertices of each triangle,
    ///     anticlockwise seen from outside; `material` a name of `etendue materials`. `mesh` is a mesh of trimesh
    ///     or Open3D.
    /// name : str, optional
    ///     Name of the scene.
    ///
    /// Returns
    /// -------
    /// Scene
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     A triangle has a vertex that does not exist, or a vertex is not finite.
    /// UnknownNameError
    ///     No material has the name.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> import numpy as np
    /// >>> corners = np.array([[3.0, -1, -1], [3, 1, -1], [3, 1, 1], [3, -1, 1]])
    /// >>> wall = (corners, [[0, 2, 1], [0, 3, 2]], "white-paint")
    /// >>> scene = et.Scene.from_meshes({"wall": wall})
    /// >>> float(scene.raycast([0, 0, 0, 1, 0, 0])["t_hit"])
    /// 3.0
    #[staticmethod]
    #[pyo3(signature = (meshes, *, name = "meshes"))]
    fn from_meshes(py: Python<'_>, meshes: &Bound<'_, PyDict>, name: &str) -> Outcome<Self> {
        // Read the objects.
        let mut builder = SceneBuilder::default();
        for (key, value) in meshes {
            add_object(&mut builder, &key, &value)?;
        }

        // Build the scene.
        let triangles = builder.meshes.iter().map(|mesh| mesh.triangles.len());
        let scene = threads::run(py, None, triangles.sum(), || builder.build())??;
        let of_object = vec![-1; scene.objects().len()];
        let loaded = LoadedScene {
            name: name.to_owned(),
            scene,
            profiles: NoiseProfiles::default(),
            ambient: AmbientLight::default(),
            sensor: None,
            lighting: Lighting::default(),
            textures: Textures::default(),
            classes: Classes {
                names: vec![],
                of_object,
            },
            air: Air::default(),
            sha256: String::new(),
            files: vec![],
            places: ScenePlaces::default(),
            warnings: vec![],
        };
        Ok(Self::new(loaded, None))
    }

    /// Cast rays: the nearest hit of each.
    ///
    /// Results have the keys and shapes of `open3d.t.geometry.RaycastingScene.cast_rays`. They are exact in
    /// `float64`, and no ray passes between two triangles.
    ///
    /// Parameters
    /// ----------
    /// rays : array of the shape (..., 6), or (..., 3) with `origin`
    ///     Origin (m) and direction of each ray, or its direction. Neighbouring rays in neighbouring rows are faster.
    /// origin : array of the shape (3,), optional
    ///     Common origin of all rays, m.
    /// keys : sequence of str, optional
    ///     Keys of the results that are computed. Default: all.
    /// time : float, default 0
    ///     Time at which moving objects are hit, s.
    /// bodies : dict of str to pose, optional
    ///     Poses of objects by name, world from object, in place of those of the scene.
    /// threads : int, optional
    ///     Number of threads; the results do not depend on it.
    ///
    /// Returns
    /// -------
    /// dict of str to numpy.ndarray
    ///     - `t_hit`: float64 (...), distance in lengths of the direction; inf for a miss
    ///     - `geometry_ids`: uint32 (...), index of the object; `Scene.INVALID_ID` for a miss
    ///     - `primitive_ids`: uint32 (...), index of the triangle; `Scene.INVALID_ID` for a miss
    ///     - `primitive_uvs`: float64 (..., 2), weights of its second and third vertex
    ///     - `primitive_normals`: float64 (..., 3), its unit normal
    ///
    /// Raises
    /// ------
    /// UnknownNameError
    ///     No result has the key.
    /// ValueError
    ///     A direction has the length zero, or a number is not finite.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> hits = et.Scene.arena().raycast([[0, 0, 0.1, 1, 0, 0], [0, 0, 9, 0, 0, 1]])
    /// >>> hits["geometry_ids"] == et.Scene.INVALID_ID
    /// array([False,  True])
    #[pyo3(signature = (rays, *, origin = None, keys = None, time = 0.0, bodies = None, threads = None))]
    fn raycast<'py>(
        &self,
        rays: &Bound<'py, PyAny>,
        origin: Option<&Bound<'py, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
        time: f64,
        bodies: Option<&Bound<'py, PyDict>>,
        threads: Option<i64>,
    ) -> Outcome<Bound<'py, PyDict>> {
        let moved = Variations::of_bodies(self, bodies)?;
        let keys = raycast::HitKeys::read(keys)?;
        let scene = moved.objects(0, &self.loaded.scene);
        raycast::cast(&scene, rays, origin, keys, time, threads)
    }

    /// uint32: the index in place of an object or a triangle, for a miss.
    #[classattr]
    const INVALID_ID: u32 = raycast::INVALID_ID;

    /// str: name of the scene.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// list of str: names of the objects, by index.
    #[getter]
    fn objects(&self) -> Vec<&str> {
        let objects = self.loaded.scene.objects().iter();
        objects.map(|object| object.name.as_str()).collect()
    }

    /// list of str: names of the materials, by index.
    #[getter]
    fn materials(&self) -> Vec<&str> {
        let materials = self.loaded.scene.materials().iter();
        materials.map(|material| material.name.as_str()).collect()
    }

    /// list of str: irregularities that did not prevent loading.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.clone()
    }

    /// float64 (4, 4) or None: pose of the sensor in the scene file, world from sensor.
    #[getter]
    fn sensor_pose(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let placement = self.loaded.sensor.as_ref();
        let pose = placement.map(|placement| matrix(&placement.world_from_sensor));
        pose.map(|pose| read_only(py, pose, &[4, 4])).transpose()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// For pickle: the path or the name that was loaded, or the meshes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py.import("etendue._restore")?;
        if let Some(source) = &self.source {
            return (restore.getattr("loaded_scene")?, (source,)).into_pyobject(py);
        }
        let scene = &self.loaded.scene;
        let meshes = PyDict::new(py);
        for object in scene.objects() {
            let mesh = scene.mesh(object.mesh);
            let coordinates = mesh
                .vertices
                .iter()
                .flat_map(|vertex| [vertex.x, vertex.y, vertex.z]);
            let vertices = array(py, coordinates.collect(), &[mesh.vertices.len(), 3])?;
            let corners = mesh.triangles.iter().flatten().copied();
            let triangles = array(py, corners.collect(), &[mesh.triangles.len(), 3])?;
            let material = &scene.materials()[object.material.0 as usize].name;
            meshes.set_item(&object.name, (vertices, triangles, material))?;
        }
        let arguments = (meshes, &self.loaded.name);
        (restore.getattr("scene_of_meshes")?, arguments).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let scene = &self.loaded.scene;
        let triangles = |object: &Object| scene.mesh(object.mesh).triangles.len();
        format!(
            "Scene({:?}, objects={}, materials={}, triangles={})",
            self.loaded.name,
            scene.objects().len(),
            scene.materials().len(),
            scene.objects().iter().map(triangles).sum::<usize>()
        )
    }
}

/// Names of the built-in scenes.
///
/// Returns
/// -------
/// list of str
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> "arena" in et.scenes()
/// True
#[pyfunction]
pub fn scenes() -> Vec<&'static str> {
    examples().iter().map(|scene| scene.name).collect()
}

/// Adds an object of `Scene.from_meshes` to a scene.
fn add_object(
    builder: &mut SceneBuilder,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> Outcome<()> {
    // Take the parts.
    let wrong = |expected: &str| PyTypeError::new_err(format!("meshes: expected {expected}"));
    let name: String = (key.extract()).map_err(|_| wrong("names of objects as keys"))?;
    let expected = "tuples (vertices, triangles, material) or (mesh, material)";
    let parts = value.cast::<PyTuple>().map_err(|_| wrong(expected))?;
    let (vertices, triangles, material) = match parts.len() {
        3 => (parts.get_item(0)?, parts.get_item(1)?, parts.get_item(2)?),
        2 => {
            let [vertices, triangles] = arrays_of(&name, &parts.get_item(0)?)?;
            (vertices, triangles, parts.get_item(1)?)
        }
        _ => return Err(wrong(expected).into()),
    };
    let mesh = mesh(&name, &vertices, &triangles)?;
    let material: String = (material.extract())
        .map_err(|_| wrong(&format!("a name as the material of \"{name}\"")))?;

    // Find or add the material.
    let used = builder.materials.iter();
    let known = used.clone().position(|known| known.name == material);
    let number = known.unwrap_or(used.len());
    if known.is_none() {
        let found = material::find(&material)?;
        builder.materials.push(NamedMaterial {
            name: material,
            material: found.material.clone(),
        });
    }

    // Add the mesh and the object.
    let index = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    builder.objects.push(Object {
        name,
        mesh: MeshId(index(builder.meshes.len())),
        world_from_object: Isometry3::identity(),
        material: MaterialId(index(number)),
        mask: u32::MAX,
    });
    builder.meshes.push(mesh.into());
    Ok(())
}

/// Vertices and triangles of a mesh of trimesh or Open3D.
fn arrays_of<'py>(name: &str, mesh: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 2]> {
    // trimesh.Trimesh, open3d.geometry.TriangleMesh
    for triangles in ["faces", "triangles"] {
        if mesh.hasattr("vertices")? && mesh.hasattr(triangles)? {
            return Ok([mesh.getattr("vertices")?, mesh.getattr(triangles)?]);
        }
    }

    // open3d.t.geometry.TriangleMesh
    if mesh.hasattr("vertex")? && mesh.hasattr("triangle")? {
        let array = |group: &str, key: &str| {
            let tensor = mesh.getattr(group)?.get_item(key)?;
            tensor.call_method0("cpu")?.call_method0("numpy")
        };
        return Ok([array("vertex", "positions")?, array("triangle", "indices")?]);
    }
    let found = mesh.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "mesh of \"{name}\": expected a mesh of trimesh or Open3D, got {found}"
    )))
}

/// Mesh of the object `name`.
fn mesh(name: &str, vertices: &Bound<'_, PyAny>, triangles: &Bound<'_, PyAny>) -> PyResult<Mesh> {
    // Vertices
    let argument = format!("vertices of \"{name}\"");
    let points = floats(&argument, vertices)?;
    if !matches!(points.shape[..], [_, 3]) {
        return Err(wrong_shape(&argument, "(n, 3)", &points.shape));
    }
    let points = points.values.chunks_exact(3);

    // Triangles
    let argument = format!("triangles of \"{name}\"");
    let corners = integers(&argument, triangles)?;
    if !matches!(corners.shape[..], [_, 3]) {
        return Err(wrong_shape(&argument, "(m, 3)", &corners.shape));
    }
    let corner = |&corner: &i64| {
        u32::try_from(corner).map_err(|_| {
            PyValueError::new_err(format!("{argument}: {corner} is no index of a vertex"))
        })
    };
    let corners: Vec<u32> = corners.values.iter().map(corner).collect::<PyResult<_>>()?;
    Ok(Mesh {
        vertices: points.map(Point3::from_slice).collect(),
        triangles: corners
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect(),
        materials: vec![],
    })
}
