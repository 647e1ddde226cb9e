//! Where on a pixel, and when, each ray goes.

use super::model::Camera;
use etendue_physics::Stream;
use nalgebra::{Isometry3, Matrix3, Point2, Point3};

/// The root of $x^4 = x + 1$: steps that fill a cube evenly.
const ROOT: f64 = 1.220_744_084_605_759_6;

/// Across, down and through the exposure.
const STEPS: [f64; 3] = [1.0 / ROOT, 1.0 / (ROOT * ROOT), 1.0 / (ROOT * ROOT * ROOT)];

/// Where the samples of one pixel lie: an additive recurrence (Roberts 2018, "The unreasonable
/// effectiveness of quasirandom sequences") shifted by a random amount of the pixel's own. A lone
/// sample goes through the middle of the pixel at the middle of the exposure.
pub(super) struct Sampler {
    shift: [f64; 3],
    alone: bool,
}

/// A sample: across and down the pixel and through the exposure, each in [0, 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub across: f64,
    pub down: f64,
    pub through: f64,
}

impl Sampler {
    pub fn new(samples: u32, stream: &mut Stream) -> Self {
        let alone = samples == 1;
        let shift = if alone {
            [0.5; 3]
        } else {
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        Self { shift, alone }
    }

    pub fn place(&self, sample: u32) -> Place {
        if self.alone {
            return MIDDLE;
        }
        let at = |i: usize| fraction(self.shift[i] + f64::from(sample) * STEPS[i]);
        Place {
            across: at(0),
            down: at(1),
            through: at(2),
        }
    }
}

/// What is behind the point of a number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "less than the number of samples"
)]
fn fraction(value: f64) -> f64 {
    value - f64::from(value as u32)
}

/// The middle of a pixel at the middle of its exposure.
pub(super) const MIDDLE: Place = Place {
    across: 0.5,
    down: 0.5,
    through: 0.5,
};

/// A ray through a pixel: in the world, and what the lens lets through.
pub(super) struct PixelRay {
    pub ray: etendue_scene::Ray,
    /// Share of the light on the axis.
    pub share: f64,
}

/// Maps positions on pixels to rays in the world.
pub(super) struct Rays<'a, F> {
    pub camera: &'a Camera,
    /// When the first row's exposure begins, s.
    pub start: f64,
    /// s.
    pub exposure: f64,
    pub world_from_camera: F,
    /// Half the image's diagonal, pixels.
    half_diagonal: f64,
}

impl<'a, F: Fn(f64) -> Isometry3<f64>> Rays<'a, F> {
    pub fn new(camera: &'a Camera, start: f64, exposure: f64, world_from_camera: F) -> Self {
        let [width, height] = [camera.width, camera.height].map(f64::from);
        Self {
            camera,
            start,
            exposure,
            world_from_camera,
            half_diagonal: 0.5 * width.hypot(height),
        }
    }

    /// When a row's light of that part of the exposure arrives, s.
    pub fn time(&self, row: u32, through: f64) -> f64 {
        self.start + f64::from(row) * self.camera.shutter.line_time + through * self.exposure
    }

    /// The ray of a sample; `None` where the lens sees nothing. `posed` keeps where the camera was
    /// for the next ray at the same time.
    pub fn through(
        &self,
        [column, row]: [u32; 2],
        place: Place,
        posed: &mut Option<Posed>,
    ) -> Option<PixelRay> {
        let pixel = Point2::new(
            f64::from(column) - 0.5 + place.across,
            f64::from(row) - 0.5 + place.down,
        );
        let intrinsics = &self.camera.intrinsics;
        let direction = intrinsics.unproject(&pixel)?;
        let time = self.time(row, place.through);
        let posed = match posed {
            #[expect(clippy::float_cmp, reason = "the very same time")]
            Some(known) if known.time == time => known,
            _ => posed.insert(Posed::new(time, &(self.world_from_camera)(time))),
        };
        let distance = (pixel - Point2::from(intrinsics.centre)).norm() / self.half_diagonal;
        let mut ray = etendue_scene::Ray::new(posed.place, posed.world_from_optical * direction);
        ray.time = time;
        Some(PixelRay {
            ray,
            share: self.camera.vignetting.share(direction.z, distance),
        })
    }
}

/// Where the camera is at a time.
pub(super) struct Posed {
    /// s.
    time: f64,
    place: Point3<f64>,
    world_from_optical: Matrix3<f64>,
}

impl Posed {
    fn new(time: f64, world_from_camera: &Isometry3<f64>) -> Self {
        let turn = world_from_camera.rotation.to_rotation_matrix();
        let [forward, left, up] = [0, 1, 2].map(|axis| turn.matrix().column(axis).into_owned());
        Self {
            time,
            place: world_from_camera.translation.vector.into(),
            world_from_optical: Matrix3::from_columns(&[-left, -up, forward]),
        }
    }
}
