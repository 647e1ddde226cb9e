//! Plane surfaces before a standing sensor.

use super::patterns::{MeanRange, fit, fitted_windows};
use super::recording::StandingRecording;
use nalgebra::{Point3, Vector3};

/// Height of a patch of a planar scanner, m.
const HEIGHT: f64 = 0.5;

/// Margin of a patch around its directions, as a share of the range.
const MARGIN: f64 = 0.01;

/// A rectangle on a plane surface, in the sensor frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanePatch {
    /// Corners in order, m.
    pub corners: [Point3<f64>; 4],
}

impl StandingRecording {
    /// The plane surfaces: a rectangle for each window of columns whose directions are on a plane.
    pub fn planes(&self) -> Vec<PlanePatch> {
        let (windows, channels) = fitted_windows(self, |_| true);
        let patch = |mut window: Vec<MeanRange>| {
            let plane = fit(&mut window, &channels)?;
            self.patch(&window, &plane)
        };
        windows.into_iter().filter_map(patch).collect()
    }

    /// The rectangle of the directions of a window on a plane.
    fn patch(&self, window: &[MeanRange], plane: &Vector3<f64>) -> Option<PlanePatch> {
        // Axes on the plane: horizontal, and upwards.
        let normal = plane.try_normalize(0.0)?;
        let side = normal.cross(&Vector3::z());
        let side = side.try_normalize(1e-6).unwrap_or_else(Vector3::x);
        let up = side.cross(&normal);
        // Extent along both.
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for one in window.iter().filter(|one| one.on_plane) {
            let range = 1.0 / plane.dot(&one.direction);
            for (axis, along) in [side, up].iter().enumerate() {
                let place = along.dot(&one.direction) * range;
                low[axis] = low[axis].min(place - MARGIN * range);
                high[axis] = high[axis].max(place + MARGIN * range);
            }
        }
        if self.channels == 1 {
            low[1] -= HEIGHT;
            high[1] += HEIGHT;
        }
        let foot = normal / plane.norm();
        let corner = |a: f64, b: f64| Point3::from(foot + side * a + up * b);
        Some(PlanePatch {
            corners: [
                corner(low[0], low[1]),
                corner(high[0], low[1]),
                corner(high[0], high[1]),
                corner(low[0], high[1]),
            ],
        })
    }
}
