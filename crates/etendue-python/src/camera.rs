//! Pictures of cameras.

use crate::arrays::{array, check_finite};
use crate::errors::Outcome;
use crate::gpu::Gpu;
use crate::pose::pose as read_pose;
use crate::scene::{Scene, SceneArgument};
use crate::simulate::{seed_of, sweep_of};
use crate::threads;
use etendue::config::camera;
use etendue::config::scene::light_if_dark;
use etendue::config::toml_file::UnknownName;
use etendue::scene::lighting::Lighting;
use etendue::sensors::camera::{
    Camera, CameraFrame, CameraWorld, FrameSettings, FrameTruth, LightTransport,
};
use nalgebra::Isometry3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Rays per pixel by default, for direct light and for paths.
const SAMPLES: [u32; 2] = [16, 64];

/// The camera by default.
const DEFAULT_CAMERA: &str = "ideal";

/// Render a picture of a camera.
///
/// The same frame as `etendue render`. A scene without lights is lit by the sun in a clear sky or, below a
/// ceiling, by a lamp at the camera.
///
/// Parameters
/// ----------
/// scene : Scene
/// camera : str or os.PathLike, optional
///     Name of a preset ("fisheye", "global-shutter", "ideal", "raspberry-pi-v2"), or path of a camera file.
///     Default: "ideal".
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the camera, which looks along its x axis, world from camera. Default: the pose of the sensor in
///     the scene file.
/// light : {"direct", "paths"}, default "direct"
///     Light from one rough surface, also through mirrors and glass, or from any number of surfaces.
/// samples : int, optional
///     Rays per pixel. Default: 16 for direct light, 64 for paths.
/// seed : int, default 1
///     Seed of the random numbers.
/// index : int, default 0
///     Index of the frame: frames have different noise.
/// time : float, default 0
///     Start of the exposure, s.
/// device : str, default "cpu"
///     "cpu", "gpu" (the first of `devices()`), "gpu:N" (that of the number N), or "auto": a GPU if there is one that is
///     not software. Radiances differ by the rounding of float32. What a GPU does not render runs on the CPU, with a
///     `UserWarning`.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
///
/// Returns
/// -------
/// dict of str to numpy.ndarray
///     - `picture`: uint8 (height, width, bands), the display image
///     - `radiance`: float32 (height, width, bands), without noise, W m⁻² sr⁻¹ within the band
///     - `raw`: uint16 (height, width) or (height, width, bands), digital numbers of the detector
///     - `depth`: float32 (height, width), coordinate along the optical axis, m; NaN for none, as for `range`
///     - `range`: float32 (height, width), length of the ray, m
///     - `normal`: float32 (height, width, 3), in the world, towards the camera
///     - `label`, `material`: int32 (height, width), index of the object and of the material; -1 for none
///     - `flow`: float32 (height, width, 2), optical flow to the next frame, pixels (right, down); NaN for none
///
/// Raises
/// ------
/// UnknownNameError
///     No preset or light transport has the name.
/// WorldError
///     A material has no values at the wavelengths of the camera.
/// ConfigError, FormatError
///     The camera file is invalid or cannot be read.
/// DeviceError
///     There is no such device, or it failed.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> frame = et.render(et.Scene.arena(), samples=1)
/// >>> frame["picture"].shape[:2] == frame["depth"].shape == frame["label"].shape
/// True
#[pyfunction]
#[pyo3(signature = (scene, camera = None, pose = None, *, light = "direct", samples = None, seed = 1, index = 0, time = 0.0, device = "cpu", threads = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn render<'py>(
    scene: SceneArgument<'py>,
    camera: Option<PathBuf>,
    pose: Option<&Bound<'py, PyAny>>,
    light: &str,
    samples: Option<u32>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    #[pyo3(from_py_with = sweep_of)] index: u32,
    time: f64,
    device: &str,
    threads: Option<i64>,
) -> Outcome<Bound<'py, PyDict>> {
    // Read the arguments.
    let py = scene.py();
    check_finite("time", &[time])?;
    let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
    let pose = scene.get().sensor_pose_or(given)?;
    let (transport, samples_by_default) = match light {
        "direct" => (LightTransport::default(), SAMPLES[0]),
        "paths" => (LightTransport::paths(), SAMPLES[1]),
        _ => return Err(UnknownName::new("light", light, ["direct", "paths"]).into()),
    };
    if samples == Some(0) {
        return Err(PyValueError::new_err("samples: expected 1 or more, got 0").into());
    }
    let camera = camera.unwrap_or_else(|| DEFAULT_CAMERA.into());
    let is_file = camera.extension().is_some_and(|ending| ending == "toml") || camera.is_file();
    let camera = if is_file {
        camera::load(&camera)?
    } else {
        camera::preset(&camera.to_string_lossy())?
    };
    let settings = FrameSettings {
        samples: samples.unwrap_or(samples_by_default),
        light: transport,
        seed,
        sensor: 0,
        index,
        start: time,
    };

    // Expose.
    let picture = Picture {
        scene: scene.get(),
        camera: &camera,
        settings,
        pose,
    };
    let on_gpu = match Gpu::of(py, device)? {
        Some(gpu) => gpu.render(py, &picture, threads)?,
        None => None,
    };
    let (frame, truth) = match on_gpu {
        Some(found) => found,
        None => picture.render(py, threads)?,
    };
    Ok(arrays(py, &camera, frame, truth)?)
}

