//! `etendue correct train`.

use super::pictures;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print_report, warn, write_file};
use crate::sequence::{self, ConventionName};
use clap::{Args, ValueEnum};
use etendue::calibrate::depth::features::NeighbourhoodMask;
use etendue::calibrate::depth::train::{DepthOptimiser, TrainingResult, TrainingSettings, train};
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, InverseCosineBias, LinearBias,
    PolynomialBias, PoseFreedom, RobustLoss, ScanSignature, WaveformBias,
};
use etendue::config::depth_model::{BIN_DEG, Learnt, LearntModel};
use etendue::estimate::geometry::Neighbourhood;
use nalgebra::{Isometry3, Point3, Translation3};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `etendue correct train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Sequences of scans with poses, each of a place of its own
    #[arg(required = true, value_name = "SEQUENCE")]
    sequences: Vec<PathBuf>,
    /// Model file to write
    #[arg(short, long, value_name = "FILE", default_value = "model.toml")]
    output: PathBuf,
    /// Name of the sensor, which is written to the model
    #[arg(long, default_value = "")]
    sensor: String,
    /// Shape of the bias
    #[arg(long, value_enum, default_value_t = ModelName::Polynomial)]
    model: ModelName,
    /// Exponents of the polynomials
    #[arg(long, value_delimiter = ',', default_values_t = [2.0, 4.0], value_name = "E,E...")]
    exponents: Vec<f64>,
    /// Sequence that selects the iteration; may be repeated
    #[arg(long, value_name = "SEQUENCE")]
    validation: Vec<PathBuf>,
    #[command(flatten)]
    map: MapArguments,
    /// Loss to minimise
    #[arg(long, value_enum, default_value_t = LossName::MinimumEigenvalue)]
    loss: LossName,
    /// Robust loss for neighbourhoods that stay thick
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
    /// Poses that are estimated with the weights
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

/// Options of depth maps.
#[derive(Debug, Args)]
pub struct MapArguments {
    /// Trajectory, where it is not in the folder of the scans
    #[arg(long, value_name = "FILE")]
    pub poses: Option<PathBuf>,
    /// Convention of the poses
    #[arg(long, value_enum)]
    pub convention: Option<ConventionName>,
    /// Thresholds: those of the programs of the paper, or stricter ones that exclude edges
    #[arg(long, value_enum, default_value_t = MaskName::Strict)]
    pub masks: MaskName,
    /// Voxel size of each scan, which keeps one point per voxel, m
    #[arg(long, value_name = "M")]
    pub voxel: Option<f64>,
    /// Radius of the neighbourhoods in the map, m
    #[arg(long, value_name = "M")]
    pub radius: Option<f64>,
    /// Voxel size of the centres of neighbourhoods, of which the map has one per voxel, m; 0 makes
    /// every point a centre
    #[arg(long, value_name = "M")]
    pub centres: Option<f64>,
    /// Radius of the neighbourhoods in a scan for normals, m
    #[arg(long, value_name = "M")]
    pub normal_radius: Option<f64>,
    /// Number of times that this radius is doubled for points with too few or collinear neighbours, as
    /// at grazing incidence
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=6))]
    pub normal_doublings: Option<u32>,
    /// Range of depths used, m
    #[arg(long, num_args = 2, value_names = ["NEAR", "FAR"])]
    pub depths: Option<Vec<f64>>,
    /// Smallest variance of the viewpoints of a neighbourhood, m^2
    #[arg(long, value_name = "M2")]
    pub viewpoint_variance: Option<f64>,
    /// Exclude points within this angle of the shadow behind an edge, degrees (typically 5)
    #[arg(long, value_name = "DEG")]
    pub shadow_angle: Option<f64>,
    /// Largest ratio of the two smallest eigenvalues of a neighbourhood
    #[arg(long, value_name = "RATIO")]
    pub flatness: Option<f64>,
    /// Smallest ratio of the two largest eigenvalues of a neighbourhood: excludes lines
    #[arg(long, value_name = "RATIO")]
    pub roundness: Option<f64>,
    /// Number of nearest points in a neighbourhood; with --radius, of those within it
    #[arg(long, value_name = "COUNT")]
    pub nearest: Option<usize>,
    /// Smallest number of points of a neighbourhood
    #[arg(long, value_name = "COUNT")]
    pub least_points: Option<usize>,
    /// Largest angle between the normal of a neighbourhood and those of its points, degrees
    #[arg(long, value_name = "DEG")]
    pub normal_spread: Option<f64>,
    /// Largest ratio of the two smallest eigenvalues around a point in its scan
    #[arg(long, value_name = "RATIO")]
    pub own_flatness: Option<f64>,
    /// Smallest ratio of the two largest eigenvalues around a point in its scan
    #[arg(long, value_name = "RATIO")]
    pub own_roundness: Option<f64>,
    /// Largest distance of a point from its plane in its scan, in standard deviations
    #[arg(long, value_name = "RATIO")]
    pub own_offset: Option<f64>,
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
pub enum MaskName {
    /// 10 points, flatness 0.01, normals within 8 degrees, voxels of 0.1 m
    Strict,
    /// 5 points, flatness 0.25, voxels of 0.2 m
    Published,
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
    /// Trace: does not find the bias
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
    /// None
    Fixed,
    /// Each but the first of a sequence
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

/// Scans of several sequences in one world.
pub struct Gathered {
    /// Points of each scan in the frame of the lidar, m.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Pose of each scan, world from lidar.
    pub poses: Vec<Isometry3<f64>>,
    /// Number of the sequence of each scan.
    pub sequence_of: Vec<usize>,
}

/// Distance between the places of sequences in the common world, m.
const SEQUENCE_DISTANCE: f64 = 1e4;

impl MapArguments {
    /// The options with the given arguments.
    pub fn options(&self) -> DepthMapOptions {
        // Start from the published or the strict masks
        let mut options = match self.masks {
            MaskName::Strict => DepthMapOptions::strict(),
            MaskName::Published => DepthMapOptions::published(),
        };

        // Neighbourhoods of the points
        if let Some(voxel) = self.voxel {
            options.voxel = voxel;
        }
        match (self.nearest, self.radius) {
            (Some(count), Some(radius)) => {
                options.neighbourhood = Neighbourhood::NearestWithin(count, radius);
            }
            (Some(count), None) => options.neighbourhood = Neighbourhood::Nearest(count),
            (None, Some(radius)) => options.neighbourhood = Neighbourhood::Radius(radius),
            (None, None) => {}
        }
        if let Some(centres) = self.centres {
            options.centres = Some(centres).filter(|cube| *cube != 0.0);
        }

        // Normals
        if let Some(radius) = self.normal_radius {
            options.normal_from = Neighbourhood::Radius(radius);
        }
        options.normal_doublings = self.normal_doublings.unwrap_or(options.normal_doublings);

        // Selection of measurements
        if let Some([near, far]) = self.depths.as_deref().and_then(<[f64]>::first_chunk) {
            options.depths = *near..=*far;
        }
        options.shadow = self.shadow_angle.map(f64::to_radians);
        self.set(&mut options.mask);
        options
    }

    /// Replaces the given thresholds.
    fn set(&self, mask: &mut NeighbourhoodMask) {
        let spread = self.normal_spread.map(f64::to_radians);
        for (given, threshold) in [
            (self.viewpoint_variance, &mut mask.viewpoint_variance),
            (self.flatness, &mut mask.flatness),
            (spread, &mut mask.normal_spread),
            (self.own_flatness, &mut mask.own_flatness),
            (self.own_roundness, &mut mask.own_roundness),
            (self.own_offset, &mut mask.own_offset),
        ] {
            *threshold = given.unwrap_or(*threshold);
        }
        if let Some(least) = self.roundness {
            mask.roundness = least..=1.0;
        }
        mask.neighbours = self.least_points.unwrap_or(mask.neighbours);
    }

    /// Reads sequences into one world.
    pub fn gather(&self, paths: &[PathBuf]) -> Result<Gathered, Failure> {
        if self.poses.is_some() && paths.len() > 1 {
            return Err(Failure::usage(
                "--poses gives one trajectory, but there are several sequences",
                "add the trajectory of each sequence to the folder of its scans",
            ));
        }
        let mut gathered = Gathered {
            scans: Vec::new(),
            poses: Vec::new(),
            sequence_of: Vec::new(),
        };
        for (number, path) in paths.iter().enumerate() {
            let sequence = sequence::read(path, self.poses.as_deref())?;
            let poses = sequence::world_from_lidar(&sequence, self.convention)?;
            let offset = Translation3::new(SEQUENCE_DISTANCE * number as f64, 0.0, 0.0);
            gathered.poses.extend(poses.iter().map(|p| offset * p));
            gathered.sequence_of.extend(poses.iter().map(|_| number));
            gathered.scans.extend(sequence.scans);
        }
        Ok(gathered)
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
    /// Factor by which errors common to scans and places widen the interval beyond that of noise.
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
                "the density of the sampling dominates the trace: it does not find the bias".into(),
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
             thickness {:.2} mm before, {:.2} mm after {} iterations (a lower loss does not prove a \
             better model)\n  depth noise {:.1} mm, condition {:.0}; errors common to scans and places \
             widen the interval by a factor of {:.1}\n  {}\n",
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
