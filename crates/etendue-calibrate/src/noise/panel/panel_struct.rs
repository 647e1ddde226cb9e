//! A panel in a recording.

use super::hint::PanelHint;
use super::motion::PanelMotion;
use super::plane::PanelPlane;
use super::sector::PanelSector;
use crate::noise::recording::{PanelRecording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;
use std::f64::consts::FRAC_PI_2;

/// A flat surface that faces the sensor and is larger than the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargerSurface {
    /// Its distance, m.
    pub distance: f64,
    /// Bearing of the foot of its normal, rad.
    pub bearing: f64,
    /// Number of its directions.
    pub directions: usize,
}

/// A panel in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its plane.
    pub plane: PanelPlane,
    /// Its observed sector.
    pub sector: PanelSector,
    /// Root mean square residual of the median ranges of directions below 40 degrees of incidence, m.
    pub rms: f64,
    /// Standard error of the distance, m.
    pub distance_error: f64,
    /// Standard error of the normal's bearing, rad.
    pub bearing_error: f64,
    /// Number of directions below 40 degrees of incidence.
    pub directions: usize,
    /// Plane in each scan, if the panel moved during the recording.
    pub motion: Option<PanelMotion>,
    /// The declared values.
    pub declared: PanelHint,
    /// The largest surface that faces the sensor, if it is not the panel and nothing was declared.
    pub larger: Option<LargerSurface>,
    /// Warnings, for example about declared values that disagree with the recording.
    pub warnings: Vec<String>,
}

impl Panel {
    /// Plane in a scan.
    pub fn plane_in(&self, scan: u32) -> &PanelPlane {
        let moved = self.motion.as_ref().and_then(|motion| motion.plane(scan));
        moved.unwrap_or(&self.plane)
    }

    /// The same panel in other scans: a moving panel is tracked, a stationary one is unchanged.
    #[must_use]
    pub fn in_scans(&self, recording: &PanelRecording) -> Self {
        let track = |_: &PanelMotion| PanelMotion::tracked(recording, &self.plane, &self.sector);
        Self {
            motion: self.motion.as_ref().map(track),
            ..self.clone()
        }
    }

    /// Bearing of the foot of the normal, anticlockwise from x, rad.
    pub fn bearing(&self) -> f64 {
        azimuth(&self.plane.normal)
    }

    /// Angle between a bearing and the nearest direction of the panel, rad; zero within the panel.
    pub fn angle_to(&self, bearing: f64, recording: &PanelRecording) -> f64 {
        if recording.planar {
            let [right, left] = self.sector.edges.map(|edge| self.bearing() + edge);
            if is_between(bearing, [right, left]) {
                return 0.0;
            }
        }
        let cells = self.sector.cells.iter();
        let angles = cells.map(|cell| {
            let direction = &recording.cells[*cell].direction;
            wrap_to_pi(azimuth(direction) - bearing).abs()
        });
        angles.fold(f64::INFINITY, f64::min)
    }

    /// Width between the detected edges of the panel of a planar recording, m.
    pub fn detected_width(&self) -> f64 {
        let [right, left] = self.sector.detected.map(f64::tan);
        self.plane.distance * (left - right)
    }

    /// Angle between the bearing of the normal and the nearest multiple of 90 degrees, rad: the alignment
    /// error if sensor and panel are set up along one axis.
    pub fn tilt(&self) -> f64 {
        let quarters = (self.bearing() / FRAC_PI_2).round();
        self.bearing() - quarters * FRAC_PI_2
    }
}