/// A picture that a call renders.
pub struct Picture<'a> {
    pub scene: &'a Scene,
    pub camera: &'a Camera,
    pub settings: FrameSettings,
    /// World from camera.
    pub pose: Isometry3<f64>,
}

impl Picture<'_> {
    /// The lights of the scene, or others if it is dark.
    pub fn lighting(&self) -> Lighting {
        let loaded = self.scene.loaded();
        let mut lighting = loaded.lighting.clone();
        light_if_dark(&loaded.scene, &mut lighting, &self.pose);
        lighting
    }

    /// Renders it on the CPU.
    fn render(&self, py: Python<'_>, threads: Option<i64>) -> Outcome<(CameraFrame, FrameTruth)> {
        let loaded = self.scene.loaded();
        let (camera, settings) = (self.camera, &self.settings);
        threads::run_controlled(py, threads, usize::MAX, None, |control| {
            let lighting = self.lighting();
            let world = CameraWorld::new(&loaded.scene, &lighting, &loaded.textures, camera)?;
            let at = |_| {
                control.check();
                self.pose
            };
            let frame = world.expose(camera, settings, at);
            let truth = world.truth(camera, settings, frame.exposure, camera.frame_time(), at);
            Outcome::Ok((frame, truth))
        })?
    }
}

/// A frame and its truth as arrays.
fn arrays<'py>(
    py: Python<'py>,
    camera: &Camera,
    frame: CameraFrame,
    truth: FrameTruth,
) -> PyResult<Bound<'py, PyDict>> {
    // Frame
    let [height, width] = [camera.height, camera.width].map(|size| size as usize);
    let in_bands = [height, width, frame.bands];
    let result = PyDict::new(py);
    result.set_item("picture", array(py, frame.picture, &in_bands)?)?;
    result.set_item("radiance", array(py, frame.radiance, &in_bands)?)?;
    let is_single = frame.raw.len() == height * width;
    let of_raw = if is_single {
        &in_bands[..2]
    } else {
        &in_bands[..]
    };
    result.set_item("raw", array(py, frame.raw, of_raw)?)?;

    // Truth
    let shape = [height, width];
    let flat = |vectors: Vec<[f32; 3]>| vectors.into_iter().flatten().collect::<Vec<f32>>();
    let flow: Vec<f32> = truth.flow.into_iter().flatten().collect();
    let index = |number: Option<u32>| number.map_or(-1, |n| i32::try_from(n).unwrap_or(i32::MAX));
    let labels = truth
        .object
        .iter()
        .map(|object| index(object.map(|of| of.0)));
    let materials = truth
        .material
        .iter()
        .map(|material| index(material.map(|of| of.0)));
    result.set_item("depth", array(py, truth.depth, &shape)?)?;
    result.set_item("range", array(py, truth.range, &shape)?)?;
    result.set_item(
        "normal",
        array(py, flat(truth.normal), &[height, width, 3])?,
    )?;
    result.set_item("label", array(py, labels.collect(), &shape)?)?;
    result.set_item("material", array(py, materials.collect(), &shape)?)?;
    result.set_item("flow", array(py, flow, &[height, width, 2])?)?;
    Ok(result)
}
