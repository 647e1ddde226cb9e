//! Invalid input to depth calibration gives errors that name the cause.

use crate::corridor::{Corridor, Noise};
use etendue_calibrate::depth::train::{SequenceSplit, TrainingSettings, train};
use etendue_calibrate::depth::{
    DepthError, DepthMap, DepthMapOptions, DepthModel, PolynomialBias, PoseConvention, PoseFreedom,
    ScanPairs, ScanSignature,
};
use nalgebra::{Isometry3, Point3};

fn build(scans: &[Vec<Point3<f64>>], poses: &[Isometry3<f64>]) -> Result<DepthMap, DepthError> {
    DepthMap::build(scans, poses, &DepthMapOptions::published())
}

#[test]
fn one_scan_missing_poses_and_empty_scans_are_rejected() {
    let (mut scans, poses) = Corridor::new(3, 16, 90).scans(Noise::default());
    assert_eq!(
        build(&scans[..1], &poses[..1]).unwrap_err(),
        DepthError::TooFewScans { count: 1 }
    );
    assert_eq!(
        build(&scans, &poses[..2]).unwrap_err(),
        DepthError::CountMismatch { scans: 3, poses: 2 }
    );
    scans[1].clear();
    let error = build(&scans, &poses).unwrap_err();
    assert!(
        matches!(error, DepthError::EmptyScan { scan: 1, .. }),
        "{error}"
    );
}

#[test]
fn points_that_are_not_finite_are_counted_and_ignored() {
    let (mut scans, poses) = Corridor::new(3, 24, 180).scans(Noise::default());
    let clean = build(&scans, &poses).unwrap();
    scans[2].push(Point3::new(f64::NAN, 0.0, 0.0));
    scans[2].push(Point3::new(0.0, f64::INFINITY, 0.0));
    let map = build(&scans, &poses).unwrap();
    assert_eq!(map.report().not_finite, 2);
    assert_eq!(map.measurements(), clean.measurements());
}

#[test]
fn measurements_at_one_incidence_angle_are_rejected() {
    let wall = |shift: f64| -> Vec<Point3<f64>> {
        let grid = (0..40).flat_map(|i| (0..40).map(move |j| (f64::from(i), f64::from(j))));
        grid.map(|(i, j)| Point3::new(20.0, 0.05 * i - 1.0 - shift, 0.05 * j - 1.0))
            .collect()
    };
    let poses = [0.0, 1.0].map(|y| Isometry3::translation(0.0, y, 0.0));
    let mut options = DepthMapOptions::published();
    options.mask.viewpoint_variance = 0.1;
    let map = DepthMap::build(&[wall(0.0), wall(1.0)], &poses, &options).unwrap();
    let start = DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]));
    let error = train(&map, None, &start, &TrainingSettings::default(), &options).unwrap_err();
    assert!(matches!(error, DepthError::OneIncidence { .. }), "{error}");
}

#[test]
fn wrong_numbers_of_sequences_are_rejected() {
    let (scans, poses) = Corridor::new(3, 24, 180).scans(Noise::default());
    let map = build(&scans, &poses).unwrap();
    let training = TrainingSettings {
        freedom: PoseFreedom::PerSequence(vec![0, 1]),
        ..TrainingSettings::default()
    };
    let start = DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]));
    let error = train(&map, None, &start, &training, &DepthMapOptions::published()).unwrap_err();
    assert_eq!(
        error,
        DepthError::SequenceCount {
            sequences: 2,
            poses: 3
        }
    );
    assert_eq!(
        SequenceSplit::rotations(6),
        Err(DepthError::SplitCount { count: 6 })
    );
}

#[test]
fn an_invalid_neighbourhood_is_rejected() {
    let (scans, poses) = Corridor::new(3, 24, 180).scans(Noise::default());
    let map = build(&scans, &poses).unwrap();
    let parts = |list| DepthMap::from_parts(map.measurements().to_vec(), poses.clone(), vec![list]);
    let count = map.measurements().len();
    assert_eq!(
        parts(vec![0, 1, 4_000_000]).unwrap_err(),
        DepthError::NoSuchMeasurement {
            neighbourhood: 0,
            measurement: 4_000_000,
            count
        }
    );
    assert_eq!(
        parts(vec![0, 1]).unwrap_err(),
        DepthError::SmallNeighbourhood {
            neighbourhood: 0,
            count: 2
        }
    );
}

