//! Whether the interval of a learnt curve covers the truth.

use crate::corridor::{Corridor, Noise};
use etendue_calibrate::depth::train::{BiasCurve, Training, train};
use etendue_calibrate::depth::{DepthMap, DepthModel, MapOptions, Polynomial};

const BIAS: [f64; 2] = [0.004, 0.008];
const SEEDS: u64 = 12;

fn curve(noise: Noise) -> BiasCurve {
    let (scans, poses) = Corridor::new(8, 64, 160).scans(noise);
    let mut options = MapOptions::strict();
    options.mask.flatness = 0.05;
    let map = DepthMap::build(&scans, &poses, &options).unwrap();
    let start = DepthModel::Polynomial(Polynomial::plain([0.0; 2]));
    let training = Training::default();
    train(&map, None, &start, &training, &options)
        .unwrap()
        .curve
}

/// Over the seeds, root mean square of the error at 60 degrees in its standard deviations: with the
/// curve's own, and with what noise alone would leave.
fn errors(noise: Noise) -> [f64; 2] {
    let truth = DepthModel::Polynomial(Polynomial::plain(BIAS));
    let mut squares = [0.0; 2];
    for seed in 0..SEEDS {
        let curve = curve(Noise { seed, ..noise });
        let point = &curve.points[60];
        let error = (point.bias - truth.bias(1.0, point.incidence)) / point.sd;
        squares[0] += error.powi(2);
        squares[1] += (error * point.sd / point.sd_of_noise).powi(2);
    }
    squares.map(|sum| (sum / SEEDS as f64).sqrt())
}

const NOISE: Noise = Noise {
    bias: BIAS,
    range: 0.004,
    position: 0.0,
    angle_deg: 0.0,
    unevenness: 0.0,
    seed: 0,
};

#[test]
fn the_interval_covers_independent_noise() {
    let [of_curve, of_noise] = errors(NOISE);
    assert!((0.4..1.5).contains(&of_curve), "{of_curve}");
    assert!((0.6..1.5).contains(&of_noise), "{of_noise}");
}

#[test]
fn the_interval_covers_uneven_walls_which_noise_alone_does_not() {
    let uneven = Noise {
        unevenness: 0.004,
        ..NOISE
    };
    let [of_curve, of_noise] = errors(uneven);
    assert!((0.4..1.6).contains(&of_curve), "{of_curve} {of_noise}");
    assert!(of_noise > 2.0, "{of_noise}");
}

#[test]
fn the_interval_covers_wrong_poses_which_noise_alone_does_not() {
    let wrong = Noise {
        position: 0.005,
        ..NOISE
    };
    let [of_curve, of_noise] = errors(wrong);
    assert!((0.4..1.6).contains(&of_curve), "{of_curve} {of_noise}");
    assert!(of_noise > 2.0, "{of_noise}");
}
