//! `etendue correct train`.

use super::map::{Gathered, MapArguments};
use super::pictures;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::number;
use crate::output::{print_report, progress, warn, write_file};
use clap::{Args, ValueEnum};
use etendue::calibrate::depth::train::{
    DepthOptimiser, HoldOut, ModelVerdict, NotDetermined, PoseUncertainty, TestedModel,
    TrainingSettings, train_and_test,
};
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, InverseCosineBias, LinearBias,
    PolynomialBias, PoseFreedom, PosePrior, RobustLoss, ScanSignature, TableBias, WaveformBias,
};
use etendue::config::depth_model::{BIN_DEG, HeldOutThickness, Learnt, LearntModel, LearntStatus};
use etendue::config::presets::SENSORS;
use etendue::config::sensor::preset;
use etendue_experiments::depth::corridor::as_built;
use serde::Serialize;
use std::fmt::Write;
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
    /// Name of the sensor, written to the model file; a preset with a constant-fraction discriminator
    /// gives the start of the waveform model
    #[arg(long, default_value = "")]
    sensor: String,
    /// Shape of the bias [default: waveform with such a --sensor, otherwise polynomial]
    #[arg(long, value_enum)]
    model: Option<ModelName>,
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
    #[arg(long, default_value_t = 0.02, value_name = "M", value_parser = number::positive)]
    robust_from: f64,
    /// Optimiser
    #[arg(long, value_enum, default_value_t = OptimiserName::GaussNewton)]
    optimiser: OptimiserName,
    /// Largest number of iterations per round
    #[arg(long, default_value_t = 100, value_parser = number::count)]
    iterations: usize,
    /// Pose corrections estimated with the weights
    #[arg(long, value_enum, default_value_t = FreedomName::PerPose)]
    poses_move: FreedomName,
    /// Standard deviations of the poses, the prior of their corrections [default: pose_uncertainty.toml in the
    /// folder of the scans, otherwise estimated from the scans]
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], value_parser = number::zero_or_more)]
    pose_sd: Option<Vec<f64>>,
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
    /// Piecewise linear in the incidence
    Table,
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
    usable: bool,
    /// Reasons why the model is not usable.
    reasons: Vec<String>,
    verdict: String,
    scans: usize,
    measurements: usize,
    neighbourhoods: usize,
    iterations: usize,
    converged: bool,
    loss_before: f64,
    loss_after: f64,
    hold_out: Option<HoldOutReport>,
    poses: Option<PosesReport>,
    noise_m: f64,
    /// Factor by which correlated errors widen the interval of noise alone.
    shared_errors_widen: f64,
    condition: f64,
    warnings: Vec<String>,
}

/// Thickness of the scans that a model was not trained on.
#[derive(Serialize)]
struct HoldOutReport {
    blocks: usize,
    neighbourhoods: usize,
    /// Thickness without and with correction, m.
    thickness_m: [f64; 2],
    /// Relative decrease of the loss.
    improvement: f64,
    improvement_sd: f64,
    /// Share of the decrease with a bias of free shape that the model misses, if it improves the scans.
    missed: Option<f64>,
    missed_sd: Option<f64>,
}

/// Prior and corrections of the poses.
#[derive(Serialize)]
struct PosesReport {
    sd_m: f64,
    sd_deg: f64,
    estimated: bool,
    largest_displacement_m: f64,
    /// Largest component of a correction in standard deviations of the prior.
    largest_deviation: f64,
}

