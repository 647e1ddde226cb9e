//! Noise calibration of simulated recordings with known truth: the reduced form of
//! `just coverage-calibrate`.

use etendue_experiments::calibration::{CalibrationTable, Outcome, Quantity, RecordingKind, run};

/// Number of recordings of each kind.
const SEEDS: u64 = 2;

/// Of 22 recordings with poles, people, clutter, other surfaces and moving robots, at most one that is clear is
/// outside the simultaneous 95 % interval of its figures (measured: 15 right, 1 doubtful, 6 refused, none outside).
/// The 95 % intervals contain at least 13 of the 15 distances, and 92 % of the other figures (measured: all, 98 to 100 %).
#[test]
fn clear_calibrations_are_right_within_their_intervals() {
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
