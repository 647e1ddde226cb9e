//! Statistics of beams against published values.

use etendue_calibrate::noise::statistics::{bins, wide_bins, wilson};
use etendue_calibrate::noise::{BeamOutcome, PanelBeam, PanelBeams};
use etendue_physics::profile::Steps;

/// The example of Kepets et al. 2024, section 4.4.4: a dropped beam is recorded with a range of 1.25 and
/// an intensity of 0.
fn example() -> serde_json::Value {
    let text = include_str!("../../../../etendue-physics/tests/golden/optics.json");
    let golden: serde_json::Value = serde_json::from_str(text).unwrap();
    golden["apollosim_misprints"]["std_example"].clone()
}

fn number(name: &str) -> f64 {
    example()[name].as_f64().unwrap()
}

fn numbers(name: &str) -> Vec<f64> {
    let list = example()[name].clone();
    let numbers = list.as_array().unwrap().iter();
    numbers.map(|value| value.as_f64().unwrap()).collect()
}

fn beams(dropped: &[usize]) -> PanelBeams {
    let ranges = numbers("dist");
    let intensities = numbers("inten");
    let beam = |number: usize| PanelBeam {
        cell: u32::try_from(number).unwrap(),
        scan: 0,
        incidence: 0.52,
        expected: 1.0,
        outcome: if dropped.contains(&number) {
            BeamOutcome::Dropped
        } else {
            BeamOutcome::Range(ranges[number])
        },
        #[expect(
            clippy::cast_possible_truncation,
            reason = "intensities are kept as f32"
        )]
        intensity: intensities[number] as f32,
        side: -1.0,
        at_edge: false,
    };
    PanelBeams {
        beams: (0..4).map(beam).collect(),
        strays: 0,
        distance: 0.87,
    }
}

#[test]
fn a_standard_deviation_is_normalised_by_the_sample_size() {
    let bins = bins(&beams(&[]), &Steps::default(), 1.0);
    let sd = bins[0].error.unwrap().sd;
    assert!((sd - number("ddof0")).abs() < 1e-12, "{sd}");
}

/// Mean and spread are those of the returned beams, and drop-out is separate. The published numbers
/// include the zero intensity of the dropped beam.
#[test]
fn dropped_beams_are_excluded_from_the_mean() {
    let bin = &wide_bins(&beams(&[3]), &Steps::default(), 1.0)[0];
    assert_eq!(bin.drop_out(), 0.25);
    assert!((bin.intensity[0] - number("inten_mean_returned_only")).abs() < 1e-7);
    let counted = bin.intensity[0] * (1.0 - bin.drop_out());
    assert!((counted - number("inten_mean")).abs() < 1e-7);
    let square = 0.75 * (bin.intensity[1].powi(2) + bin.intensity[0].powi(2));
    let sd = (square - counted * counted).sqrt();
    assert!((sd - number("inten_ddof0")).abs() < 1e-7, "{sd}");
}

/// Newcombe 1998 (doi:10.1002/(SICI)1097-0258(19980430)17:8<857), table I: 81 of 263, and 0 of 20.
#[test]
fn wilson_intervals_match_published_tables() {
    for (count, total, low, high) in [(81.0, 263.0, 0.2553, 0.3662), (0.0, 20.0, 0.0, 0.1611)] {
        let [a, b] = wilson(count, total);
        assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{a} {b}");
    }
}