impl Train {
    /// Learns a model, writes it and prints a report. A model that is not determined is a failure.
    pub fn run(self) -> Result<(), Failure> {
        // Load
        let gathered = self.map.gather(&self.sequences)?;
        let options = self.map.options(gathered.scans.len());
        let map = DepthMap::build(&gathered.scans, &gathered.poses, &options)?;
        let validation = self.validation_map(&options)?;
        let training = self.training(&gathered);
        let start = self.start();

        warn(self.unknown_sensor());

        // Learn and test
        let spinner = progress(0, "{spinner} learning, {elapsed}");
        spinner.enable_steady_tick(std::time::Duration::from_millis(100));
        let tested = train_and_test(&map, validation.as_ref(), &start, &training, &options);
        spinner.finish_and_clear();
        let tested = tested?;

        // Write
        let learnt = self.learnt(&gathered, &map, &tested);
        let report = self.report(&map, &tested, &training);
        write_file(&self.output, learnt.text().as_bytes())?;
        if let Some(path) = &self.pictures {
            let mut folder = Folder::new(path);
            pictures::add_curve(&mut folder, &learnt)?;
            pictures::add_map(&mut folder, &map, &tested.training)?;
            folder.commit_and_list()?;
        }

        // Report
        warn(&report.warnings);
        print_report(self.json, &report, Report::text)?;
        if report.usable {
            Ok(())
        } else {
            let reasons = report.reasons.join("; ");
            Err(Failure::ModelNotDetermined { reasons })
        }
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
            None => self.known_beam().unwrap_or_else(|| polynomial(false)),
            Some(ModelName::Polynomial) => polynomial(false),
            Some(ModelName::ScaledPolynomial) => polynomial(true),
            Some(ModelName::Linear) => DepthModel::Linear(LinearBias::default()),
            Some(ModelName::InverseCosine) => inverse(false),
            Some(ModelName::ScaledInverseCosine) => inverse(true),
            Some(ModelName::Waveform) => self
                .known_beam()
                .unwrap_or(DepthModel::Waveform(WaveformBias::START)),
            Some(ModelName::Table) => DepthModel::Table(TableBias::standard()),
        }
    }

    /// Warning about a sensor that is no preset, so that its pulse is not known.
    fn unknown_sensor(&self) -> Option<String> {
        let unknown = SENSORS
            .find(&self.sensor)
            .err()
            .filter(|_| !self.sensor.is_empty())?;
        let nearest = unknown
            .nearest()
            .map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
        Some(format!(
            "--sensor {} is no preset{nearest}: its pulse is not known",
            self.sensor
        ))
    }

    /// Waveform model of the pulse and the beam of the sensor, if it is a preset with a constant-fraction
    /// discriminator.
    fn known_beam(&self) -> Option<DepthModel> {
        as_built(&preset(&self.sensor).ok()?.lidar)
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
            pose_uncertainty: match (self.pose_sd.as_deref(), gathered.pose_uncertainty) {
                (Some(&[position, degrees]), _) => PoseUncertainty::Stated(PosePrior {
                    position,
                    rotation: f64::to_radians(degrees),
                }),
                (_, Some(prior)) => PoseUncertainty::Stated(prior),
                _ => PoseUncertainty::Estimated,
            },
            optimiser: self.optimiser.into(),
            iterations: self.iterations,
            refreshes: self.refreshes,
        }
    }

    fn learnt(&self, gathered: &Gathered, map: &DepthMap, tested: &TestedModel) -> LearntModel {
        let curve = &tested.training.curve;
        let reasons = |reasons: &[NotDetermined]| reasons.iter().map(ToString::to_string).collect();
        let held_out = tested.hold_out.as_ref();
        LearntModel {
            sensor: self.sensor.clone(),
            model: tested.training.model.clone(),
            learnt: Some(Learnt {
                status: match &tested.verdict {
                    ModelVerdict::Usable => LearntStatus::Usable,
                    ModelVerdict::NotDetermined(why) => LearntStatus::NotDetermined(reasons(why)),
                },
                hold_out: held_out.map(|h| HeldOutThickness {
                    before: h.loss_before.sqrt(),
                    after: h.loss_after.sqrt(),
                    improvement: h.improvement(),
                    improvement_sd: h.improvement_sd,
                }),
                poses: tested.training.poses.map(|change| change.prior),
                scans: gathered.scans.len(),
                neighbourhoods: map.neighbourhoods().len(),
                verdict: tested.summary(),
                covariance: curve.covariance.clone(),
                noise: curve.noise,
                depth: curve.depth,
                seen: curve.seen,
                determined: tested.determined(),
                incidences: histogram(&map.incidences_used()),
                signature: ScanSignature::of(gathered.scans.iter().map(Vec::as_slice)),
            }),
        }
    }

    fn report(&self, map: &DepthMap, tested: &TestedModel, training: &TrainingSettings) -> Report {
        let trained = &tested.training;
        let reasons = tested.verdict.reasons().iter();
        Report {
            model: name(&trained.model).to_owned(),
            weights: trained.model.weights(),
            usable: tested.verdict.is_usable(),
            reasons: reasons.map(ToString::to_string).collect(),
            verdict: tested.summary(),
            scans: map.world_from_lidar().len(),
            measurements: map.measurements().len(),
            neighbourhoods: map.neighbourhoods().len(),
            iterations: trained.progress.len().saturating_sub(1),
            converged: trained.converged,
            loss_before: trained.progress.first().map_or(f64::NAN, |p| p.loss),
            loss_after: trained.progress.last().map_or(f64::NAN, |p| p.loss),
            hold_out: tested.hold_out.as_ref().map(HoldOutReport::of),
            poses: trained.poses.map(|change| PosesReport {
                sd_m: change.prior.position,
                sd_deg: change.prior.rotation.to_degrees(),
                estimated: training.pose_uncertainty == PoseUncertainty::Estimated,
                largest_displacement_m: change.displacement,
                largest_deviation: change.deviation,
            }),
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

impl HoldOutReport {
    fn of(held_out: &HoldOut) -> Self {
        Self {
            blocks: held_out.models.len(),
            neighbourhoods: held_out.neighbourhoods,
            thickness_m: [held_out.loss_before, held_out.loss_after].map(f64::sqrt),
            improvement: held_out.improvement(),
            improvement_sd: held_out.improvement_sd,
            missed: held_out.missed(),
            missed_sd: held_out.missed().map(|_| held_out.missed_sd),
        }
    }
}

impl Report {
    fn text(&self) -> String {
        // Training
        let mut text = format!(
            "{} from {} scans: {} measurements, {} neighbourhoods\n  weights {:?}\n  mean \
             thickness {:.2} mm before, {:.2} mm after {} iterations (a lower loss does not prove \
             a better model)\n  depth noise {:.1} mm, condition {:.0}; correlated errors and the \
             shape widen the interval by a factor of {:.1}\n",
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
        );
        if let Some(poses) = &self.poses {
            let _ = writeln!(
                text,
                "  poses: standard deviation {:.1} mm and {:.3} degrees ({}); the largest displacement is \
                 {:.1} mm, {:.1} standard deviations",
                poses.sd_m * 1e3,
                poses.sd_deg,
                if poses.estimated {
                    "estimated"
                } else {
                    "stated"
                },
                poses.largest_displacement_m * 1e3,
                poses.largest_deviation
            );
        }

        // Tests
        if let Some(held_out) = &self.hold_out {
            let [before, after] = held_out.thickness_m.map(|thickness| thickness * 1e3);
            let _ = writeln!(
                text,
                "  held out, {} blocks of scans, {} neighbourhoods: thickness {before:.2} mm without, \
                 {after:.2} mm with correction, loss {:+.1} % (standard deviation {:.1} %)",
                held_out.blocks,
                held_out.neighbourhoods,
                -held_out.improvement * 1e2,
                held_out.improvement_sd * 1e2
            );
            if let (Some(missed), Some(sd)) = (held_out.missed, held_out.missed_sd) {
                let _ = writeln!(
                    text,
                    "  of the decrease of this loss by a bias of free shape the model misses {:.0} % (standard \
                     deviation {:.0} %)",
                    missed * 1e2,
                    sd * 1e2
                );
            }
        }

        // Verdict
        let _ = writeln!(text, "  {}", self.verdict);
        let verdict = if self.usable {
            "usable"
        } else {
            "not determined"
        };
        let _ = writeln!(text, "verdict: {verdict}");
        for reason in &self.reasons {
            let _ = writeln!(text, "  - {reason}");
        }
        text
    }
}

/// Name of the shape of a model.
fn name(model: &DepthModel) -> &'static str {
    match model {
        DepthModel::Polynomial(model) if model.scaled => "scaled polynomial",
        DepthModel::Polynomial(_) => "polynomial",
        DepthModel::Linear(_) => "linear",
        DepthModel::InverseCosine(model) if model.scaled => "scaled inverse cosine",
        DepthModel::InverseCosine(_) => "inverse cosine",
        DepthModel::Waveform(_) => "waveform",
        DepthModel::Table(_) => "table",
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
