//! Pictures of cameras.

use crate::arrays::{array, check_finite, whole_number};
use crate::errors::Outcome;
use crate::gpu::Gpu;
use crate::scene::{Scene, SceneArgument};
use crate::simulate::seed_of;
use crate::threads::{self, Control};
use crate::trajectory::SensorMotion;
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
/// pose : array of the shape (4, 4), or (position, quaternion), or Trajectory, optional
///     Pose of the camera, which looks along its x axis, world from camera. A trajectory moves the camera during the
///     exposure and to the next frame (`flow`); its first pose is at the time 0. Default: the pose of the sensor in
///     the scene file, with its motion.
/// light : {"direct", "paths"}, default "direct"
///     Light from one rough surface, also through mirrors and glass, or from any number of surfaces.
/// samples : int, optional
///     Rays per pixel. Default: 16 for direct light, 64 for paths.
/// seed : int, default 1
///     Seed of the random numbers.
/// index : int, default 0
///     Index of the frame: frames have different noise.
/// time : float, optional
///     Start of the exposure, s. Default: `index` divided by the frame rate.
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
/// TrajectoryError
///     The motion of the camera does not cover the exposure and the time to the next frame.
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
#[pyo3(signature = (scene, camera = None, pose = None, *, light = "direct", samples = None, seed = 1, index = 0, time = None, device = "cpu", threads = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn render<'py>(
    scene: SceneArgument<'py>,
    camera: Option<PathBuf>,
    pose: Option<&Bound<'py, PyAny>>,
    light: &str,
    samples: Option<u32>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    #[pyo3(from_py_with = index_of)] index: u32,
    time: Option<f64>,
    device: &str,
    threads: Option<i64>,
) -> Outcome<Bound<'py, PyDict>> {
    // Read the arguments.
    let py = scene.py();
    check_finite("time", time.as_slice())?;
    let motion = SensorMotion::of(scene.get(), pose)?;
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
    let start = time.unwrap_or_else(|| f64::from(index) * camera.frame_time());
    motion.check_span(start, start + camera.frame_time())?;
    let settings = FrameSettings {
        samples: samples.unwrap_or(samples_by_default),
        light: transport,
        seed,
        sensor: 0,
        index,
        start,
    };

    // Expose.
    let picture = Picture {
        scene: scene.get(),
        camera: &camera,
        settings,
        motion,
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

/// The argument `index`.
fn index_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole_number("index", value, u32::MAX)
}

/// A picture that a call renders.
pub struct Picture<'a> {
    pub scene: &'a Scene,
    pub camera: &'a Camera,
    pub settings: FrameSettings,
    motion: SensorMotion<'a>,
}

impl Picture<'_> {
    /// The pose of the camera at a time of the run, s, unless Ctrl-C was pressed.
    pub fn pose(&self, time: f64, control: &Control) -> Isometry3<f64> {
        control.check();
        self.motion.at(time)
    }

    /// The lights of the scene, or others if it is dark.
    pub fn lighting(&self) -> Lighting {
        let loaded = self.scene.loaded();
        let mut lighting = loaded.lighting.clone();
        light_if_dark(
            &loaded.scene,
            &mut lighting,
            &self.motion.at(self.settings.start),
        );
        lighting
    }

    /// Renders it on the CPU.
    fn render(&self, py: Python<'_>, threads: Option<i64>) -> Outcome<(CameraFrame, FrameTruth)> {
        let loaded = self.scene.loaded();
        let (camera, settings) = (self.camera, &self.settings);
        threads::run_controlled(py, threads, usize::MAX, None, |control| {
            let lighting = self.lighting();
            let world = CameraWorld::new(&loaded.scene, &lighting, &loaded.textures, camera)?;
            let at = |time| self.pose(time, control);
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
