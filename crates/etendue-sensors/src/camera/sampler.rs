//! Camera rays: sample positions on pixels, times within the exposure, projection.

use super::model::Camera;
use etendue_physics::Stream;
use etendue_scene::Ray;
use nalgebra::{Isometry3, Matrix3, Point2, Point3};

/// The root of $x^4 = x + 1$, of the recurrence in three dimensions.
const ROOT: f64 = 1.220_744_084_605_759_6;

/// Increments of the recurrence: across, down and through the exposure.
pub(super) const STEPS: [f64; 3] = [1.0 / ROOT, 1.0 / (ROOT * ROOT), 1.0 / (ROOT * ROOT * ROOT)];

/// Low-discrepancy samples of one pixel: an additive recurrence (Roberts 2018, "The unreasonable
/// effectiveness of quasirandom sequences") with a random shift per pixel. A single sample is at the
/// centre of the pixel at the middle of the exposure.
pub(super) struct PixelSampler {
    shift: [f64; 3],
    /// Whether the pixel has one sample.
    is_single: bool,
}

/// A sample position: across and down the pixel and through the exposure, each in [0, 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct PixelSample {
    pub across: f64,
    pub down: f64,
    pub through: f64,
}

impl PixelSampler {
    /// Samples of a pixel, shifted by numbers of its stream.
    pub fn new(samples: u32, stream: &mut Stream) -> Self {
        let is_single = samples == 1;
        let shift = if is_single {
            [0.5; 3]
        } else {
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        Self { shift, is_single }
    }

    /// Position of a sample.
    pub fn sample(&self, sample: u32) -> PixelSample {
        if self.is_single {
            return CENTRE;
        }
        let at = |i: usize| fraction(self.shift[i] + f64::from(sample) * STEPS[i]);
        PixelSample {
            across: at(0),
            down: at(1),
            through: at(2),
        }
    }
}

/// Fractional part of a number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "less than the number of samples"
)]
fn fraction(value: f64) -> f64 {
    value - f64::from(value as u32)
}

/// The centre of a pixel at the middle of the exposure.
pub(super) const CENTRE: PixelSample = PixelSample {
    across: 0.5,
    down: 0.5,
    through: 0.5,
};

/// A camera ray of a pixel.
pub(super) struct PixelRay {
    /// In the world.
    pub ray: Ray,
    /// Irradiance relative to that on the axis.
    pub vignetting: f64,
}

/// Pose of a camera as a function of time (s). It is a `dyn`, so that the renderer is compiled once for
/// all closures.
pub(super) type CameraPoses<'a> = dyn Fn(f64) -> Isometry3<f64> + Sync + 'a;

/// Camera rays of a frame.
pub(super) struct PixelRays<'a> {
    pub camera: &'a Camera,
    /// Start of the exposure of the first row, s.
    pub start: f64,
    /// Exposure time, s.
    pub exposure: f64,
    /// Pose of the camera as a function of time.
    pub world_from_camera: &'a CameraPoses<'a>,
    /// Half the image's diagonal, pixels.
    half_diagonal: f64,
}

impl<'a> PixelRays<'a> {
    /// Rays of a frame that starts at `start` (s).
    pub fn new(
        camera: &'a Camera,
        start: f64,
        exposure: f64,
        world_from_camera: &'a CameraPoses<'a>,
    ) -> Self {
        let [width, height] = [camera.width, camera.height].map(f64::from);
        Self {
            camera,
            start,
            exposure,
            world_from_camera,
            half_diagonal: 0.5 * width.hypot(height),
        }
    }

    /// Time of a row at a fraction of its exposure, s.
    pub fn time(&self, row: u32, through: f64) -> f64 {
        self.start + f64::from(row) * self.camera.shutter.line_time + through * self.exposure
    }

    /// The ray of a sample; `None` outside the field of view of the lens. `pose_cache` holds the pose for the
    /// next ray at the same time.
    pub fn ray(
        &self,
        [column, row]: [u32; 2],
        sample: PixelSample,
        pose_cache: &mut Option<CameraPose>,
    ) -> Option<PixelRay> {
        // Unproject the point on the sensor.
        let pixel = Point2::new(
            f64::from(column) - 0.5 + sample.across,
            f64::from(row) - 0.5 + sample.down,
        );
        let intrinsics = &self.camera.intrinsics;
        let direction = intrinsics.unproject(&pixel)?;
        // Find the pose at the time of the sample.
        let time = self.time(row, sample.through);
        let pose = match pose_cache {
            #[expect(clippy::float_cmp, reason = "only an equal time has the same pose")]
            Some(pose) if pose.time == time => pose,
            _ => pose_cache.insert(CameraPose::new(time, &(self.world_from_camera)(time))),
        };
        // Transform the ray to the world.
        let distance = (pixel - Point2::from(intrinsics.centre)).norm() / self.half_diagonal;
        let mut ray = Ray::new(pose.position, pose.world_from_optical * direction);
        ray.time = time;
        Some(PixelRay {
            ray,
            vignetting: self.camera.vignetting.share(direction.z, distance),
        })
    }
}

/// Pose of the camera at a time.
pub(super) struct CameraPose {
    /// s.
    time: f64,
    position: Point3<f64>,
    world_from_optical: Matrix3<f64>,
}

impl CameraPose {
    fn new(time: f64, world_from_camera: &Isometry3<f64>) -> Self {
        let rotation = world_from_camera.rotation.to_rotation_matrix();
        let [forward, left, up] = [0, 1, 2].map(|axis| rotation.matrix().column(axis).into_owned());
        Self {
            time,
            position: world_from_camera.translation.vector.into(),
            world_from_optical: Matrix3::from_columns(&[-left, -up, forward]),
        }
    }
}
