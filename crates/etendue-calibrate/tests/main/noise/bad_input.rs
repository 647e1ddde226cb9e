//! Unusable recordings give errors that name the reason.

use super::{Board, ONE, options, recording, scans};
use etendue_calibrate::noise::panel::find_panel;
use etendue_calibrate::noise::{NoiseError, PanelHint, PanelRecording, PanelSearch, calibrate};
use etendue_sensors::RangeReading;

fn panel_error(recording: &PanelRecording, hint: PanelHint) -> NoiseError {
    find_panel(recording, &hint, &PanelSearch::default()).unwrap_err()
}

fn plain(boards: &[Board]) -> PanelRecording {
    recording(&scans(boards, 10, |_, _, range, _| {
        RangeReading::Range(range)
    }))
}

#[test]
fn a_recording_without_a_panel() {
    // Ranges that scatter by a third: no planar segment
    let scattered = scans(&ONE, 10, |_, beam, range, _| {
        let uniform = f64::from(beam * 7919 % 997) / 997.0;
        RangeReading::Range(range * (0.7 + 0.6 * uniform))
    });
    let error = panel_error(&recording(&scattered), PanelHint::default());
    assert!(matches!(error, NoiseError::NoPanel { .. }), "{error}");
}

#[test]
fn two_panels_where_one_is_declared() {
    let left = Board {
        bearing: 2.0,
        distance: 0.6,
        width: 0.6,
    };
    let both = plain(&[ONE[0], left]);
    let error = panel_error(&both, PanelHint::default());
    let NoiseError::SeveralPanels { count, found, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*count, 2);
    assert!(
        found.contains("0.500 m") && found.contains("0.600 m"),
        "{found}"
    );
    let hint = PanelHint {
        bearing: Some(2.0),
        ..PanelHint::default()
    };
    let panel = find_panel(&both, &hint, &PanelSearch::default()).unwrap();
    assert!(
        (panel.plane.distance - 0.6).abs() < 1e-3,
        "the bearing selects the panel"
    );
}

/// Two boards 30 degrees apart: a declared bearing near one of them selects it, a bearing half-way
/// between them is ambiguous.
#[test]
fn a_bearing_selects_one_of_two_adjacent_boards() {
    let board = |bearing: f64| Board {
        bearing: bearing.to_radians(),
        distance: 0.5,
        width: 0.2,
    };
    let both = plain(&[board(-15.0), board(15.0)]);
    let at = |bearing: f64| {
        let hint = PanelHint {
            bearing: Some(bearing.to_radians()),
            ..PanelHint::default()
        };
        find_panel(&both, &hint, &PanelSearch::default())
    };
    for bearing in [-15.0, 10.0, 20.0] {
        let found = at(bearing).unwrap().bearing().to_degrees();
        assert!((found - 15.0_f64.copysign(bearing)).abs() < 0.1, "{found}");
    }
    assert!(matches!(at(0.0), Err(NoiseError::SeveralPanels { .. })));
}

/// A board from -50 to 50 degrees with a declared sector from 9.75 to 40.25: beams outside the sector
/// are ignored, although the sector does not contain the foot of the normal.
#[test]
fn a_declared_sector_bounds_the_panel() {
    let sector = [9.75_f64, 40.25].map(f64::to_radians);
    let width = Some(1.2);
    for width in [None, width] {
        let hint = PanelHint {
            sector: Some(sector),
            width,
            ..PanelHint::default()
        };
        let recording = plain(&ONE);
        let panel = find_panel(&recording, &hint, &PanelSearch::default()).unwrap();
        assert!((panel.plane.distance - 0.5).abs() < 1e-4);
        assert_eq!(panel.sector.cells.len(), 61, "half degrees, both ends");
        for (edge, expected) in panel.sector.edges.iter().zip([10.0_f64, 40.0]) {
            let error = edge - expected.to_radians();
            assert!(error.abs() < 1e-3, "{edge} and {expected}");
        }
    }
}

#[test]
fn all_beams_dropped() {
    let dropped = recording(&scans(&ONE, 10, |_, _, _, _| RangeReading::NoReturn));
    let error = panel_error(&dropped, PanelHint::default());
    assert!(
        matches!(error, NoiseError::AllDropped { beams: 7200, .. }),
        "{error}"
    );
}

#[test]
fn five_beams_only() {
    let narrow = Board {
        width: 0.5 * 2.4_f64.to_radians(),
        ..ONE[0]
    };
    let error = panel_error(&plain(&[narrow]), PanelHint::default());
    assert!(
        matches!(error, NoiseError::TooFewBeams { directions: 5, .. }),
        "{error}"
    );
}

#[test]
fn too_few_beams_for_statistics() {
    let few = recording(&scans(&ONE, 1, |_, _, range, _| RangeReading::Range(range)));
    let narrow = plain(&[Board {
        width: 0.1,
        ..ONE[0]
    }]);
    let error = calibrate(
        &[(&narrow.of_scans(|s| s < 2), PanelHint::default())],
        &options(),
    );
    assert!(
        matches!(error, Err(NoiseError::TooFewBeamsOnPanel { .. })),
        "{error:?}"
    );
    assert!(calibrate(&[(&few, PanelHint::default())], &options()).is_ok());
}

/// The fitted distance is used, and a warning states the difference.
#[test]
fn a_distance_declared_25_cm_wrong() {
    let hint = PanelHint {
        distance: Some(0.75),
        ..PanelHint::default()
    };
    let panel = find_panel(&plain(&ONE), &hint, &PanelSearch::default()).unwrap();
    assert!((panel.plane.distance - 0.5).abs() < 1e-4);
    assert!(
        panel.warnings[0].contains("250 mm nearer"),
        "{:?}",
        panel.warnings
    );
}

#[test]
fn millimetres_among_metres_and_millimetres_alone() {
    let mixed = scans(&ONE, 10, |scan, _, range, _| {
        RangeReading::Range(if scan == 7 { range * 1e3 } else { range })
    });
    let error = panel_error(&recording(&mixed), PanelHint::default());
    assert!(
        matches!(error, NoiseError::MixedUnits { scan: 7, .. }),
        "{error}"
    );
    let all = scans(&ONE, 10, |_, _, range, _| RangeReading::Range(range * 1e3));
    let error = panel_error(&recording(&all), PanelHint::default());
    assert!(matches!(error, NoiseError::Millimetres { .. }), "{error}");
}

#[test]
fn no_scans_at_all() {
    let error = PanelRecording::from_scans("empty", &[]).unwrap_err();
    assert_eq!(
        error,
        NoiseError::Empty {
            recording: "empty".into()
        }
    );
}
