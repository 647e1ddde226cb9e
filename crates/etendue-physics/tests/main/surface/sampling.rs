//! Directions are drawn with the density that is claimed.

use super::{direction, every_kind};
use etendue_physics::surface::{Material, Side};
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;
use std::f64::consts::TAU;

const RINGS: usize = 16;
const SECTORS: usize = 16;
const FINE: usize = 24;

/// Pearson's chi-square of 200,000 draws in 256 cells against the integral of the density; the
/// limit is passed by chance once in a million per case (26 cases).
#[test]
fn samples_follow_their_density() {
    let mut tested = 0;
    for (name, material) in every_kind() {
        if material.is_delta_only() {
            continue;
        }
        for (degrees, side) in [(25.0, Side::Front), (65.0, Side::Back)] {
            let incoming = direction(degrees, 40.0);
            let (expected, scattering) = expected_counts(&material, &incoming, side);
            let (counts, lost) = drawn_counts(&material, &incoming, side);
            let drawn: f64 = counts.iter().sum::<f64>();
            let all = drawn + lost;
            // The density over all directions and the draws that ended in the surface add up.
            assert!(
                (scattering - drawn / all).abs() < 5.0 / all.sqrt() + 2e-3,
                "{name} {degrees}: density {scattering}, drawn {}",
                drawn / all
            );
            let (chi_square, freedom) = chi_square(&counts, &expected, drawn / scattering);
            // Wilson and Hilferty's approximation of the quantile at 4.75 standard deviations.
            let spread = 2.0 / (9.0 * freedom);
            let limit = freedom * (1.0 - spread + 4.75 * spread.sqrt()).powi(3);
            assert!(
                chi_square < limit,
                "{name} {degrees}: chi-square {chi_square} of {freedom}, limit {limit}"
            );
            tested += 1;
        }
    }
    assert_eq!(tested, 2 * 13);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of cells, from zero to 256"
)]
fn cell(direction: &Vector3<f64>) -> usize {
    let ring = ((1.0 - direction.z) / 2.0 * RINGS as f64) as usize;
    let turn = direction.y.atan2(direction.x).rem_euclid(TAU) / TAU;
    let sector = (turn * SECTORS as f64) as usize;
    ring.min(RINGS - 1) * SECTORS + sector.min(SECTORS - 1)
}

/// The density's integral over each cell, and over all.
fn expected_counts(
    material: &Material<f64>,
    incoming: &Vector3<f64>,
    side: Side,
) -> (Vec<f64>, f64) {
    let mut expected = vec![0.0; RINGS * SECTORS];
    let (rings, sectors) = (RINGS * FINE, SECTORS * FINE);
    let area = 2.0 / rings as f64 * TAU / sectors as f64;
    for ring in 0..rings {
        let cos = 1.0 - (ring as f64 + 0.5) * 2.0 / rings as f64;
        let sin = (1.0 - cos * cos).sqrt();
        for sector in 0..sectors {
            let azimuth = (sector as f64 + 0.5) * TAU / sectors as f64;
            let outgoing = Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
            expected[cell(&outgoing)] += material.pdf(incoming, &outgoing, side) * area;
        }
    }
    let all = expected.iter().sum();
    (expected, all)
}

/// How often each cell was drawn, and how often nothing scattered came.
fn drawn_counts(material: &Material<f64>, incoming: &Vector3<f64>, side: Side) -> (Vec<f64>, f64) {
    let mut stream = Stream::new(11, 0, 0, 0, Purpose::LightPath);
    let mut counts = vec![0.0; RINGS * SECTORS];
    let mut lost = 0.0;
    for _ in 0..200_000 {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        match material.sample(incoming, side, uniform) {
            Some(sample) if !sample.is_delta => {
                let density = material.pdf(incoming, &sample.direction, side);
                assert!((sample.pdf / density - 1.0).abs() < 1e-12);
                counts[cell(&sample.direction)] += 1.0;
            }
            _ => lost += 1.0,
        }
    }
    (counts, lost)
}

/// Pearson's statistic over cells that expect ten or more, the others as one, and its freedom.
fn chi_square(counts: &[f64], expected: &[f64], scale: f64) -> (f64, f64) {
    let (mut sum, mut cells) = (0.0, 0.0_f64);
    let mut rest = (0.0_f64, 0.0);
    for (count, share) in counts.iter().zip(expected) {
        let expect = share * scale;
        if expect < 10.0 {
            rest = (rest.0 + count, rest.1 + expect);
        } else {
            sum += (count - expect).powi(2) / expect;
            cells += 1.0;
        }
    }
    if rest.1 >= 10.0 {
        sum += (rest.0 - rest.1).powi(2) / rest.1;
        cells += 1.0;
    }
    assert!(cells > 8.0, "a test of {cells} cells says nothing");
    (sum, cells - 1.0)
}