/// Rotations and translations distinguish the conventions; correct poses give no suggestion.
#[test]
fn poses_in_another_convention_are_detected() {
    let (scans, poses) = Corridor::new(4, 32, 180).scans(Noise::default());
    assert_eq!(ScanPairs::of(&scans).likely_convention(&poses), None);
    let inverse: Vec<_> = poses.iter().map(Isometry3::inverse).collect();
    assert_eq!(
        ScanPairs::of(&scans).likely_convention(&inverse),
        Some(PoseConvention::LidarFromWorld)
    );
    // World from lidar in camera axes
    for convention in [PoseConvention::Camera, PoseConvention::CameraInverse] {
        let given: Vec<_> = poses
            .iter()
            .map(|pose| {
                let upright = PoseConvention::Camera.world_from_lidar(&Isometry3::identity());
                assert_eq!(upright, Isometry3::identity());
                in_convention(convention, pose)
            })
            .collect();
        assert_eq!(
            ScanPairs::of(&scans).likely_convention(&given),
            Some(convention)
        );
    }
}

/// `pose` expressed in `convention`.
fn in_convention(convention: PoseConvention, pose: &Isometry3<f64>) -> Isometry3<f64> {
    // The permutation of the axes has order three: applied twice, it is its own inverse
    let camera_pose =
        PoseConvention::Camera.world_from_lidar(&PoseConvention::Camera.world_from_lidar(pose));
    match convention {
        PoseConvention::CameraInverse => camera_pose.inverse(),
        _ => camera_pose,
    }
}

#[test]
fn a_scan_of_another_sensor_is_detected_by_its_beam_layout() {
    let scan = |channels, columns| {
        Corridor::new(1, channels, columns)
            .scans(Noise::default())
            .0
    };
    let dense = scan(64, 360);
    let sparse = scan(16, 90);
    let of = |scans: &[Vec<Point3<f64>>]| ScanSignature::of(scans.iter().map(Vec::as_slice));
    assert_eq!(of(&dense).differs(&of(&scan(64, 360))), None);
    assert!(of(&dense).differs(&of(&sparse)).is_some());
    let low: Vec<Vec<Point3<f64>>> = dense
        .iter()
        .map(|points| points.iter().filter(|p| p.z < 0.0).copied().collect())
        .collect();
    let difference = of(&dense).differs(&of(&low)).unwrap();
    assert!(difference.contains("degrees"), "{difference}");
}

/// A beam that is partly intercepted by an edge gives mixed points between the foreground and the
/// background. A post in front of a wall: the mixed points are removed, the wall and the post are kept.
#[test]
fn the_shadow_filter_removes_mixed_points_behind_edges() {
    let scan = |shift: f64| -> Vec<Point3<f64>> {
        let beam = |i: i32, j: i32, depth: f64| {
            let a = 0.005 * f64::from(i);
            let e = 0.005 * f64::from(j);
            Point3::new(depth, depth * a.tan(), depth * e.tan() / a.cos())
        };
        let points = |i: i32, j: i32| match i.abs() {
            0..=9 => vec![beam(i, j, 3.0 - shift)],
            10 => (1..6)
                .map(|k| beam(i, j, 3.0 - shift + 0.3 * f64::from(k)))
                .collect(),
            _ => vec![beam(i, j, 5.0 - shift)],
        };
        let all = (-60..=60).flat_map(|i| (-40..=40).map(move |j| (i, j)));
        all.flat_map(|(i, j)| points(i, j)).collect()
    };
    let scans = [scan(0.0), scan(0.7)];
    let poses = [0.0, 0.7].map(|x| Isometry3::translation(x, 0.0, 0.0));
    let build = |shadow| {
        let mut options = DepthMapOptions {
            shadow,
            voxel: 0.05,
            ..DepthMapOptions::published()
        };
        options.mask.viewpoint_variance = 0.05;
        DepthMap::build(&scans, &poses, &options).unwrap()
    };
    let mixed_points = |map: &DepthMap| {
        let between = |m: &&etendue_calibrate::depth::DepthMeasurement| {
            let x = m.direction.x * m.depth + 0.7 * m.pose as f64;
            3.1 < x && x < 4.9
        };
        map.measurements().iter().filter(between).count()
    };
    let with = build(None);
    let without = build(Some(5_f64.to_radians()));
    assert_eq!(with.report().in_shadow, 0);
    assert!(mixed_points(&with) > 100, "{}", mixed_points(&with));
    assert_eq!(mixed_points(&without), 0);
    assert!(without.report().in_shadow >= 2 * 2 * 81 * 5);
    let kept = without.measurements().len() as f64 / with.measurements().len() as f64;
    assert!(kept > 0.6, "{kept}");
}
