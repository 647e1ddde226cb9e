//! What a direction sees relative to a plane.

use super::plane::PanelPlane;
use crate::noise::modes::{RangeMode, nearest_mode};
use crate::noise::recording::{PanelRecording, azimuth};
use etendue_physics::angle::wrap_to_pi;
use nalgebra::Vector3;

/// A direction of a recording with the surfaces in it.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// Index of the direction in the recording.
    pub cell: usize,
    /// Unit vector in the sensor frame.
    pub direction: Vector3<f64>,
    /// Azimuth, rad.
    pub azimuth: f64,
    /// Surfaces, the nearest first.
    pub modes: Vec<RangeMode>,
    /// Number of beams.
    pub samples: usize,
}

/// What a direction sees relative to a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    /// The plane, always or for a part of the time.
    Plane(RangeMode),
    /// A surface before the plane.
    Nearer,
    /// A surface behind the plane.
    Farther,
    /// Mostly nothing.
    Nothing,
}

/// Fraction of the beams that returns from a direction that sees something.
pub(super) const SEEING: f64 = 0.5;

impl Sight {
    /// All directions of a recording, in its order.
    pub fn all(recording: &PanelRecording) -> Vec<Self> {
        let cells = recording.cells.iter().enumerate();
        cells
            .map(|(number, cell)| Self {
                cell: number,
                direction: cell.direction,
                azimuth: azimuth(&cell.direction),
                modes: cell.modes(),
                samples: cell.samples.len(),
            })
            .collect()
    }

    /// Fraction of beams that returned.
    pub fn returned(&self) -> f64 {
        let returned: usize = self.modes.iter().map(|mode| mode.count).sum();
        returned as f64 / self.samples.max(1) as f64
    }

    /// Fraction of the beams that belong to a surface.
    pub fn fraction(&self, mode: &RangeMode) -> f64 {
        mode.count as f64 / self.samples.max(1) as f64
    }

    /// Surface nearest to an expected range (m).
    pub fn mode_near(&self, expected: f64) -> Option<RangeMode> {
        nearest_mode(self.modes.iter().copied(), self.samples, expected)
    }

    /// Surface with the most beams.
    pub fn main_mode(&self) -> Option<&RangeMode> {
        self.modes.iter().max_by_key(|mode| mode.count)
    }

    /// What the direction sees relative to a plane whose distance is `distance` (m) here, within a tolerance
    /// of that distance (m).
    pub fn view(
        &self,
        plane: &PanelPlane,
        distance: f64,
        tolerance: impl Fn(&RangeMode) -> f64,
    ) -> View {
        // The plane, if a surface is within the tolerance.
        let cos = plane.cos_incidence(&self.direction);
        if cos <= 1e-3 {
            return View::Nothing;
        }
        let expected = distance / cos;
        if let Some(mode) = self.mode_near(expected)
            && (mode.median * cos - distance).abs() < tolerance(&mode)
        {
            return View::Plane(mode);
        }
        // Otherwise the surface with the most beams.
        match self.main_mode() {
            Some(mode) if self.returned() > SEEING && mode.median < expected => View::Nearer,
            Some(_) if self.returned() > SEEING => View::Farther,
            _ => View::Nothing,
        }
    }

    /// Angle between the azimuths of two directions, rad.
    pub fn angle_to(&self, other: &Self) -> f64 {
        wrap_to_pi(self.azimuth - other.azimuth).abs()
    }
}

/// Greatest systematic deviation of the distance of a panel at an incidence (rad), m: 10 mm, 2 % of the
/// `distance` (m), and 10 % of it per fourth power of the incidence.
///
/// The largest known errors are those of triangulating sensors: 2.6 % per fourth power on acrylic, and a shift of
/// 5 mm by the glare of a metal plate 0.12 m away.
pub(in crate::noise) fn allowance(incidence: f64, distance: f64) -> f64 {
    0.01 + (0.02 + 0.1 * incidence.powi(4)) * distance
}
