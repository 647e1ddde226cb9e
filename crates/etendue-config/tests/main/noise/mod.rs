//! Calibrated noise: real recordings, files, and the closed loop through the simulator.

mod files;
mod glare;
mod loop_closed;
mod recordings;
mod room_walls;

use crate::recordings::recording;
use etendue_calibrate::noise::{CalibrationOptions, PanelHint, PanelRecording, RangingPrinciple};
use etendue_io::scan_log::read_scan_log;
use std::f64::consts::PI;

/// The five panels of kepets-2024 with the widths declared in its configuration, m.
pub const PANELS: [(&str, f64); 5] = [
    ("wall", 1.25),
    ("wood", 1.25),
    ("metal", 1.0),
    ("metal2", 0.8),
    ("acrylic", 1.25),
];

/// A recording of kepets-2024.
pub fn apollosim(material: &str) -> PanelRecording {
    let path = recording(&format!("rplidar_apollosim/{material}_data.txt"));
    let log = read_scan_log(&path).unwrap();
    PanelRecording::from_scans(material, &log.scans).unwrap()
}

/// The panels are behind the sensor. Only this and an optional width are declared.
pub fn behind(width: Option<f64>) -> PanelHint {
    PanelHint {
        width,
        bearing: Some(PI),
        ..PanelHint::default()
    }
}

pub fn options(material: &str) -> CalibrationOptions {
    CalibrationOptions {
        sensor: "Slamtec RPLIDAR A1".into(),
        material: material.into(),
        principle: RangingPrinciple::Triangulating,
        ..CalibrationOptions::default()
    }
}
