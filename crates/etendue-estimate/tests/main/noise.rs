//! Variances of measurements against repeated simulated sweeps.

use crate::pulsed::{hall, measured, pose, vlp_16};
use etendue_estimate::model::Model;
use etendue_physics::pulse::Discriminator;
use etendue_scene::Scene;
use etendue_sensors::lidar::{Lidar, Receiver, SweepSettings, Triangulation, simulate};
use etendue_sensors::transport::World;

/// Number of sweeps of each lidar.
const SWEEPS: u64 = 40;

/// Square at which the ratio of a squared error to its variance is limited, and the mean of limited ratios of
/// a normal variable: one hop of a beam at an edge would decide otherwise.
const LIMIT: [f64; 2] = [9.0, 0.995];

/// Mean over beams and sweeps of the limited ratios of squared range and intensity errors to their predicted
/// variances, over its expectation.
fn ratios(lidar: &Lidar) -> [f64; 2] {
    // Predictions and their variances
    let model = Model::new(hall(), lidar, vec![pose()]).expect("a model");
    let predicted = model.predict(&[]);
    let noise = model.measurement_noise(&[], 0.0);
    // Errors of sweeps, of beams that are not near edges
    let scene: Scene = hall().build().expect("a scene");
    let world = World::at_wavelength(&scene, lidar.wavelength).expect("a world");
    let mut sums = [0.0; 2];
    let mut count = 0_u32;
    for seed in 0..SWEEPS {
        let settings = SweepSettings {
            seed,
            ..SweepSettings::default()
        };
        let sweep = measured(&simulate(&world, lidar, &settings, |_| pose()));
        for ((measured, predicted), noise) in sweep.iter().zip(&predicted[0]).zip(&noise) {
            let pair = measured.range().zip(predicted.range());
            let (Some((range, expected)), Some(noise)) = (pair, noise) else {
                continue;
            };
            if noise.edges > 0.1 * noise.receiver {
                continue;
            }
            let limited = |ratio: f64| ratio.min(LIMIT[0]) / LIMIT[1];
            sums[0] += limited((range - expected).powi(2) / noise.range());
            let counts = measured.intensity().zip(predicted.intensity());
            let ratio = counts.map_or(0.0, |(i, j)| (i - j).powi(2) / noise.intensity);
            sums[1] += limited(ratio);
            count += 1;
        }
    }
    assert!(count > 30_000, "{}: {count}", lidar.receiver.name());
    sums.map(|sum| sum / f64::from(count))
}

/// At least 30,000 errors: the standard error of a mean square is below 0.8 %, and the closed forms are exact
/// for one surface, so that 4 % have a probability below 1e-6. Intensities are rounded to counts that are
/// coarse relative to their noise, which is uniform only on average.
#[test]
fn predicted_variances_are_those_of_repeated_sweeps() {
    let jittered = |discriminator| {
        let mut lidar = vlp_16(90, discriminator);
        lidar.beam.azimuth_jitter = 2e-3;
        lidar
    };
    let with = |receiver: Receiver| Lidar {
        receiver,
        ..vlp_16(90, Discriminator::Peak)
    };
    let triangulating = Receiver::Triangulation(Triangulation {
        baseline: 0.05,
        angle_noise: 11e-6,
        angle_step: 20e-6,
        threshold: 1e-9,
    });
    for (name, lidar) in [
        (
            "constant fraction",
            jittered(Discriminator::ConstantFraction { fraction: 0.5 }),
        ),
        ("threshold", jittered(Discriminator::Threshold)),
        ("peak", jittered(Discriminator::Peak)),
        ("triangulation", with(triangulating)),
    ] {
        let [range, intensity] = ratios(&lidar);
        assert!((range - 1.0).abs() < 0.04, "{name}: {range}");
        assert!(intensity < 1.3, "{name}: {intensity}");
    }
}

/// A reflectivity is the power over that of a white surface at the measured range: it has the square of the range, and an
/// error $e$ of the range $r$ is one of $2 i e/r$ of the intensity $i$. The closed form holds to the second order of the
/// standard deviation of the range over the range, 7e-6 at a metre.
#[test]
fn an_error_of_the_range_is_one_of_the_reflectivity() {
    let lidar = vlp_16(90, Discriminator::ConstantFraction { fraction: 0.5 });
    let model = Model::new(hall(), &lidar, vec![pose()]).expect("a model");
    let predicted = model.predict(&[]);
    let noise = model.measurement_noise(&[], 0.0);
    let mut count = 0;
    for (predicted, noise) in predicted[0].iter().zip(&noise) {
        let (Some(range), Some(intensity), Some(noise)) =
            (predicted.range(), predicted.intensity(), noise)
        else {
            continue;
        };
        let expected = 2.0 * intensity / range;
        let error = noise.intensity_by_range / expected - 1.0;
        assert!(error.abs() < 1e-4, "{range} m, {intensity}: {error}");
        count += 1;
    }
    assert!(count > 1000, "{count}");
}
