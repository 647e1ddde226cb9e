use etendue_estimate::fit::Misfits;
use etendue_estimate::manifold::Variable;
use etendue_experiments::arena::{TrackSettings, urg_04lx};
use nalgebra::{Isometry2, Vector2};

/// The false minimum is the result of a distant start with beams four times as wide.
#[test]
fn a_false_minimum_leaves_many_misfits_and_the_truth_few() {
    let settings = TrackSettings {
        sigma: 2e-3,
        ..TrackSettings::default()
    };
    let problem = settings.problem(&urg_04lx()).expect("a problem");
    let misfits = |pose: &Isometry2<f64>| {
        let state = Variable::boxed(pose, settings.lower, settings.upper).expect("inside");
        Misfits::among(problem.range_residuals(&[state]).into_iter())
    };
    let truth = misfits(&settings.truth);
    assert!(truth.of == 682 && !truth.are_many(), "{truth:?}");
    assert!(truth.count < 4, "{truth:?}");
    let turned = settings.truth.rotation.angle() - 6.6_f64.to_radians();
    let wrong = misfits(&Isometry2::new(Vector2::new(0.641, 0.022), turned));
    assert!(wrong.are_many() && wrong.beyond < 0.03, "{wrong:?}");
}
