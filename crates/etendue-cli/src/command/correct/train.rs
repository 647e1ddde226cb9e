//! `etendue correct train`.

use super::map::{Gathered, MapArguments};
use super::pictures;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print_report, warn, write_file};
use clap::{Args, ValueEnum};
use etendue::calibrate::depth::train::{DepthOptimiser, TrainingResult, TrainingSettings, train};
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, InverseCosineBias, LinearBias,
    PolynomialBias, PoseFreedom, RobustLoss, ScanSignature, WaveformBias,
};
use etendue::config::depth_model::{BIN_DEG, Learnt, LearntModel};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `etendue correct train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Sequences of scans with poses, one per environment
    #[arg(required = true, value_name = "SEQUENCE")]
    sequences: Vec<PathBuf>,
    /// Model file to write
    #[arg(short, long, value_name = "FILE", default_value = "model.toml")]
    output: PathBuf,
    /// Name of the sensor, written to the model file
    #[arg(long, default_value = "")]
    sensor: String,
    /// Shape of the bias
    #[arg(long, value_enum, default_value_t = ModelName::Polynomial)]
    model: ModelName,
    /// Exponents of the polynomials
    #[arg(long, value_delimiter = ',', default_values_t = [2.0, 4.0], value_name = "E,E...")]
    exponents: Vec<f64>,
    /// Validation sequence, which selects the best iteration; may be repeated
    #[arg(long, value_name = "SEQUENCE")]
    validation: Vec<PathBuf>,
    #[command(flatten)]
    map: MapArguments,
    /// Loss to minimise
    #[arg(long, value_enum, default_value_t = LossName::MinimumEigenvalue)]
    loss: LossName,
    /// Robust loss that limits the influence of thick neighbourhoods
    #[arg(long, value_enum, default_value_t = RobustName::None)]
    robust: RobustName,
    /// Scale of the robust loss: a thickness, m (without unit for normalised-eigenvalue)
    #[arg(long, default_value_t = 0.02, value_name = "M")]
    robust_from: f64,
    /// Optimiser
    #[arg(long, value_enum, default_value_t = OptimiserName::GaussNewton)]
    optimiser: OptimiserName,
    /// Largest number of iterations per round
    #[arg(long, default_value_t = 100)]
    iterations: usize,
    /// Pose corrections estimated with the weights
    #[arg(long, value_enum, default_value_t = FreedomName::PerPose)]
    poses_move: FreedomName,
    /// Number of times that neighbourhoods are rebuilt from the corrected map
    #[arg(long, default_value_t = 1)]
    refreshes: usize,
    /// Folder for pictures: the bias curve, the masks, the map from the side
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Robust loss.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RobustName {
    /// Quadratic loss for all
    None,
    /// Linear beyond the scale
    Huber,
    /// Logarithmic beyond the scale
    Cauchy,
    /// Bounded
    GemanMcClure,
    /// Constant beyond the scale
    Truncated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelName {
    /// Powers of the incidence
    Polynomial,
    /// Powers of the incidence, times the depth
    ScaledPolynomial,
    /// Depth, incidence and a constant
    Linear,
    /// 1/cos - 1
    InverseCosine,
    /// 1/cos - 1, times the depth
    ScaledInverseCosine,
    /// Pulse stretched by the footprint: widths of pulse and beam
    Waveform,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LossName {
    /// Smallest eigenvalue of each neighbourhood
    MinimumEigenvalue,
    /// Smallest eigenvalue divided by the trace
    NormalisedEigenvalue,
    /// Trace; does not recover the bias
    Trace,
    /// Point-to-plane in both directions
    PointToPlane,
    /// Point-to-point
    PointToPoint,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OptimiserName {
    GaussNewton,
    Lbfgs,
    /// With the learning rate of the paper, 2e-4
    Adam,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FreedomName {
    /// No corrections
    Fixed,
    /// One correction per pose, except the first of a sequence
    PerPose,
    /// One correction for all
    Common,
    /// One correction per sequence
    PerSequence,
}

impl From<LossName> for DepthLoss {
    fn from(name: LossName) -> Self {
        match name {
            LossName::MinimumEigenvalue => Self::MinimumEigenvalue,
            LossName::NormalisedEigenvalue => Self::NormalisedEigenvalue,
            LossName::Trace => Self::Trace,
            LossName::PointToPlane => Self::PointToPlane,
            LossName::PointToPoint => Self::PointToPoint,
        }
    }
}

impl From<OptimiserName> for DepthOptimiser {
    fn from(name: OptimiserName) -> Self {
        match name {
            OptimiserName::GaussNewton => Self::GaussNewton,
            OptimiserName::Lbfgs => Self::Lbfgs(7),
            OptimiserName::Adam => Self::Adam(2e-4),
        }
    }
}

#[derive(Serialize)]
struct Report {
    model: String,
    weights: Vec<f64>,
    verdict: String,
    scans: usize,
    measurements: usize,
    neighbourhoods: usize,
    iterations: usize,
    loss_before: f64,
    loss_after: f64,
    noise_m: f64,
    /// Factor by which errors common to scans and environments widen the interval of noise alone.
    shared_errors_widen: f64,
    condition: f64,
    warnings: Vec<String>,
}

impl Train {
    /// Learns a model, writes it and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        // Load
        let gathered = self.map.gather(&self.sequences)?;
        let options = self.map.options();
        let map = DepthMap::build(&gathered.scans, &gathered.poses, &options)?;
        let validation = self.validation_map(&options)?;
        let training = self.training(&gathered);

        // Learn
        let spinner = indicatif::ProgressBar::new_spinner().with_message("learning");
        spinner.enable_steady_tick(std::time::Duration::from_millis(100));
        let trained = train(
            &map,
            validation.as_ref(),
            &self.start(),
            &training,
            &options,
        );
        spinner.finish_and_clear();
        let trained = trained?;

        // Write
        let learnt = self.learnt(&gathered, &map, &trained);
        let report = self.report(&map, &trained);
        write_file(&self.output, learnt.text().as_bytes())?;
        if let Some(path) = &self.pictures {
            let mut folder = Folder::new(path);
            pictures::add_curve(&mut folder, &learnt)?;
            pictures::add_map(&mut folder, &map, &trained)?;
            folder.commit_and_list()?;
        }

        // Report
        warn(&report.warnings);
        print_report(self.json, &report, Report::text)
    }

    fn validation_map(&self, options: &DepthMapOptions) -> Result<Option<DepthMap>, Failure> {
        if self.validation.is_empty() {
            return Ok(None);
        }
        let held_out = self.map.gather(&self.validation)?;
        let map = DepthMap::build(&held_out.scans, &held_out.poses, options)?;
        Ok(Some(map))
    }

    fn start(&self) -> DepthModel {
        let polynomial = |scaled| {
            DepthModel::Polynomial(PolynomialBias {
                exponents: self.exponents.clone(),
                weights: vec![0.0; self.exponents.len()],
                scaled,
            })
        };
        let inverse = |scaled| {
            DepthModel::InverseCosine(InverseCosineBias {
                weight: 0.0,
                scaled,
            })
        };
        match self.model {
            ModelName::Polynomial => polynomial(false),
            ModelName::ScaledPolynomial => polynomial(true),
            ModelName::Linear => DepthModel::Linear(LinearBias::default()),
            ModelName::InverseCosine => inverse(false),
            ModelName::ScaledInverseCosine => inverse(true),
            ModelName::Waveform => DepthModel::Waveform(WaveformBias::START),
        }
    }

    fn training(&self, gathered: &Gathered) -> TrainingSettings {
        TrainingSettings {
            loss: self.loss.into(),
            robust: match self.robust {
                RobustName::None => RobustLoss::None,
                RobustName::Huber => RobustLoss::Huber(self.robust_from),
                RobustName::Cauchy => RobustLoss::Cauchy(self.robust_from),
                RobustName::GemanMcClure => RobustLoss::GemanMcClure(self.robust_from),
                RobustName::Truncated => RobustLoss::Truncated(self.robust_from),
            },
            freedom: match self.poses_move {
                FreedomName::Fixed => PoseFreedom::Fixed,
                FreedomName::PerPose => PoseFreedom::PerPose,
                FreedomName::Common => PoseFreedom::Common,
                FreedomName::PerSequence => PoseFreedom::PerSequence(gathered.sequence_of.clone()),
            },
            optimiser: self.optimiser.into(),
            iterations: self.iterations,
            refreshes: self.refreshes,
        }
    }

    fn learnt(&self, gathered: &Gathered, map: &DepthMap, trained: &TrainingResult) -> LearntModel {
        let curve = &trained.curve;
        LearntModel {
            sensor: self.sensor.clone(),
            model: trained.model.clone(),
            learnt: Some(Learnt {
                scans: gathered.scans.len(),
                neighbourhoods: map.neighbourhoods().len(),
                verdict: curve.verdict(),
                covariance: curve.covariance.clone(),
                noise: curve.noise,
                depth: curve.depth,
                seen: curve.seen,
                determined: curve.determined(),
                incidences: histogram(&map.incidences_used()),
                signature: ScanSignature::of(gathered.scans.iter().map(Vec::as_slice)),
            }),
        }
    }

    fn report(&self, map: &DepthMap, trained: &TrainingResult) -> Report {
        Report {
            model: format!("{:?}", self.model),
            weights: trained.model.weights(),
            verdict: trained.curve.verdict(),
            scans: map.world_from_lidar().len(),
            measurements: map.measurements().len(),
            neighbourhoods: map.neighbourhoods().len(),
            iterations: trained.progress.len().saturating_sub(1),
            loss_before: trained.progress.first().map_or(f64::NAN, |p| p.loss),
            loss_after: trained.progress.last().map_or(f64::NAN, |p| p.loss),
            noise_m: trained.curve.noise,
            shared_errors_widen: trained.curve.widened(),
            condition: trained.curve.condition,
            warnings: self.warnings(map),
        }
    }

    fn warnings(&self, map: &DepthMap) -> Vec<String> {
        let mut warnings = Vec::new();
        if matches!(self.loss, LossName::Trace) {
            warnings.push(
                "the sampling density dominates the trace, which does not recover the bias".into(),
            );
        }
        if matches!(self.poses_move, FreedomName::Fixed) {
            warnings.push(
                "the poses are fixed: pose noise of a centimetre biases the result by millimetres"
                    .into(),
            );
        }
        if map.report().not_finite > 0 {
            let count = map.report().not_finite;
            warnings.push(format!("{count} points are not finite and are ignored"));
        }
        warnings
    }
}

impl Report {
    fn text(&self) -> String {
        format!(
            "{} from {} scans: {} measurements, {} neighbourhoods\n  weights {:?}\n  mean \
             thickness {:.2} mm before, {:.2} mm after {} iterations (a lower loss does not prove \
             a better model)\n  depth noise {:.1} mm, condition {:.0}; errors common to scans and \
             environments widen the interval by a factor of {:.1}\n  {}\n",
            self.model,
            self.scans,
            self.measurements,
            self.neighbourhoods,
            self.weights,
            self.loss_before.sqrt() * 1e3,
            self.loss_after.sqrt() * 1e3,
            self.iterations,
            self.noise_m * 1e3,
            self.condition,
            self.shared_errors_widen,
            self.verdict
        )
    }
}

/// Histogram over incidence in bins of [`BIN_DEG`] degrees from 0 to 90.
fn histogram(incidences: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; 18];
    for incidence in incidences {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an angle in [0, 90] degrees"
        )]
        let bin = (incidence.to_degrees() / BIN_DEG) as usize;
        counts[bin.min(17)] += 1;
    }
    counts
}
