//! Verdicts on trained models, compared with the truth.

use crate::corridor::{Corridor, Noise};
use etendue_calibrate::depth::train::{
    DepthOptimiser, NotDetermined, PoseUncertainty, TestedModel, TrainingSettings, train,
    train_and_test,
};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, DepthObjective, DepthUnknowns,
    PolynomialBias, PoseFreedom, PosePrior, RobustLoss, WaveformBias,
};
use etendue_estimate::geometry::Neighbourhood;

const POLYNOMIAL: [f64; 2] = [0.004, 0.008];
/// Number of stops of a drive.
const STOPS: u32 = 16;
/// Number of other scans, with other noise, that show the truth.
const OTHERS: u32 = 4;

fn options() -> DepthMapOptions {
    DepthMapOptions {
        normal_from: Neighbourhood::Radius(0.4),
        ..DepthMapOptions::sparse()
    }
}

fn free_poses() -> TrainingSettings {
    TrainingSettings {
        freedom: PoseFreedom::PerPose,
        refreshes: 1,
        ..TrainingSettings::default()
    }
}

fn waveform() -> DepthModel {
    DepthModel::Waveform(WaveformBias {
        pulse_sd: 0.25,
        angular_sd: 4e-3,
        fraction: 0.5,
    })
}

fn unbiased() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]))
}

/// Scans of a drive with their true bias.
struct Drive {
    bias: DepthModel,
    training: DepthMap,
    /// Map of the other scans at their true poses.
    others: DepthMap,
}

fn drive(bias: DepthModel, noise: Noise) -> Drive {
    let map = |stops, noise| {
        let (scans, poses) = Corridor::new(stops, 48, 120).biased_scans(&bias, noise);
        DepthMap::build(&scans, &poses, &options()).unwrap()
    };
    let exact = Noise {
        position: 0.0,
        angle_deg: 0.0,
        seed: noise.seed + 500,
        ..noise
    };
    Drive {
        training: map(STOPS, noise),
        others: map(OTHERS, exact),
        bias,
    }
}

impl Drive {
    /// Root mean square error of the bias over the incidences used, m.
    fn error(&self, model: &DepthModel) -> f64 {
        let all = self.training.measurements();
        let off = |m: &etendue_calibrate::depth::DepthMeasurement| {
            model.bias(m.depth, m.incidence) - self.bias.bias(m.depth, m.incidence)
        };
        let squares = all.iter().map(|m| off(m).powi(2)).sum::<f64>();
        (squares / all.len() as f64).sqrt()
    }

    /// Thickness of the map of the other stops, m.
    fn thickness(&self, model: &DepthModel) -> f64 {
        let loss = DepthLoss::MinimumEigenvalue;
        let fixed = PoseFreedom::Fixed;
        let objective = DepthObjective::new(&self.others, loss, RobustLoss::None, fixed).unwrap();
        let unknowns = DepthUnknowns::start(model.clone(), &PoseFreedom::Fixed, OTHERS as usize);
        objective.value(&unknowns).sqrt()
    }

    fn test(&self, start: &DepthModel, training: &TrainingSettings) -> TestedModel {
        train_and_test(&self.training, None, start, training, &options()).unwrap()
    }

    /// Asserts that a usable model makes the other stops at most 1 % thicker and reduces the error of the bias.
    fn assert_honest(&self, tested: &TestedModel) {
        if !tested.verdict.is_usable() {
            return;
        }
        let model = &tested.training.model;
        let none = DepthModel::without_bias();
        let thickness = [&none, model].map(|m| self.thickness(m));
        let errors = [&none, model].map(|m| self.error(m));
        assert!(
            thickness[1] < 1.01 * thickness[0],
            "{thickness:?} {model:?}"
        );
        assert!(errors[1] < errors[0], "{errors:?} {model:?}");
    }
}

fn noise(position: f64, angle_deg: f64, seed: u64) -> Noise {
    Noise {
        range: 0.005,
        position,
        angle_deg,
        seed,
        ..Noise::default()
    }
}

const GOOD: [f64; 2] = [0.001, 0.02];
const POOR: [f64; 2] = [0.02, 0.4];

fn polynomial() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain(POLYNOMIAL))
}

#[test]
fn a_polynomial_bias_is_found_and_usable() {
    let drive = drive(polynomial(), noise(GOOD[0], GOOD[1], 3));
    let tested = drive.test(&unbiased(), &free_poses());
    assert!(tested.verdict.is_usable(), "{:?}", tested.verdict);
    drive.assert_honest(&tested);
    let error = drive.error(&tested.training.model);
    assert!(error < 1.5e-3, "{error}");
}

/// Measured on the bias of a receiver: a waveform model misses 0 % of the decrease of the held-out loss by a bias of
/// free shape (standard deviation 11 %), a polynomial 47 % (8 %).
#[test]
fn the_right_shape_is_usable_and_a_wrong_one_is_not() {
    let drive = drive(waveform(), noise(GOOD[0], GOOD[1], 30));
    let test = |start| {
        let tested = drive.test(&start, &free_poses());
        let held_out = tested.hold_out.as_ref().expect("sixteen scans");
        assert!(held_out.is_improved(), "{held_out:?}");
        (held_out.missed().expect("improved"), tested.verdict)
    };
    let (missed, verdict) = test(DepthModel::Waveform(WaveformBias::START));
    assert!(verdict.is_usable() && missed < 0.2, "{missed} {verdict:?}");

    let (missed, verdict) = test(unbiased());
    let is_shape = |reason: &NotDetermined| matches!(reason, NotDetermined::WrongShape { .. });
    assert!(missed > 0.4, "{missed}");
    assert!(verdict.reasons().iter().any(is_shape), "{verdict:?}");
}

