//! Noise calibration from recordings of panels.

mod bad_input;
mod clouds;
mod clutter;
mod glare;
mod moved;
mod recovered;
mod statistics;

use etendue_calibrate::noise::{CalibrationOptions, PanelBeams, PanelRecording, replay};
use etendue_physics::profile::{
    BeamAddress, Correlation, DistanceLaw, DropOutModel, IntensityKind, Knot, Profile,
    ReflectanceModel, ReturnDistribution, Steps,
};
use etendue_sensors::{RangeReading, Scan};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Flat board in the plane of a planar sensor.
#[derive(Clone, Copy)]
pub struct Board {
    pub distance: f64,
    /// Bearing of its centre, where its normal points to the sensor, rad.
    pub bearing: f64,
    pub width: f64,
}

impl Board {
    /// Range (m) and incidence (rad) in a direction.
    fn hit(&self, azimuth: f64) -> Option<(f64, f64)> {
        let angle = (azimuth - self.bearing + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
        let half = (0.5 * self.width / self.distance).atan();
        (angle.abs() < half).then(|| (self.distance / angle.cos(), angle.abs()))
    }
}

pub fn azimuths(count: u32) -> Arc<[f64]> {
    (0..count)
        .map(|i| TAU * f64::from(i) / f64::from(count) - TAU / 2.0)
        .collect()
}

/// Scans with the readings that `reading_of` gives for scan, beam, range and incidence on the nearest
/// board.
pub fn scans(
    boards: &[Board],
    count: u32,
    reading_of: impl Fn(u32, u32, f64, f64) -> RangeReading,
) -> Vec<Scan> {
    let azimuths = azimuths(720);
    let scan = |number: u32| {
        let reading = |(beam, azimuth): (u32, &f64)| {
            let hits = boards.iter().filter_map(|board| board.hit(*azimuth));
            match hits.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((range, incidence)) => reading_of(number, beam, range, incidence),
                None => RangeReading::NoReturn,
            }
        };
        Scan {
            time: f64::from(number),
            beam_interval: 0.0,
            azimuths: Arc::clone(&azimuths),
            elevations: [].into(),
            readings: (0..).zip(azimuths.iter()).map(reading).collect(),
            intensities: Vec::new(),
            odom_from_robot: None,
        }
    };
    (0..count).map(scan).collect()
}

pub fn recording(scans: &[Scan]) -> PanelRecording {
    PanelRecording::from_scans("test", scans).unwrap()
}

pub const ONE: [Board; 1] = [Board {
    distance: 0.5,
    bearing: 0.0,
    width: 1.2,
}];

/// Profile with bias, spread and drop-out that depend on incidence.
pub fn known() -> Profile {
    let knot = |degrees: i32| {
        let incidence = f64::from(degrees).to_radians();
        Knot {
            incidence,
            bias: 2e-3 - 6e-3 * incidence.powi(2),
            spread: 2e-3 * (1.0 + 3.0 * incidence.powi(2)),
            drop_out: 1.0 / (1.0 + (12.0 - 14.0 * incidence).exp()),
            ..Knot::default()
        }
    };
    Profile {
        sensor: "known".into(),
        material: "board".into(),
        wavelength: None,
        distance: 0.5,
        law: DistanceLaw::Triangulation,
        steps: Steps::even(1e-3),
        correlation: Correlation::default(),
        intensity: IntensityKind::None,
        reflectance: ReflectanceModel {
            drop_out: DropOutModel {
                logit: -12.0,
                slope: 8.0,
            },
            ..ReflectanceModel::default()
        },
        knots: (0..=60).step_by(2).map(knot).collect(),
        glare: None,
        extrapolated: false,
    }
}

/// Address of the noise of a planar sensor.
pub fn address(seed: u64, sweep: u32, beam: u32) -> BeamAddress {
    BeamAddress {
        seed,
        sensor: 0,
        sweep,
        beam,
        stride: 1,
    }
}

/// Reading of a drawn range; no return without one.
pub fn reading(range: Option<f64>) -> RangeReading {
    range.map_or(RangeReading::NoReturn, RangeReading::Range)
}

/// Asserts that spread and drop-out at an incidence (degrees) are equal within 12 % and 0.03.
pub fn assert_same_noise(found: &ReturnDistribution, truth: &ReturnDistribution, degrees: f64) {
    assert!(
        (found.spread / truth.spread - 1.0).abs() < 0.12,
        "{degrees}: {found:?} {truth:?}"
    );
    assert!(
        (found.drop_out - truth.drop_out).abs() < 0.03,
        "{degrees}: {found:?} {truth:?}"
    );
}

pub fn options() -> CalibrationOptions {
    CalibrationOptions::default()
}

/// Simulated beams of a panel.
pub fn drawn(beams: &PanelBeams, profile: &Profile) -> PanelBeams {
    replay(beams, profile, 5)
}
