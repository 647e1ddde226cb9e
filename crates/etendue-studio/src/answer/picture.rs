//! A picture of the scene from a camera.

use crate::refusal::Refusal;
use crate::robot::picture;
use crate::session::pose::{PoseNumbers, of_numbers};
use crate::session::{Inputs, Loaded};
use etendue::config::scene::light_if_dark;
use etendue::physics::camera::Intrinsics;
use etendue::sensors::camera::{Camera, CameraWorld, CameraWorldError, FrameSettings, Shutter};

/// A request of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureRequest {
    /// The camera.
    pub camera: Camera,
    /// Pose of the camera; `None` for that of the sensor.
    pub pose: Option<PoseNumbers>,
    /// Every how many pixels are rendered, in both directions.
    pub every: u32,
}

/// Rays per pixel of a whole picture, as of `etendue render`.
const SAMPLES: u32 = 16;

/// Rays per pixel of a reduced picture.
const REDUCED_SAMPLES: u32 = 4;

/// Everything that a picture is made of, for a thread of its own.
pub struct PictureTask {
    camera: Camera,
    loaded: Loaded,
    pose: Option<PoseNumbers>,
    settings: FrameSettings,
}

impl PictureTask {
    /// A picture at the start of the sweep.
    pub fn new(request: &PictureRequest, inputs: &Inputs, loaded: &Loaded) -> Self {
        let is_whole = request.every <= 1;
        let settings = FrameSettings {
            samples: if is_whole { SAMPLES } else { REDUCED_SAMPLES },
            seed: inputs.seed,
            index: inputs.sweep,
            start: loaded.settings(inputs).start_of(loaded.lidar()),
            ..FrameSettings::default()
        };
        Self {
            camera: reduced(&request.camera, request.every),
            loaded: loaded.clone(),
            pose: request.pose,
            settings,
        }
    }

    /// Renders the picture, as a PNG file.
    ///
    /// # Errors
    /// If materials or lights have no data in the bands of the camera, or no light reaches it.
    pub fn render(&self) -> Result<Vec<u8>, Refusal> {
        let scene = &self.loaded.scene;
        let given = self.pose.map(of_numbers);
        let pose = |time: f64| given.unwrap_or_else(|| self.loaded.pose_at(time));
        let mut lighting = scene.lighting.clone();
        light_if_dark(&scene.scene, &mut lighting, &pose(self.settings.start));
        let world = CameraWorld::new(&scene.scene, &lighting, &scene.textures, &self.camera)?;
        let frame = world.expose(&self.camera, &self.settings, pose);
        if frame.radiance.iter().all(|radiance| *radiance <= 0.0) {
            return Err(Refusal::new(
                "the picture is black: no light reaches the camera",
                "give another pose, or add a light to the scene",
            ));
        }
        picture(&frame)
    }
}

/// The camera with every n-th pixel in both directions.
fn reduced(camera: &Camera, every: u32) -> Camera {
    let every = every.clamp(1, camera.width.min(camera.height));
    let factor = f64::from(every);
    let intrinsics = &camera.intrinsics;
    Camera {
        width: camera.width / every,
        height: camera.height / every,
        intrinsics: Intrinsics {
            focal: intrinsics.focal.map(|pixels| pixels / factor),
            // The centre of the first pixel is 0
            centre: intrinsics
                .centre
                .map(|pixels| (pixels + 0.5) / factor - 0.5),
            image_circle: intrinsics.image_circle.map(|pixels| pixels / factor),
            lens: intrinsics.lens,
        },
        shutter: Shutter {
            line_time: factor * camera.shutter.line_time,
            ..camera.shutter
        },
        ..camera.clone()
    }
}

impl From<CameraWorldError> for Refusal {
    fn from(error: CameraWorldError) -> Self {
        let remedy = "materials and lights need values from 460 to 610 nm for a colour camera";
        Self::new(error.to_string(), remedy)
    }
}
