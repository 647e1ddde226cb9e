//! Noise calibration from point clouds of three-dimensional sensors.

use super::{address, assert_same_noise, known, options};
use etendue_calibrate::noise::{
    NoiseCalibration, NoiseError, PanelHint, PanelRecording, calibrate,
};
use etendue_physics::profile::BeamAddress;
use nalgebra::{Point3, Vector3};

const DISTANCE: f64 = 0.5;

fn normal() -> Vector3<f64> {
    direction(10.0, 5.0)
}

fn direction(azimuth_deg: f64, elevation_deg: f64) -> Vector3<f64> {
    let azimuth = azimuth_deg.to_radians();
    let elevation = elevation_deg.to_radians();
    let level = elevation.cos();
    Vector3::new(
        level * azimuth.cos(),
        level * azimuth.sin(),
        elevation.sin(),
    )
}

/// Scans of 15 rows of 61 beams on a board 0.9 m square, drawn from the known profile; dropped beams are
/// NaN points.
fn clouds(scans: u32, keep_dropped: bool) -> Vec<(Vec<Point3<f64>>, Vec<f32>)> {
    let profile = known();
    let normal = normal();
    let point = |sweep: u32, beam: u32| -> Option<Point3<f64>> {
        let column = f64::from(beam / 15);
        let row = f64::from(beam % 15);
        let ray = direction(1.5 * column - 34.93, 2.0 * row - 13.93);
        let cos = normal.dot(&ray);
        let range = DISTANCE / cos;
        let foot = ray * range - normal * DISTANCE;
        let on_board = foot.amax() < 0.45;
        let address = BeamAddress {
            seed: 11,
            sensor: 0,
            sweep,
            beam,
            stride: 15,
        };
        let drawn = profile
            .draw(range, cos.acos(), &address)
            .filter(|_| on_board)?;
        Some(Point3::from(ray * drawn.range))
    };
    let scan = |sweep| {
        let dropped = Point3::from(Vector3::repeat(f64::NAN));
        let points = (0..15 * 61).map(|beam| point(sweep, beam).unwrap_or(dropped));
        let kept = points.filter(|point| keep_dropped || point.x.is_finite());
        (kept.collect(), Vec::new())
    };
    (0..scans).map(scan).collect()
}

fn calibrated(clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Result<NoiseCalibration, NoiseError> {
    let recording = PanelRecording::from_clouds("clouds", clouds)?;
    assert!(!recording.planar);
    calibrate(&[(&recording, PanelHint::default())], &options())
}

/// Requirement: the plane within 1 mm and 0.1 degrees; spread within 12 % and drop-out within 0.03, as
/// for planar sensors.
#[test]
fn a_board_rotated_about_two_axes_is_calibrated() {
    let found = calibrated(&clouds(40, true)).unwrap();
    let plane = found.panels[0].panel.plane;
    assert!((plane.distance - DISTANCE).abs() < 1e-3, "{plane:?}");
    let error = plane.normal.angle(&normal()).to_degrees();
    assert!(error < 0.1, "{error} degrees");
    let truth = known();
    for degrees in [5.0_f64, 15.0, 25.0, 35.0] {
        let incidence = degrees.to_radians();
        let range = DISTANCE / incidence.cos();
        let a = found.profile.at(incidence, range);
        let b = truth.at(incidence, range);
        assert_same_noise(&a, &b, degrees);
    }
}

/// Dropped beams that the clouds omit are counted from the missing directions.
#[test]
fn clouds_without_their_dropped_points_give_the_same_plane() {
    let found = calibrated(&clouds(20, false)).unwrap();
    let plane = found.panels[0].panel.plane;
    assert!((plane.distance - DISTANCE).abs() < 1e-3, "{plane:?}");
    assert!(plane.normal.angle(&normal()).to_degrees() < 0.1);
}

/// Clouds of a planar sensor are recognised as planar despite rounding errors of their height.
#[test]
fn clouds_of_a_planar_sensor_are_calibrated() {
    let scan = |sweep: u32| {
        let point = |beam: u32| {
            let ray = direction(0.5 * f64::from(beam) - 30.0, 0.0);
            let address = address(12, sweep, beam);
            let incidence = f64::acos(ray.x);
            let drawn = known().draw(DISTANCE / ray.x, incidence, &address)?;
            let height = if beam.is_multiple_of(2) { 1e-9 } else { -1e-9 };
            Some(Point3::from(ray * drawn.range + Vector3::z() * height))
        };
        ((0..120).filter_map(point).collect(), Vec::new())
    };
    let clouds: Vec<_> = (0..20).map(scan).collect();
    let recording = PanelRecording::from_clouds("level", &clouds).unwrap();
    assert!(recording.planar);
    let found = calibrate(&[(&recording, PanelHint::default())], &options()).unwrap();
    let plane = found.panels[0].panel.plane;
    assert!((plane.distance - DISTANCE).abs() < 3e-3, "{plane:?}");
    assert!(
        plane.normal.angle(&Vector3::x()).to_degrees() < 0.2,
        "{plane:?}"
    );
}

#[test]
fn clouds_without_points_are_rejected() {
    let empty = vec![
        (
            vec![Point3::from(Vector3::repeat(f64::NAN)); 50],
            Vec::new()
        );
        12
    ];
    let error = calibrated(&empty).unwrap_err();
    assert!(matches!(error, NoiseError::AllDropped { .. }), "{error}");
}
