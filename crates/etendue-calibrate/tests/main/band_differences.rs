//! Differences of adjacent bands of incidence.

use etendue_calibrate::noise::statistics::{BandQuantity, band_differences};
use etendue_calibrate::noise::{BeamOutcome, PanelBeam, PanelBeams, replay};
use etendue_physics::profile::{Correlation, Knot, Profile, Steps};

/// Beams every degree, 40 scans, before a panel at 1 m.
fn beams() -> PanelBeams {
    let directions = (0_u8..50).map(|cell| (cell, (f64::from(cell) + 0.5).to_radians()));
    let beams = directions.flat_map(|(cell, incidence)| {
        (0..40).map(move |scan| PanelBeam {
            cell: cell.into(),
            scan,
            incidence,
            expected: 1.0 / incidence.cos(),
            outcome: BeamOutcome::Dropped,
            intensity: 0.0,
            side: 1.0,
            at_edge: false,
        })
    });
    PanelBeams {
        beams: beams.collect(),
        strays: 0,
        distance: 1.0,
    }
}

/// A profile with a fixed pattern, whose bias and drop-out change at 20 degrees.
fn profile(bias_step: f64, drop_out_step: f64) -> Profile {
    let knot = |degrees: f64, share: f64| Knot {
        incidence: degrees.to_radians(),
        bias: share * bias_step,
        spread: 1e-3,
        drop_out: 0.1 + share * drop_out_step,
        ..Knot::default()
    };
    Profile {
        distance: 1.0,
        steps: Steps::default(),
        correlation: Correlation::new(0.0, 0.4, 0.2),
        knots: vec![
            knot(0.0, 0.0),
            knot(19.9, 0.0),
            knot(20.1, 1.0),
            knot(60.0, 1.0),
        ],
        ..Profile::default()
    }
}

/// Differences of bands of five degrees that are significant, in degrees, per run.
fn marks(profile: &Profile, quantity: BandQuantity, runs: u64) -> Vec<Vec<f64>> {
    let beams = beams();
    let width = 5.0_f64.to_radians();
    let marks = (0..runs).map(|seed| {
        let differences = band_differences(&replay(&beams, profile, seed), width, quantity);
        assert_eq!(differences.len(), 9);
        let significant = differences.iter().filter(|one| one.is_significant);
        significant.map(|one| one.incidence.to_degrees()).collect()
    });
    marks.collect()
}

#[test]
fn where_nothing_changes_few_runs_have_a_mark() {
    for quantity in [
        BandQuantity::Bias,
        BandQuantity::Spread,
        BandQuantity::DropOut,
    ] {
        let marked = marks(&profile(0.0, 0.0), quantity, 200);
        let marked = marked.iter().filter(|marks| !marks.is_empty()).count();
        // 5 % of 200 are 10; measured: 5, 6, 0
        assert!(marked <= 20, "{quantity:?}: {marked} of 200");
    }
}

#[test]
fn a_step_is_marked_where_it_is_and_nowhere_else() {
    let changed = [
        (BandQuantity::Bias, profile(4e-3, 0.0)),
        (BandQuantity::DropOut, profile(0.0, 0.8)),
    ];
    for (quantity, changed) in changed {
        let marks = marks(&changed, quantity, 50);
        let right = |marks: &&Vec<f64>| {
            let [only] = marks[..] else { return false };
            (only - 20.0).abs() < 0.1
        };
        let right = marks.iter().filter(right).count();
        // Measured: 49, 50
        assert!(right >= 45, "{quantity:?}: {right} of 50");
    }
}
