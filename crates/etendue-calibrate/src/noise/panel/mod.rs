//! Finding the panel and fitting its plane.

mod find;
mod motion;
mod plane;
mod sector;

pub use find::{PanelHint, PanelSearch, find_panel, find_panels};
pub use motion::Motion;
pub use plane::Plane;
pub use sector::Sector;

use std::f64::consts::FRAC_PI_2;

/// A panel in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its plane.
    pub plane: Plane,
    /// Which part of it was seen.
    pub sector: Sector,
    /// Root mean square of the directions' median ranges about the plane, below 40 degrees of
    /// incidence, m.
    pub rms: f64,
    /// Standard error of the distance, m.
    pub distance_error: f64,
    /// Standard error of the normal's bearing, rad.
    pub bearing_error: f64,
    /// In how many directions it was seen below 40 degrees.
    pub directions: usize,
    /// Where it stood scan by scan, if it moved while it was recorded.
    pub motion: Option<Motion>,
    /// What declared numbers and the recording disagree about.
    pub warnings: Vec<String>,
}

impl Panel {
    /// The plane in a scan.
    pub fn plane_in(&self, scan: u32) -> &Plane {
        let moved = self.motion.as_ref().and_then(|motion| motion.plane(scan));
        moved.unwrap_or(&self.plane)
    }

    /// The same panel in other scans: where it moved, it is followed there; where it stood still, it
    /// stands where it stood.
    #[must_use]
    pub fn in_scans(&self, recording: &super::Recording) -> Self {
        let follow = |_: &Motion| Motion::followed(recording, self);
        Self {
            motion: self.motion.as_ref().map(follow),
            ..self.clone()
        }
    }

    /// The bearing of the panel's nearest point, anticlockwise from x, rad.
    pub fn bearing(&self) -> f64 {
        super::recording::azimuth(&self.plane.normal)
    }

    /// How far the normal's bearing lies from the nearest quarter turn, rad: what is not square
    /// where sensor and panel are set up along one axis.
    pub fn tilt(&self) -> f64 {
        let quarters = (self.bearing() / FRAC_PI_2).round();
        self.bearing() - quarters * FRAC_PI_2
    }
}
