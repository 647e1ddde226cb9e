//! Requirements whose tests take 12 s or more on two cores; `cargo test` ignores them.

use etendue_estimate::fit::{report, solve_in_stages};
use etendue_estimate::manifold::Variable;
use etendue_estimate::uncertainty::Gauge;
use etendue_experiments::arena::{TrackSettings, first_pose, track_mirror_many, urg_04lx};
use etendue_experiments::calibration::{CalibrationTable, Outcome, Quantity, RecordingKind, run};
use etendue_physics::{Purpose, Stream};
use nalgebra::{Isometry2, Matrix3, Vector2, Vector3};

/// Number of recordings of each kind.
const SEEDS: u64 = 2;

/// The reduced form of `just coverage-calibrate`. Of 22 recordings with poles, people, clutter, other surfaces and moving
/// robots, at most one that is good is outside the simultaneous 95 % interval of its figures (measured: 15 right, 1
/// doubtful, 6 refused, none outside).
/// The 95 % intervals contain at least 13 of the 15 distances, and 92 % of the other figures (measured: all, 98 to 100 %).
#[test]
#[ignore = "12 s on two cores: just long"]
fn good_calibrations_are_right_within_their_intervals() {
    let outcomes: Vec<_> = RecordingKind::ALL
        .iter()
        .flat_map(|kind| (0..SEEDS).map(|seed| run(*kind, seed)))
        .collect();
    let table = CalibrationTable::of(&outcomes);
    assert!(table.total(Outcome::Right) >= 12, "{}", table.markdown());
    assert!(table.total(Outcome::Wrong) <= 1, "{}", table.markdown());
    assert_eq!(table.coverage.len(), 4, "{}", table.markdown());
    for coverage in &table.coverage {
        let least = match coverage.quantity {
            Quantity::Distance => 0.86,
            _ => 0.92,
        };
        assert!(coverage.covered >= least, "{}", table.markdown());
    }
}

/// Measured: below 2.9 mm from all.
#[test]
#[ignore = "14 s on two cores: just long"]
fn a_mirror_is_tracked_from_random_starts() {
    let settings = TrackSettings::default();
    let rows =
        track_mirror_many(&urg_04lx(), &settings, &settings.random_starts(2)).expect("tracked");
    for row in rows {
        assert!(row.error.total < 5e-3, "{row:?}");
    }
}

/// Mirrors at random poses, 3 mm of noise. The squared error in units of the reported covariance
/// has at most a chi-square distribution with three degrees of freedom per mirror. The 99.9 %
/// quantile for 24 degrees of freedom is 51. Measured: 32.
#[test]
#[ignore = "16 s on two cores: just long"]
fn the_reported_uncertainty_of_a_mirror_covers_its_error() {
    let lidar = urg_04lx();
    let mut sum = 0.0;
    for seed in 0..8 {
        let mut stream = Stream::new(11, 0, 0, seed, Purpose::Search);
        let mut within = |half: f64| half * (2.0 * stream.uniform() - 1.0);
        let at = Vector2::new(0.5 + within(0.08), 0.05 + within(0.08));
        let truth = Isometry2::new(at, 2.8 + within(0.15));
        let off = Isometry2::new(Vector2::new(within(0.01), within(0.01)), within(0.03));
        let settings = TrackSettings {
            truth,
            sigma: 0.003,
            seed: u64::from(seed) + 1,
            ..TrackSettings::default()
        };
        let problem = settings.problem(&lidar).expect("a problem");
        let solver = settings.solver();
        let start = Variable::boxed(&(truth * off), settings.lower, settings.upper);
        let start = vec![start.expect("in the box")];
        let solution = solve_in_stages(&problem, &solver, &settings.widths, start, &mut |_| {});
        let found = report(&problem, &solver, solution.expect("solved"), &Gauge::Free);
        let pose = first_pose(&found.solution.state).expect("a pose");
        let shift = pose.translation.vector - truth.translation.vector;
        let turn = (pose.rotation / truth.rotation).angle();
        let error = Vector3::new(shift.x, shift.y, turn);
        let covariance: Matrix3<f64> = found.uncertainty.covariance.fixed_view::<3, 3>(0, 0).into();
        let information = covariance.try_inverse().expect("regular");
        let squared = error.dot(&(information * error));
        sum += squared;
    }
    assert!(sum < 51.0, "{sum}");
}

/// Starts off by 0.1 m along both axes and by 10 degrees, as in the paper.
#[test]
#[ignore = "12 s on two cores: just long"]
fn a_mirror_is_found_from_starts_within_two_tenths_of_a_metre() {
    let settings = TrackSettings::from_the_start();
    let truth = settings.truth;
    let starts: Vec<_> = [-0.1, 0.1]
        .into_iter()
        .flat_map(|x| [-0.1, 0.1].map(|y| [x, y]))
        .map(|[x, y]| {
            let at = truth.translation.vector + Vector2::new(x, y);
            Isometry2::new(at, truth.rotation.angle() - 10_f64.to_radians())
        })
        .collect();
    let rows = track_mirror_many(&urg_04lx(), &settings, &starts).expect("tracked");
    for row in rows {
        assert!(row.error.total < 5e-3, "{row:?}");
    }
}
