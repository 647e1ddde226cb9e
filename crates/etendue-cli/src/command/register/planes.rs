//! Check of a registration by the planes of both clouds.

use super::report::Rotation;
use etendue::estimate::odometry::{
    DegenerateDirection, DegenerateMotion, Mapper, MapperOptions, ScanFlaw, ScanVerdict,
};
use nalgebra::{Isometry3, Point3};
use serde::Serialize;

/// Registration of the planes of two scans by the method of `etendue slam`, in which the pattern of the beams has no part.
#[derive(Debug, Serialize)]
pub struct PlaneCheck {
    translation_m: [f64; 3],
    rotation_deg: Rotation,
    /// Standard deviations of the translation along the axes of B, m.
    translation_sd_m: [f64; 3],
    /// Largest standard deviation of the rotation about an axis, degrees.
    rotation_sd_deg: f64,
    /// Directions that the planes do not determine.
    undetermined: Vec<String>,
    /// Difference of the checked registration from this one.
    difference_m: f64,
    difference_deg: f64,
    #[serde(skip)]
    disagrees: bool,
}

/// Smallest difference that makes a registration doubtful, m and degrees: of good registrations by other methods.
const SMALLEST_DIFFERENCE: (f64, f64) = (0.05, 0.5);

/// Difference in standard deviations that makes a registration doubtful.
const DEVIATIONS: f64 = 5.0;

impl PlaneCheck {
    /// Registers the planes of scan `a` with those of `b` from a registration. `None` where the check is open: the scans have too few
    /// planes in common, such as clouds in the frame of the world, or their pose is too uncertain.
    pub fn new(
        a: &[Point3<f64>],
        b: &[Point3<f64>],
        b_from_a: &Isometry3<f64>,
        planar: bool,
    ) -> Option<Self> {
        // Register the planes.
        let options = if planar {
            MapperOptions::planar()
        } else {
            MapperOptions::default()
        };
        let mut mapper = Mapper::new(options);
        let add = |mapper: &mut Mapper, points: &[Point3<f64>], pose: Isometry3<f64>| {
            mapper.add(points, Some(pose)).ok()
        };
        add(&mut mapper, b, Isometry3::identity())?;
        let step = add(&mut mapper, a, *b_from_a)?;
        // Flaws other than directions that are not determined leave the check open.
        let quality = &step.quality;
        if quality.verdict == ScanVerdict::Lost {
            return None;
        }
        let (mut undetermined, mut is_uncertain) = (Vec::new(), false);
        for flaw in &quality.flaws {
            match flaw {
                ScanFlaw::Degenerate(direction) => undetermined.push(text_of(direction)),
                ScanFlaw::Position(_) | ScanFlaw::Rotation(_) => is_uncertain = true,
                _ => return None,
            }
        }
        if is_uncertain && undetermined.is_empty() {
            return None;
        }
        // Compare the registrations.
        let by_planes = step.world_from_lidar;
        let uncertainty = &quality.uncertainty;
        let difference = b_from_a.translation.vector - by_planes.translation.vector;
        let position_sd = uncertainty.position_sd();
        let beyond = difference.abs() - DEVIATIONS * position_sd;
        let angle = b_from_a.rotation.angle_to(&by_planes.rotation);
        let (least, least_degrees) = SMALLEST_DIFFERENCE;
        let disagrees = (difference.norm() > least && beyond.max() > 0.0)
            || angle
                > least_degrees
                    .to_radians()
                    .max(DEVIATIONS * uncertainty.rotation.sd);
        Some(Self {
            translation_m: by_planes.translation.vector.into(),
            rotation_deg: Rotation::of(&by_planes),
            translation_sd_m: position_sd.into(),
            rotation_sd_deg: uncertainty.rotation.sd.to_degrees(),
            undetermined,
            difference_m: difference.norm(),
            difference_deg: angle.to_degrees(),
            disagrees,
        })
    }

    /// Reasons for doubt.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = self.undetermined.clone();
        if self.disagrees {
            let [x, y, z] = self.translation_m;
            reasons.push(format!(
                "the planes of both clouds give translation {x:.3}, {y:.3}, {z:.3} m, {:.3} m and {:.2} degrees from this result, \
                 which the pattern of the beams may hold back, since it moves with the lidar; `etendue slam` registers planes",
                self.difference_m, self.difference_deg
            ));
        }
        reasons
    }

    /// The registration of the planes in a line.
    pub fn text(&self) -> String {
        let [x, y, z] = self.translation_m;
        let [sd_x, sd_y, sd_z] = self.translation_sd_m.map(|sd| sd * 1e3);
        let Rotation { yaw, pitch, roll } = self.rotation_deg;
        format!(
            "planes of both: translation {x:.5}, {y:.5}, {z:.5} m (sd {sd_x:.1}, {sd_y:.1}, {sd_z:.1} mm), \
             yaw {yaw:.4}, pitch {pitch:.4}, roll {roll:.4} deg (sd {:.3})",
            self.rotation_sd_deg
        )
    }
}

/// A direction that the planes do not determine, in the frame of B.
fn text_of(direction: &DegenerateDirection) -> String {
    let [x, y, z] = direction.in_world.into();
    let motion = match direction.motion {
        DegenerateMotion::Translation => "position along",
        DegenerateMotion::Rotation => "rotation about",
    };
    format!(
        "the planes of both clouds do not determine the {motion} ({x:.2}, {y:.2}, {z:.2}) in the frame of B"
    )
}
