//! Checks that hold for every lobe: conservation of energy and reciprocity.

use crate::surface::{Lobe, Material, Side};
use crate::{Purpose, Stream};
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Angles of incidence, degrees.
pub const INCIDENCES_DEG: [f64; 9] = [0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 85.0, 89.0, 89.9];

const SIDES: [Side; 2] = [Side::Front, Side::Back];

/// A material of one lobe.
pub fn material(lobe: Lobe<f64>) -> Material<f64> {
    Material { lobes: vec![lobe] }
}

/// Cosine of an angle in degrees.
pub fn cos_degrees(degrees: f64) -> f64 {
    degrees.to_radians().cos()
}

/// Unit direction at an angle to the normal and an azimuth, degrees.
pub fn direction(angle_deg: f64, azimuth_deg: f64) -> Vector3<f64> {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    let (sin_azimuth, cos_azimuth) = azimuth_deg.to_radians().sin_cos();
    Vector3::new(sin * cos_azimuth, sin * sin_azimuth, cos)
}

/// A direction with uniform density over the sphere.
pub fn uniform_direction(stream: &mut Stream) -> Vector3<f64> {
    let cos = 2.0 * stream.uniform() - 1.0;
    let sin = (1.0 - cos * cos).sqrt();
    let azimuth = TAU * stream.uniform();
    Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos)
}

/// Asserts the checks of this module for a material of one lobe.
pub fn assert_lobe_conforms(lobe: Lobe<f64>) {
    assert_conforms(&material(lobe));
}

/// Asserts that a material conserves energy, is reciprocal, and has consistent functions.
pub fn assert_conforms(material: &Material<f64>) {
    assert_furnace(material);
    assert_albedo_is_the_integral_of_the_bsdf(material);
    assert_reciprocal(material);
    assert_backscatter_is_the_bsdf(material);
}

/// Asserts that the mean throughput of sampled directions (a furnace test) is the albedo, and that the
/// albedo is at most one. Tolerance: 4 standard errors and the 0.002 of the quadrature of the albedo.
fn assert_furnace(material: &Material<f64>) {
    for side in SIDES {
        for degrees in INCIDENCES_DEG {
            let albedo = material.albedo(cos_degrees(degrees), side);
            assert!(albedo.total() <= 1.0 + 2e-3, "{degrees}: {albedo:?}");
            let [reflected, transmitted] = furnace(material, degrees, side);
            for ((mean, error), expected) in [
                (reflected, albedo.reflected),
                (transmitted, albedo.transmitted),
            ] {
                assert!(
                    (mean - expected).abs() < 4.0 * error + 2e-3,
                    "{degrees} from {side:?}: {mean} +- {error}, albedo {expected}"
                );
            }
        }
    }
}

/// Mean and standard error of the reflected and of the transmitted throughput of 20,000 samples.
fn furnace(material: &Material<f64>, degrees: f64, side: Side) -> [(f64, f64); 2] {
    let mut stream = Stream::new(9, 0, 0, 0, Purpose::LightPath);
    let incoming = direction(degrees, 20.0);
    let count = 20_000;
    let mut sums = [(0.0, 0.0); 2];
    for _ in 0..count {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        if let Some(sample) = material.sample(&incoming, side, uniform) {
            assert!(sample.weight >= 0.0 && sample.pdf > 0.0);
            assert!((sample.direction.norm() - 1.0).abs() < 1e-9);
            assert_eq!(sample.passage.is_some(), sample.direction.z < 0.0);
            let sum = &mut sums[usize::from(sample.passage.is_some())];
            *sum = (sum.0 + sample.weight, sum.1 + sample.weight.powi(2));
        }
    }
    let n = f64::from(count);
    sums.map(|(sum, squares)| {
        let mean = sum / n;
        let variance = (squares / n - mean * mean).max(0.0);
        (mean, (variance / n).sqrt())
    })
}

/// Asserts that the scattered part of the albedo is the quadrature of the BSDF over all directions.
fn assert_albedo_is_the_integral_of_the_bsdf(material: &Material<f64>) {
    if material.is_delta_only() {
        return;
    }
    for (degrees, side) in [(0.0, Side::Front), (40.0, Side::Front), (40.0, Side::Back)] {
        let incoming = direction(degrees, 0.0);
        let albedo = material.albedo(incoming.z, side);
        let specular = material.specular(incoming.z, side);
        let transmitted = specular.transmitted.map_or(0.0, |t| t.fraction);
        let scattered = albedo.total() - specular.reflected - transmitted;
        let integral =
            integrate(|outgoing| material.evaluate(&incoming, outgoing, side) * outgoing.z.abs());
        // Measured: at most 1.7e-3, the error of the sampled albedo.
        assert!(
            (integral - scattered).abs() < 3e-3,
            "{degrees}: {integral} {scattered}"
        );
    }
}

/// Midpoint rule over the sphere, uniform in the angle to the normal to resolve narrow lobes about it.
fn integrate(f: impl Fn(&Vector3<f64>) -> f64) -> f64 {
    let rings = 1800;
    let sectors = 180;
    let ring_width = PI / f64::from(rings);
    let cell = ring_width * TAU / f64::from(sectors);
    let mut sum = 0.0;
    for ring in 0..rings {
        let angle = (f64::from(ring) + 0.5) * ring_width;
        for sector in 0..sectors {
            let azimuth = (f64::from(sector) + 0.5) * 360.0 / f64::from(sectors);
            sum += f(&direction(angle.to_degrees(), azimuth)) * cell * angle.sin();
        }
    }
    sum
}

/// Asserts Helmholtz reciprocity of the BRDF, $f(i \to o) = f(o \to i)$, for 2000 pairs of directions.
fn assert_reciprocal(material: &Material<f64>) {
    let mut stream = Stream::new(3, 0, 0, 0, Purpose::LightPath);
    let mut positive = 0;
    for _ in 0..2000 {
        let [mut one, mut other] = [(); 2].map(|()| uniform_direction(&mut stream));
        one.z = one.z.abs();
        other.z = other.z.abs();
        for side in SIDES {
            let forward = material.evaluate(&one, &other, side);
            let backward = material.evaluate(&other, &one, side);
            // Measured: at most 2.3e-14.
            assert!(
                (forward - backward).abs() <= 1e-12 * forward.max(backward),
                "{forward} {backward}"
            );
            positive += usize::from(forward > 0.0);
        }
    }
    assert!(material.is_delta_only() || positive > 2400, "{positive}");
}

/// Asserts that the backscatter is the BSDF in the direction of incidence.
fn assert_backscatter_is_the_bsdf(material: &Material<f64>) {
    let mut stream = Stream::new(5, 0, 0, 0, Purpose::LightPath);
    for _ in 0..200 {
        let mut direction = uniform_direction(&mut stream);
        direction.z = direction.z.abs().max(1e-3);
        direction.normalize_mut();
        for side in SIDES {
            let backscatter = material.backscatter(direction.z, side);
            let bsdf = material.evaluate(&direction, &direction, side);
            assert!(
                (backscatter - bsdf).abs() <= 1e-9 * backscatter,
                "{backscatter} {bsdf}"
            );
        }
    }
}
