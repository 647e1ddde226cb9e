//! Verdicts on trained corrections over many drives, compared with the truth.

use super::bias_evaluation::{REACH, held_out, residual_bias};
use super::drive::{CorridorDrive, drive};
use super::settings::{CorridorBias, CorridorSettings, ExperimentError, unbiased_polynomial};
use super::splits::triangles;
use etendue_calibrate::depth::train::{TestedModel, TrainingSettings, train_and_test};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, DepthObjective, DepthUnknowns,
    PolynomialBias, PoseFreedom, RobustLoss, WaveformBias,
};
use etendue_estimate::geometry::ReferenceMesh;
use etendue_physics::statistics::root_mean_square;
use etendue_scene::Scene;
use etendue_sensors::lidar::Lidar;
use nalgebra::Isometry3;

/// Bias of a simulated drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveBias {
    /// No bias, a centimetre of noise.
    Absent,
    /// $0.004\,\gamma^2 + 0.008\,\gamma^4$ (m, rad), a centimetre of noise.
    Polynomial,
    /// That of the receiver, with its noise.
    Receiver,
}

/// One simulated drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictCase {
    /// Bias of the scans.
    pub bias: DriveBias,
    /// Standard deviations of the poses, m and rad.
    pub pose_noise: [f64; 2],
    /// Seed of all noise.
    pub seed: u64,
}

/// Poses of a good reference and of a poor odometry, m and rad.
const POSES: [[f64; 2]; 2] = [[0.001, 3e-4], [0.02, 7e-3]];
/// Biases of the drives in their order.
const BIASES: [DriveBias; 3] = [
    DriveBias::Absent,
    DriveBias::Polynomial,
    DriveBias::Receiver,
];

/// A number of drives: without bias, with a polynomial one and with that of the receiver, each with good and
/// with poor poses, with different seeds.
pub fn verdict_cases(count: u64) -> Vec<VerdictCase> {
    let case = |number: u64| {
        let index = usize::try_from(number % 6).expect("below six");
        VerdictCase {
            bias: BIASES[index % 3],
            pose_noise: POSES[index / 3],
            seed: 1 + number,
        }
    };
    (0..count).map(case).collect()
}

/// Verdict on one model of one drive, with the truth.
#[derive(Clone, Debug)]
pub struct VerdictRow {
    /// Drive.
    pub case: VerdictCase,
    /// Name of the model.
    pub model: &'static str,
    /// Result of the training with its verdict.
    pub tested: TestedModel,
    /// Thickness of a map of other stops at their true poses, without and with correction, m.
    pub thickness: [f64; 2],
    /// Root mean square distance of the points of these stops from the true surfaces, m.
    pub map: [f64; 2],
    /// Root mean square bias of the readings of these stops that remains, m.
    pub bias: [f64; 2],
}

impl VerdictRow {
    /// Whether the model makes the map of other stops more than 1 % thicker, or increases the error of the
    /// bias.
    pub fn is_worse(&self) -> bool {
        self.thickness[1] > 1.01 * self.thickness[0] || self.bias[1] > self.bias[0]
    }

    /// Whether a model that is worse was called usable.
    pub fn is_misleading(&self) -> bool {
        self.tested.verdict.is_usable() && self.is_worse()
    }
}

/// Trains a polynomial and a waveform model on the stops of each drive and compares both with the truth at
/// other stops, which follow with the same bias and true poses. Calls `progress` after each drive.
///
/// # Errors
/// If a drive cannot be simulated, or a model cannot be trained.
pub fn verdicts(
    scene: &Scene,
    lidar: &Lidar,
    world_from_sensor: &[Isometry3<f64>],
    cases: &[VerdictCase],
    progress: &mut dyn FnMut(),
) -> Result<Vec<VerdictRow>, ExperimentError> {
    let mesh = ReferenceMesh::new(triangles(scene), REACH);
    let mut rows = Vec::new();
    for case in cases {
        let settings = CorridorSettings {
            bias: match case.bias {
                DriveBias::Absent => CorridorBias::Known(unbiased_polynomial(), NOISE),
                DriveBias::Polynomial => CorridorBias::Known(polynomial(), NOISE),
                DriveBias::Receiver => CorridorBias::Receiver,
            },
            stops: world_from_sensor.len(),
            pose_noise: case.pose_noise,
            seed: case.seed,
            ..CorridorSettings::default()
        };
        let drive = drive(scene, lidar, world_from_sensor, &settings, &mut || {})?;
        rows.extend(rows_of(&mesh, &drive, *case)?);
        progress();
    }
    Ok(rows)
}

/// Range noise of the drives without the receiver's own, m.
const NOISE: f64 = 0.01;

fn polynomial() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain([0.004, 0.008]))
}

/// Share of the stops that a model is trained on; the others show the truth.
const TRAINED: [usize; 2] = [3, 4];

/// Both models of a drive.
fn rows_of(
    mesh: &ReferenceMesh,
    drive: &CorridorDrive,
    case: VerdictCase,
) -> Result<Vec<VerdictRow>, ExperimentError> {
    // Map of the first stops at the poses with noise
    let trained = drive.scans.len() * TRAINED[0] / TRAINED[1];
    let options = DepthMapOptions::sparse();
    let map = DepthMap::build(&drive.scans[..trained], &drive.noisy[..trained], &options)?;
    let training = TrainingSettings {
        freedom: PoseFreedom::PerPose,
        refreshes: 1,
        ..TrainingSettings::default()
    };

    // Train each model, and compare it with the truth at the other stops
    let others: Vec<usize> = (trained..drive.scans.len()).collect();
    let starts = [
        ("polynomial", unbiased_polynomial()),
        ("waveform", DepthModel::Waveform(WaveformBias::START)),
    ];
    let row = |(name, start): (&'static str, DepthModel)| {
        let tested = train_and_test(&map, None, &start, &training, &options)?;
        let model = Some(&tested.training.model);
        let rms_distance = |model| root_mean_square(&held_out(mesh, drive, &others, model));
        Ok(VerdictRow {
            case,
            model: name,
            thickness: thickness(drive, &others, &tested.training.model)?,
            map: [rms_distance(None), rms_distance(model)],
            bias: [
                residual_bias(drive, &others, None),
                residual_bias(drive, &others, model),
            ],
            tested,
        })
    };
    starts.into_iter().map(row).collect()
}

/// Thickness of the map of some stops at their true poses, without and with correction, m.
fn thickness(
    drive: &CorridorDrive,
    stops: &[usize],
    model: &DepthModel,
) -> Result<[f64; 2], ExperimentError> {
    let scans: Vec<_> = stops
        .iter()
        .map(|&stop| drive.scans[stop].clone())
        .collect();
    let poses: Vec<_> = stops.iter().map(|&stop| drive.truth[stop]).collect();
    let map = DepthMap::build(&scans, &poses, &DepthMapOptions::sparse())?;
    let loss = DepthLoss::MinimumEigenvalue;
    let objective = DepthObjective::new(&map, loss, RobustLoss::None, PoseFreedom::Fixed)?;
    let of = |model: DepthModel| {
        let unknowns = DepthUnknowns::start(model, &PoseFreedom::Fixed, stops.len());
        objective.value(&unknowns).sqrt()
    };
    Ok([of(DepthModel::without_bias()), of(model.clone())])
}
