//! Absolute and relative trajectory errors.

use etendue_estimate::odometry::{
    PairSpacing, PoseErrors, TrajectoryAlignment, TrajectoryComparisonError, absolute_error,
    relative_error,
};
use etendue_physics::statistics::{mean, root_mean_square};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;

fn tum(text: &str) -> Vec<Isometry3<f64>> {
    let pose = |line: &str| {
        let v: Vec<f64> = line.split(' ').map(|w| w.parse().expect("valid")).collect();
        let rotation = Quaternion::new(v[7], v[4], v[5], v[6]);
        Isometry3::from_parts(
            Translation3::new(v[1], v[2], v[3]),
            UnitQuaternion::from_quaternion(rotation),
        )
    };
    text.lines().map(pose).collect()
}

/// Largest relative difference of root mean square, mean and maximum.
fn off(values: &[f64], expected: &Value) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let found = [
        ("rmse", root_mean_square(values)),
        ("mean", mean(values)),
        ("max", largest),
    ];
    let relative = found.map(|(name, value)| {
        let expected = expected[name].as_f64().expect("valid");
        (value - expected).abs() / expected.max(1e-9)
    });
    relative.into_iter().fold(0.0, f64::max)
}

/// Golden values of the PyPI package evo 1.38.1 on the same files (`scripts/evo_golden.py`).
/// Measured: the largest relative difference is 2e-7, by the rounding of small angles in evo.
#[test]
fn trajectory_errors_equal_those_of_evo() {
    let reference = tum(include_str!("../golden/evo/reference.tum"));
    let estimate = tum(include_str!("../golden/evo/estimate.tum"));
    let expected: Value =
        serde_json::from_str(include_str!("../golden/evo/errors.json")).expect("valid");
    let mut found: Vec<(String, PoseErrors)> = Vec::new();
    let alignments = [
        ("none", TrajectoryAlignment::None),
        ("origin", TrajectoryAlignment::Origin),
        ("umeyama", TrajectoryAlignment::Umeyama),
    ];
    for (name, alignment) in alignments {
        let errors = absolute_error(&reference, &estimate, alignment).expect("valid");
        found.push((format!("ape {name}"), errors));
    }
    let spacings = [
        ("1 poses", PairSpacing::Poses(1)),
        ("5 poses", PairSpacing::Poses(5)),
        ("1 path", PairSpacing::Path(1.0)),
        ("5 path", PairSpacing::Path(5.0)),
    ];
    for (name, spacing) in spacings {
        let errors = relative_error(&reference, &estimate, spacing).expect("valid");
        found.push((format!("rpe {name}"), errors));
    }
    assert_eq!(expected.as_object().expect("valid").len(), 2 * found.len());
    for (name, errors) in found {
        let translation = off(
            &errors.translation,
            &expected[format!("{name} translation")],
        );
        assert!(translation < 1e-9, "{name} {translation}");
        let rotation = off(&errors.rotation, &expected[format!("{name} rotation_rad")]);
        assert!(rotation < 1e-6, "{name} {rotation}");
    }
}

#[test]
fn trajectories_that_cannot_be_compared_are_refused() {
    let poses: Vec<_> = (0..4)
        .map(|i| Isometry3::new(Vector3::x() * f64::from(i), Vector3::zeros()))
        .collect();
    assert_eq!(
        absolute_error(&poses, &poses[..3], TrajectoryAlignment::None),
        Err(TrajectoryComparisonError::Count {
            reference: 4,
            estimate: 3
        })
    );
    assert_eq!(
        relative_error(&poses, &poses, PairSpacing::Path(100.0)),
        Err(TrajectoryComparisonError::NoPair(PairSpacing::Path(100.0)))
    );
    let still = vec![Isometry3::identity(); 4];
    assert_eq!(
        absolute_error(&still, &still, TrajectoryAlignment::Umeyama),
        Err(TrajectoryComparisonError::CoincidentPositions)
    );
}
