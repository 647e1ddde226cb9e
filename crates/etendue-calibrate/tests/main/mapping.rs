//! Maps and trajectories.

use crate::corridor::{Corridor, Noise};
use etendue_calibrate::mapping::{
    Alignment, Errors, Mapper, MapperOptions, MappingError, Spacing, TrajectoryErrorProblem,
    absolute_error, average, relative_error, rms,
};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;

fn tum(text: &str) -> Vec<Isometry3<f64>> {
    let pose = |line: &str| {
        let v: Vec<f64> = line.split(' ').map(|w| w.parse().unwrap()).collect();
        let rotation = Quaternion::new(v[7], v[4], v[5], v[6]);
        Isometry3::from_parts(
            Translation3::new(v[1], v[2], v[3]),
            UnitQuaternion::from_quaternion(rotation),
        )
    };
    text.lines().map(pose).collect()
}

/// Largest relative difference of rmse, mean and maximum.
fn off(values: &[f64], expected: &Value) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let found = [
        ("rmse", rms(values)),
        ("mean", average(values)),
        ("max", largest),
    ];
    let relative = found.map(|(name, value)| {
        let expected = expected[name].as_f64().unwrap();
        (value - expected).abs() / expected.max(1e-9)
    });
    relative.into_iter().fold(0.0, f64::max)
}

/// The numbers of the PyPI package evo 1.38.1 on the same files (`scripts/evo_golden.py`).
/// Measured: largest relative difference 2e-7, evo's own rounding of small angles.
#[test]
fn trajectory_errors_are_those_of_evo() {
    let reference = tum(include_str!("../golden/evo/reference.tum"));
    let estimate = tum(include_str!("../golden/evo/estimate.tum"));
    let expected: Value = serde_json::from_str(include_str!("../golden/evo/errors.json")).unwrap();
    let mut found: Vec<(String, Errors)> = Vec::new();
    let alignments = [
        ("none", Alignment::None),
        ("origin", Alignment::Origin),
        ("umeyama", Alignment::Umeyama),
    ];
    for (name, alignment) in alignments {
        let errors = absolute_error(&reference, &estimate, alignment).unwrap();
        found.push((format!("ape {name}"), errors));
    }
    let spacings = [
        ("1 poses", Spacing::Poses(1)),
        ("5 poses", Spacing::Poses(5)),
        ("1 path", Spacing::Path(1.0)),
        ("5 path", Spacing::Path(5.0)),
    ];
    for (name, spacing) in spacings {
        let errors = relative_error(&reference, &estimate, spacing).unwrap();
        found.push((format!("rpe {name}"), errors));
    }
    assert_eq!(expected.as_object().unwrap().len(), 2 * found.len());
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

fn mapped(noise: Noise, poses: u32) -> (Vec<Isometry3<f64>>, Vec<Isometry3<f64>>) {
    let corridor = Corridor::new(poses, 64, 256);
    let (scans, priors) = corridor.scans(noise);
    let (_, truth) = corridor.scans(Noise {
        position: 0.0,
        angle_deg: 0.0,
        ..noise
    });
    let mut mapper = Mapper::new(MapperOptions::default());
    for (scan, prior) in scans.iter().zip(&priors) {
        let step = mapper.add(scan, Some(*prior)).unwrap();
        assert!(step.icp.is_none_or(|icp| icp.converged));
    }
    (truth, mapper.poses().to_vec())
}

/// Measured: 0.9 mm and 0.01 degrees from priors that are off by 5 cm and 0.5 degrees, with 5 mm
/// of range noise.
#[test]
fn scans_are_put_where_they_were_taken() {
    let noise = Noise {
        range: 0.005,
        position: 0.05,
        angle_deg: 0.5,
        ..Noise::default()
    };
    let (truth, found) = mapped(noise, 5);
    let errors = absolute_error(&truth, &found, Alignment::Origin).unwrap();
    assert!(
        rms(&errors.translation) < 4e-3,
        "{}",
        rms(&errors.translation)
    );
    assert!(rms(&errors.rotation) < 1e-3, "{}", rms(&errors.rotation));
}

#[test]
fn scans_that_cannot_be_mapped_are_named() {
    let (scans, _) = Corridor::new(1, 32, 128).scans(Noise::default());
    let mut mapper = Mapper::new(MapperOptions::default());
    assert!(matches!(
        mapper.add(&scans[0][..3], None),
        Err(MappingError::TooFewPoints {
            scan: 0,
            points: 0,
            ..
        })
    ));
    mapper.add(&scans[0], None).unwrap();
    let away = Isometry3::translation(500.0, 0.0, 0.0);
    assert_eq!(
        mapper.add(&scans[0], Some(away)),
        Err(MappingError::NoOverlap {
            scan: 1,
            within: 1.0
        })
    );
    let nowhere = Isometry3::translation(f64::NAN, 0.0, 0.0);
    assert_eq!(
        mapper.add(&scans[0], Some(nowhere)),
        Err(MappingError::PriorNotFinite { scan: 1 })
    );
    assert!(matches!(
        mapper.add(&[Point3::origin(); 4], None),
        Err(MappingError::TooFewPoints { .. })
    ));
}

#[test]
fn trajectories_that_cannot_be_compared_are_refused() {
    let poses: Vec<_> = (0..4)
        .map(|i| Isometry3::new(Vector3::x() * f64::from(i), Vector3::zeros()))
        .collect();
    assert_eq!(
        absolute_error(&poses, &poses[..3], Alignment::None),
        Err(TrajectoryErrorProblem::Count {
            reference: 4,
            estimate: 3
        })
    );
    assert_eq!(
        relative_error(&poses, &poses, Spacing::Path(100.0)),
        Err(TrajectoryErrorProblem::NoPair(Spacing::Path(100.0)))
    );
    let still = vec![Isometry3::identity(); 4];
    assert_eq!(
        absolute_error(&still, &still, Alignment::Umeyama),
        Err(TrajectoryErrorProblem::OnePlace)
    );
}