/// The largest displacement is asserted relative to the noise of the ranges, 5 mm.
#[test]
fn correct_poses_do_not_drift_along_the_corridor() {
    let drive = drive(polynomial(), noise(0.0, 0.0, 4));
    let trained = train(
        &drive.training,
        None,
        &unbiased(),
        &free_poses(),
        &options(),
    )
    .unwrap();
    let change = trained.poses.expect("free poses");
    assert!(trained.converged);
    assert!(change.displacement < 5e-3, "{change:?}");
    assert!(change.prior.position < 2e-3, "{change:?}");
}

/// The standard deviations of the poses are estimated to a factor of two.
#[test]
fn the_uncertainty_of_the_poses_is_estimated() {
    let drive = drive(polynomial(), noise(0.01, 0.2, 5));
    let trained = train(
        &drive.training,
        None,
        &unbiased(),
        &free_poses(),
        &options(),
    )
    .unwrap();
    let prior = trained.poses.expect("free poses").prior;
    assert!((0.005..0.02).contains(&prior.position), "{prior:?}");
    let degrees = prior.rotation.to_degrees();
    assert!((0.1..0.4).contains(&degrees), "{prior:?}");
}

#[test]
fn poses_that_leave_a_stated_prior_are_reported() {
    let drive = drive(polynomial(), noise(0.01, 0.2, 6));
    let training = TrainingSettings {
        pose_uncertainty: PoseUncertainty::Stated(PosePrior {
            position: 1e-3,
            rotation: 3e-4,
        }),
        ..free_poses()
    };
    let tested = drive.test(&unbiased(), &training);
    let is_drift = |reason: &NotDetermined| matches!(reason, NotDetermined::PosesDrift { .. });
    let reasons = tested.verdict.reasons();
    assert!(reasons.iter().any(is_drift), "{reasons:?}");
}

#[test]
fn an_iteration_limit_is_reported() {
    let drive = drive(waveform(), noise(0.01, 0.2, 7));
    let training = TrainingSettings {
        iterations: 1,
        pose_uncertainty: PoseUncertainty::Stated(PosePrior {
            position: 0.01,
            rotation: 0.003,
        }),
        refreshes: 0,
        ..free_poses()
    };
    let tested = drive.test(&DepthModel::Waveform(WaveformBias::START), &training);
    let is_limit = |reason: &NotDetermined| matches!(reason, NotDetermined::NotConverged { .. });
    let reasons = tested.verdict.reasons();
    assert!(reasons.iter().any(is_limit), "{reasons:?}");
}

#[test]
fn too_few_scans_for_a_hold_out_are_reported() {
    let (scans, poses) = Corridor::new(5, 48, 120).biased_scans(&polynomial(), noise(0.0, 0.0, 8));
    let map = DepthMap::build(&scans, &poses, &options()).unwrap();
    let tested = train_and_test(&map, None, &unbiased(), &free_poses(), &options()).unwrap();
    let reasons = tested.verdict.reasons();
    assert!(
        reasons.contains(&NotDetermined::TooFewScans { scans: 5 }),
        "{reasons:?}"
    );
}

/// From the start of the training Gauss-Newton finds the waveform bias as L-BFGS does, and no parameter
/// reaches its bound.
#[test]
fn gauss_newton_finds_the_waveform_bias_from_its_start() {
    let drive = drive(waveform(), noise(0.0, 0.0, 9));
    for optimiser in [DepthOptimiser::GaussNewton, DepthOptimiser::Lbfgs(7)] {
        let training = TrainingSettings {
            optimiser,
            ..TrainingSettings::default()
        };
        let start = DepthModel::Waveform(WaveformBias::START);
        let trained = train(&drive.training, None, &start, &training, &options()).unwrap();
        let error = drive.error(&trained.model);
        let none = drive.error(&DepthModel::without_bias());
        assert!(!trained.model.is_at_bound(), "{:?}", trained.model);
        assert!(error < 0.2 * none, "{optimiser:?}: {error} {none}");
    }
}

mod long_tests {
    use super::*;

    /// The reduced form of `just coverage-correct`: drives without bias, with a polynomial and with a waveform bias, with
    /// good and with poor poses; the polynomial has the wrong shape for the waveform bias.
    #[test]
    #[ignore = "14 s on two cores: just long"]
    fn no_usable_model_is_worse_than_no_correction() {
        let mut usable = 0;
        let start = DepthModel::Waveform(WaveformBias::START);
        let cases = [
            (unbiased(), unbiased()),
            (polynomial(), unbiased()),
            (waveform(), unbiased()),
            (waveform(), start),
        ];
        for (number, (bias, start)) in (0..).zip(cases) {
            for (offset, [position, angle]) in [(0, GOOD), (1, POOR)] {
                let drive = drive(bias.clone(), noise(position, angle, 10 * number + offset));
                let tested = drive.test(&start, &free_poses());
                drive.assert_honest(&tested);
                usable += u32::from(tested.verdict.is_usable());
            }
        }
        assert!(usable >= 2, "{usable} usable models show nothing");
    }
}
