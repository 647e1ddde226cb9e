//! Walls of two rooms recorded by an RPLIDAR A2 (A. Khalili), with unknown distances.

use crate::recordings::recording;
use etendue_calibrate::noise::{CalibrationOptions, PanelHint, PanelRecording, calibrate};
use etendue_io::scan_log::read_scan_log;
use etendue_physics::profile::DistanceLaw;

/// Log, sector (degrees), and distance of the wall (m) by a RANSAC fit in another program (medians
/// of bins 0.75 degrees wide, tolerance 1.2 %).
const WALLS: [(&str, [f64; 2], f64); 4] = [
    ("test4", [-75.0, -42.0], 0.975),
    ("test4", [-42.0, -10.0], 1.401),
    ("test4", [-110.0, -75.0], 1.178),
    ("test6", [-40.0, 45.0], 2.346),
];

/// Four walls from 1 to 2.4 m give one profile. Each distance is within 6 mm of the other fit, the
/// steps of 1 mm are detected, and the spread increases with the distance as for triangulation,
/// with an exponent of 1.5 (measured; 2 if only the spot position is uncertain, less with rough
/// walls).
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn walls_at_four_distances_give_the_law_of_distance() {
    let mut read = Vec::new();
    for (log, sector, distance) in WALLS {
        let path = recording(&format!("rplidar_a2_akhalili/{log}.csv"));
        let scans = read_scan_log(&path).unwrap().scans;
        let hint = PanelHint {
            sector: Some(sector.map(f64::to_radians)),
            ..PanelHint::default()
        };
        read.push((
            PanelRecording::from_scans(log, &scans).unwrap(),
            hint,
            distance,
        ));
    }
    let recordings: Vec<_> = read.iter().map(|(r, hint, _)| (r, *hint)).collect();
    let found = calibrate(&recordings, &CalibrationOptions::default()).unwrap();
    for (report, (_, _, distance)) in found.panels.iter().zip(&read) {
        let at = report.panel.plane.distance;
        println!("{at:.4} m, rms {:.1} mm", report.panel.rms * 1e3);
        assert!((at - distance).abs() < 6e-3, "{at} and {distance}");
    }
    assert_eq!(found.profile.steps.at(1.0), 1e-3);
    let DistanceLaw::Fitted { spread, .. } = found.profile.law else {
        panic!("{:?}", found.profile.law);
    };
    println!("exponent {spread:.2}");
    assert!((1.0..2.2).contains(&spread), "{spread}");
}
