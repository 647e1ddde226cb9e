//! Registration baselines on the same scans.

use super::measurements::pose_error;
use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::Variable;
use etendue_estimate::model::BeamMeasurement;
use etendue_estimate::register::{Registration, RegistrationMethod, RegistrationResult};
use etendue_physics::{Purpose, Stream};
use nalgebra::{Isometry2, Point2};

/// Errors of a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineRow {
    /// Method.
    pub method: RegistrationMethod,
    /// Error with the default settings of the usual implementation.
    pub default_error: f64,
    /// Error with the best of the tried settings.
    pub tuned_error: f64,
    /// Best settings.
    pub tuned: Registration,
}

/// Points of a scan at a pose in the frame of the sensor, m, with normal noise of the ranges.
pub fn scan_points(
    problem: &FitProblem,
    pose: &Isometry2<f64>,
    sigma: f64,
    seed: u64,
) -> Vec<Point2<f64>> {
    let shots = problem.model.predict(&[Variable::Planar(*pose)]);
    let sensor = problem.model.sensor(0);
    let point = |((number, beam), shot): ((u32, usize), &BeamMeasurement)| {
        let mut noise = Stream::new(seed, 0, 0, number, Purpose::ReceiverNoise);
        let range = shot.range()? + sigma * noise.normal();
        let (sin, cos) = sensor.direction(beam).azimuth.sin_cos();
        Some(Point2::new(range * cos, range * sin))
    };
    (0..).zip(0..).zip(&shots[0]).filter_map(point).collect()
}

/// Number of noise seeds for tuning.
const TUNING: u64 = 4;

/// Runs every baseline: registers the scan at `start` with the scan at `truth`, both with noise `sigma`
/// (m), from the identity. Errors are root mean squares over `runs` noise seeds; the tuned settings have
/// the smallest maximum error over four other seeds. The error of a failed registration is infinite.
pub fn run_baselines(
    problem: &FitProblem,
    start: &Isometry2<f64>,
    truth: &Isometry2<f64>,
    sigma: f64,
    seed: u64,
    runs: u32,
) -> Vec<BaselineRow> {
    // Scans for tuning and for testing
    let relative = truth.inverse() * start;
    let clouds = |seed: u64| {
        let source = scan_points(problem, start, sigma, seed.wrapping_add(1 << 40));
        (source, scan_points(problem, truth, sigma, seed))
    };
    let is_noisy = sigma > 0.0;
    let tuning = if is_noisy { TUNING } else { 1 };
    let runs = if is_noisy { runs } else { 1 };
    let tuning_clouds: Vec<_> = (0..tuning).map(|i| clouds(seed + 1000 + i)).collect();
    let test: Vec<_> = (0..u64::from(runs)).map(|i| clouds(seed + i)).collect();

    // Errors of settings
    let error = |settings: &Registration, (source, target): &(Vec<_>, Vec<_>)| {
        let found = settings.register(source, target, Isometry2::identity());
        found.map_or(
            f64::INFINITY,
            |found: RegistrationResult<Isometry2<f64>>| {
                pose_error(&found.target_from_source, &relative)
            },
        )
    };
    let worst = |settings: &Registration| {
        let errors = tuning_clouds.iter().map(|clouds| error(settings, clouds));
        errors.fold(0.0, f64::max)
    };
    let rms = |settings: &Registration| {
        let squares = test.iter().map(|clouds| error(settings, clouds).powi(2));
        (squares.sum::<f64>() / test.len() as f64).sqrt()
    };

    // Default and tuned settings of each method
    let row = |method: RegistrationMethod| {
        let default = Registration::new(method);
        let rated = variants(method)
            .into_iter()
            .map(|settings| (worst(&settings), settings));
        let best = rated.min_by(|a, b| a.0.total_cmp(&b.0));
        let tuned = best.map_or(default, |(_, settings)| settings);
        BaselineRow {
            method,
            default_error: rms(&default),
            tuned_error: rms(&tuned),
            tuned,
        }
    };
    RegistrationMethod::ALL.into_iter().map(row).collect()
}

/// Settings for tuning.
fn variants(method: RegistrationMethod) -> Vec<Registration> {
    // Grid of settings
    let mut all = Vec::new();
    let base = Registration {
        iterations: 200,
        ..Registration::new(method)
    };
    for max_distance in [0.1, 0.2, 0.5, 1.0, f64::INFINITY] {
        for keep in [0.6, 0.8, 1.0] {
            for neighbours in [10, 20] {
                all.push(Registration {
                    max_distance,
                    keep,
                    neighbours,
                    ..base
                });
            }
        }
    }

    // Those that the method uses
    match method {
        RegistrationMethod::Ndt => [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5]
            .map(|r| base.with_resolution(r))
            .into(),
        RegistrationMethod::PointToPoint => {
            all.into_iter().filter(|s| s.neighbours == 20).collect()
        }
        RegistrationMethod::PointToPlane | RegistrationMethod::Gicp => all,
    }
}
