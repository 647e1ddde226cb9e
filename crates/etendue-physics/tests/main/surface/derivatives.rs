//! Derivatives are those of the values: automatic ones equal central differences, and none is
//! infinite where a lidar may look.

use super::{any_direction, direction, every_kind};
use etendue_physics::surface::{Material, Passage, Side};
use etendue_physics::{Dual, DualParts, Purpose, Scalar, Stream};
use nalgebra::Vector3;

type D = Dual<1>;

/// Everything that the public face computes generically, as numbers.
fn outputs<S: Scalar>(material: &Material<S>, cos: S, side: Side) -> Vec<S> {
    let specular = material.specular(cos, side);
    let mut all = vec![material.backscatter(cos, side), specular.reflected];
    if let Some(transmitted) = specular.transmitted {
        all.push(transmitted.fraction);
        match transmitted.passage {
            Passage::Sheet { extra_path } => all.push(extra_path),
            Passage::Interface {
                index_ratio,
                medium,
            } => all.extend([index_ratio, medium.group_index, medium.absorption]),
        }
    }
    all
}

/// The material with its parameter number `index` replaced.
fn with<S: Scalar>(material: &Material<f64>, index: usize, value: S) -> Material<S> {
    let mut number = 0;
    material.map(|parameter| {
        let here = number == index;
        number += 1;
        if here { value } else { S::from(*parameter) }
    })
}

fn parameters(material: &Material<f64>) -> Vec<f64> {
    let mut all = Vec::new();
    let _ = material.map(|parameter| all.push(*parameter));
    all
}

#[track_caller]
fn assert_derivatives(name: &str, dual: &[D], above: &[f64], below: &[f64], step: f64) {
    assert!(dual.len() == above.len() && dual.len() == below.len());
    for (k, value) in dual.iter().enumerate() {
        let difference = (above[k] - below[k]) / (2.0 * step);
        let derivative = value.gradient()[0];
        // Measured: 1.1e-7 at most; the differences' own rounding and curvature.
        let scale = difference.abs().max(value.value().abs()).max(1e-3);
        assert!(
            (derivative - difference).abs() < 2e-6 * scale,
            "{name}, output {k}: {derivative} by dual numbers, {difference} by differences"
        );
    }
}

#[test]
fn every_parameters_derivative_equals_central_differences() {
    let mut tested = 0;
    for (name, material) in every_kind() {
        for (index, at) in parameters(&material).into_iter().enumerate() {
            for (degrees, side) in [(0.0, Side::Front), (35.0, Side::Back), (70.0, Side::Front)] {
                let cos = f64::to_radians(degrees).cos();
                let step = 1e-6 * at.max(1e-3);
                let run = |value| outputs(&with(&material, index, value), cos, side);
                let dual = with(&material, index, D::variable(at, 0));
                assert_derivatives(
                    &format!("{name}, parameter {index}, {degrees} degrees"),
                    &outputs(&dual, D::from(cos), side),
                    &run(at + step),
                    &run(at - step),
                    step,
                );
                tested += 1;
            }
        }
    }
    assert!(tested > 120, "{tested}");
}

#[test]
fn the_derivative_by_incidence_equals_central_differences() {
    for (name, material) in every_kind() {
        for cos in [0.05, 0.3, 0.6, 0.8, 0.95, 0.9999] {
            for side in [Side::Front, Side::Back] {
                let step = 1e-7;
                let dual = material.map(|p| D::from(*p));
                assert_derivatives(
                    &format!("{name} at cosine {cos}"),
                    &outputs(&dual, D::variable(cos, 0), side),
                    &outputs(&material, cos + step, side),
                    &outputs(&material, cos - step, side),
                    step,
                );
            }
        }
    }
}

#[test]
fn the_bsdfs_derivative_by_either_direction_equals_central_differences() {
    let mut stream = Stream::new(6, 0, 0, 0, Purpose::LightPath);
    let mut tested = 0;
    for (name, material) in every_kind() {
        let dual = material.map(|p| D::from(*p));
        for _ in 0..60 {
            let mut fixed = any_direction(&mut stream);
            fixed.z = fixed.z.abs();
            let azimuth = 360.0 * stream.uniform();
            let degrees = 5.0 + 80.0 * stream.uniform();
            let step = 1e-6;
            let turned = |angle: f64| direction(degrees + angle.to_degrees(), azimuth);
            let moving = turned(0.0);
            let along = direction(degrees + 90.0, azimuth);
            let variable =
                Vector3::from_fn(|i, _| D::from(moving[i]) + D::variable(0.0, 0) * along[i]);
            let fixed_dual = fixed.map(D::from);
            for swap in [false, true] {
                let run = |moving: &Vector3<f64>| {
                    let (i, o) = if swap {
                        (moving, &fixed)
                    } else {
                        (&fixed, moving)
                    };
                    material.evaluate(i, o, Side::Front)
                };
                let (i, o) = if swap {
                    (&variable, &fixed_dual)
                } else {
                    (&fixed_dual, &variable)
                };
                let value = dual.evaluate(i, o, Side::Front);
                let (above, below) = (run(&turned(step)), run(&turned(-step)));
                assert_derivatives(name, &[value], &[above], &[below], step);
                tested += usize::from(value.value() > 0.0);
            }
        }
    }
    assert!(tested > 800, "{tested}");
}

/// Normal and grazing incidence, the critical angle, a smooth slope: where acos, sqrt and
/// one over a cosine have no derivative.
#[test]
fn no_derivative_is_infinite() {
    let critical = (1.0 - 1.0 / 2.25_f64).sqrt();
    let mut tested = 0;
    for (name, material) in every_kind() {
        let zeroed = |index| with(&material, index, D::variable(0.0, 0));
        let dual = material.map(|p| D::from(*p));
        for cos in [1.0, 1.0 - 1e-16, 0.5, critical, critical + 1e-15, 1e-9, 0.0] {
            for side in [Side::Front, Side::Back] {
                for output in outputs(&dual, D::variable(cos, 0), side) {
                    assert!(
                        output.value().is_finite() && output.gradient()[0].is_finite(),
                        "{name} at {cos}: {output:?}"
                    );
                    tested += 1;
                }
            }
        }
        for index in 0..parameters(&material).len() {
            let allowed_to_be_zero = ["lambert", "mirror", "oren-nayar"];
            if allowed_to_be_zero.contains(&name) {
                for output in outputs(&zeroed(index), D::from(0.3), Side::Front) {
                    assert!(
                        output.gradient()[0].is_finite(),
                        "{name}, parameter {index}"
                    );
                }
            }
        }
    }
    assert!(tested > 400, "{tested}");
}

/// The BSDF in the two directions where a plane of incidence does not exist.
#[test]
fn no_bsdf_derivative_is_infinite_along_the_normal() {
    let tilted = Vector3::new(D::variable(0.0, 0), D::from(0.0), D::from(1.0));
    let up = Vector3::new(D::from(0.0), D::from(0.0), D::from(1.0));
    for (name, material) in every_kind() {
        let dual = material.map(|p| D::from(*p));
        for (i, o) in [(&tilted, &up), (&up, &tilted), (&tilted, &tilted)] {
            let value = dual.evaluate(i, o, Side::Front);
            assert!(value.gradient()[0].is_finite(), "{name}: {value:?}");
        }
    }
}
