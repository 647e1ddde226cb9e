//! A reduced form of the coverage campaign.

use etendue_experiments::coverage::{CaseCoverage, CoverageCase};

/// Number of scans of a case.
const SCANS: u32 = 40;

fn run(receiver: &'static str, scene: &'static str, unknowns: &'static str) -> CaseCoverage {
    let case = CoverageCase::new(receiver, scene, unknowns).expect("a case");
    case.run(SCANS, 7).expect("a valid case")
}

/// The number of 40 intervals of 95 % that miss is above 8 with a probability of 2e-4, for each of fifteen.
#[test]
fn intervals_of_poses_cover_the_truth() {
    for (receiver, scene) in [
        ("phase", "mirror"),
        ("pulsed", "edges and poles"),
        ("triangulation", "plain room"),
        ("pulsed, correlated", "plain room"),
        ("URG-04LX", "posts"),
    ] {
        let coverage = run(receiver, scene, "pose, plane");
        assert_eq!(coverage.fits.len(), SCANS as usize);
        for share in coverage.coverage() {
            assert!(
                share >= 0.8,
                "{receiver}, {scene}: {:?}",
                coverage.coverage()
            );
        }
        for ratio in coverage.error_ratios() {
            // 1 for exact standard deviations, within 0.45 with a probability of 6e-5.
            assert!(
                (0.6..1.45).contains(&ratio),
                "{receiver}, {scene}: {:?}",
                coverage.error_ratios()
            );
        }
        assert!(
            coverage.good() > 0.9,
            "{receiver}, {scene}: {}",
            coverage.good()
        );
    }
}

/// A box of 0.3 m that is not in the model
#[test]
fn fits_of_a_wrong_scene_are_doubtful() {
    let coverage = run("phase", "unknown box", "pose, plane");
    assert!(coverage.good() < 0.05, "{}", coverage.good());
}
