//! `etendue correct train`.

use super::pictures;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use crate::sequence::{self, ConventionName};
use clap::{Args, ValueEnum};
use etendue::calibrate::depth::features::Mask;
use etendue::calibrate::depth::train::{Optimiser, Trained, Training, train};
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthModel, InverseCosine, Linear, MapOptions, Polynomial, PoseFreedom,
    Robust, Signature, WaveformBias,
};
use etendue::config::depth_model::{BIN_DEG, Learnt, LearntModel};
use etendue::estimate::geometry::Neighbourhood;
use etendue::io::output::OutputSet;
use nalgebra::{Isometry3, Point3, Translation3};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `etendue correct train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Sequences of scans with poses; each is a place of its own
    #[arg(required = true, value_name = "SEQUENCE")]
    sequences: Vec<PathBuf>,
    /// The model's file
    #[arg(short, long, value_name = "FILE", default_value = "model.toml")]
    output: PathBuf,
    /// What the sensor is called; a model is of one sensor
    #[arg(long, default_value = "")]
    sensor: String,
    /// Shape of the bias
    #[arg(long, value_enum, default_value_t = ModelName::Polynomial)]
    model: ModelName,
    /// Exponents of the polynomials
    #[arg(long, value_delimiter = ',', default_values_t = [2.0, 4.0], value_name = "E,E...")]
    exponents: Vec<f64>,
    /// A sequence that chooses the iteration; may be repeated
    #[arg(long, value_name = "SEQUENCE")]
    validation: Vec<PathBuf>,
    #[command(flatten)]
    map: MapArguments,
    /// What is made small
    #[arg(long, value_enum, default_value_t = LossName::MinimumEigenvalue)]
    loss: LossName,
    /// How neighbourhoods that will not become thin count
    #[arg(long, value_enum, default_value_t = RobustName::None)]
    robust: RobustName,
    /// Where they begin to count less: a thickness, m (a number for normalised-eigenvalue)
    #[arg(long, default_value_t = 0.02, value_name = "M")]
    robust_from: f64,
    /// How it is made small
    #[arg(long, value_enum, default_value_t = OptimiserName::GaussNewton)]
    optimiser: OptimiserName,
    /// Most iterations in each round
    #[arg(long, default_value_t = 100)]
    iterations: usize,
    /// Which poses may move with the weights
    #[arg(long, value_enum, default_value_t = FreedomName::PerPose)]
    poses_move: FreedomName,
    /// How often neighbourhoods are taken anew from the corrected map
    #[arg(long, default_value_t = 1)]
    refreshes: usize,
    /// Folder for pictures: the bias curve, the masks, the map from the side
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How maps are made, for every verb that makes one.
#[derive(Debug, Args)]
pub struct MapArguments {
    /// The trajectory, where it does not stand beside the scans
    #[arg(long, value_name = "FILE")]
    pub poses: Option<PathBuf>,
    /// What the poses mean
    #[arg(long, value_enum)]
    pub convention: Option<ConventionName>,
    /// Thresholds: of the paper's programs, or those that leave edges out
    #[arg(long, value_enum, default_value_t = MaskName::Strict)]
    pub masks: MaskName,
    /// Side of the cubes of which each scan keeps one point, m
    #[arg(long, value_name = "M")]
    pub voxel: Option<f64>,
    /// Radius of the neighbourhoods in the map, m
    #[arg(long, value_name = "M")]
    pub radius: Option<f64>,
    /// Side of the cubes of which the map keeps one point to be the centre of a neighbourhood, m; 0
    /// makes every point one
    #[arg(long, value_name = "M")]
    pub centres: Option<f64>,
    /// Radius of the neighbourhoods in a scan that give normals, m
    #[arg(long, value_name = "M")]
    pub normal_radius: Option<f64>,
    /// How often that radius is doubled for points with too few neighbours or only a line of them: at
    /// grazing incidence the columns of a scan stand apart
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=6))]
    pub normal_doublings: Option<u32>,
    /// Depths that are used, m
    #[arg(long, num_args = 2, value_names = ["NEAR", "FAR"])]
    pub depths: Option<Vec<f64>>,
    /// Least variance of the places that a neighbourhood was seen from, m^2
    #[arg(long, value_name = "M2")]
    pub viewpoint_variance: Option<f64>,
    /// Leaves out points that stand within this angle of a beam behind an edge, degrees (5 is usual)
    #[arg(long, value_name = "DEG")]
    pub shadow_angle: Option<f64>,
    /// Greatest ratio of the two least eigenvalues of a neighbourhood
    #[arg(long, value_name = "RATIO")]
    pub flatness: Option<f64>,
    /// Least ratio of the two greatest eigenvalues of a neighbourhood: lines are left out
    #[arg(long, value_name = "RATIO")]
    pub roundness: Option<f64>,
    /// Neighbourhoods of so many nearest points; with --radius of those within it
    #[arg(long, value_name = "COUNT")]
    pub nearest: Option<usize>,
    /// Least number of points of a neighbourhood
    #[arg(long, value_name = "COUNT")]
    pub least_points: Option<usize>,
    /// Greatest angle between a neighbourhood's normal and those of its points, degrees
    #[arg(long, value_name = "DEG")]
    pub normal_spread: Option<f64>,
    /// Greatest ratio of the two least eigenvalues about a point in its own scan
    #[arg(long, value_name = "RATIO")]
    pub own_flatness: Option<f64>,
    /// Least ratio of the two greatest eigenvalues about a point in its own scan
    #[arg(long, value_name = "RATIO")]
    pub own_roundness: Option<f64>,
    /// Greatest distance of a point from its plane in its own scan, in standard deviations
    #[arg(long, value_name = "RATIO")]
    pub own_offset: Option<f64>,
}

/// Ways to let outliers go.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RobustName {
    /// As the others
    None,
    /// By the root of their loss
    Huber,
    /// By its logarithm
    Cauchy,
    /// Up to a bound
    GemanMcClure,
    /// Not at all
    Truncated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MaskName {
    /// 10 points, 0.01, normals within 8 degrees; cubes of 0.1 m
    Strict,
    /// 5 points, 0.25; cubes of 0.2 m
    Published,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelName {
    /// Powers of the incidence
    Polynomial,
    /// The same times the depth
    ScaledPolynomial,
    /// Depth, incidence and a constant
    Linear,
    /// 1/cos - 1
    InverseCosine,
    /// The same times the depth
    ScaledInverseCosine,
    /// A stretched pulse: its width and the beam's
    Waveform,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LossName {
    /// The least eigenvalue of each neighbourhood
    MinimumEigenvalue,
    /// The same over the trace
    NormalisedEigenvalue,
    /// The trace: it does not find the bias
    Trace,
    /// Point-to-plane, both ways
    PointToPlane,
    /// Point-to-point
    PointToPoint,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OptimiserName {
    GaussNewton,
    Lbfgs,
    /// With the paper's rate of 2e-4
    Adam,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FreedomName {
    /// None
    Fixed,
    /// Each but the first of a sequence
    PerPose,
    /// All by one correction
    Common,
    /// All of a sequence by one
    PerSequence,
}

/// Scans of several places, those of one sequence after those of another.
pub struct Gathered {
    pub scans: Vec<Vec<Point3<f64>>>,
    pub poses: Vec<Isometry3<f64>>,
    pub sequence_of: Vec<usize>,
}

/// Places are put so far apart that none touches another, m.
const APART: f64 = 1e4;

impl MapArguments {
    /// The options that are asked for.
    pub fn options(&self) -> MapOptions {
        let mut options = match self.masks {
            MaskName::Strict => MapOptions::strict(),
            MaskName::Published => MapOptions::published(),
        };
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
        if let Some(radius) = self.normal_radius {
            options.normal_from = Neighbourhood::Radius(radius);
        }
        options.normal_doublings = self.normal_doublings.unwrap_or(options.normal_doublings);
        if let Some([near, far]) = self.depths.as_deref().and_then(<[f64]>::first_chunk) {
            options.depths = *near..=*far;
        }
        options.shadow = self.shadow_angle.map(f64::to_radians);
        self.set(&mut options.mask);
        options
    }

    /// The thresholds that are typed.
    fn set(&self, mask: &mut Mask) {
        let spread = self.normal_spread.map(f64::to_radians);
        for (typed, threshold) in [
            (self.viewpoint_variance, &mut mask.viewpoint_variance),
            (self.flatness, &mut mask.flatness),
            (spread, &mut mask.normal_spread),
            (self.own_flatness, &mut mask.own_flatness),
            (self.own_roundness, &mut mask.own_roundness),
            (self.own_offset, &mut mask.own_offset),
        ] {
            *threshold = typed.unwrap_or(*threshold);
        }
        if let Some(least) = self.roundness {
            mask.roundness = least..=1.0;
        }
        mask.neighbours = self.least_points.unwrap_or(mask.neighbours);
    }

    /// Reads sequences.
    pub fn gather(&self, paths: &[PathBuf]) -> Result<Gathered, Failure> {
        if self.poses.is_some() && paths.len() > 1 {
            return Err(Failure::Usage {
                message: "--poses names one trajectory, but there are several sequences".into(),
                remedy: "put each sequence's trajectory beside its scans".into(),
            });
        }
        let mut gathered = Gathered {
            scans: Vec::new(),
            poses: Vec::new(),
            sequence_of: Vec::new(),
        };
        for (number, path) in paths.iter().enumerate() {
            let sequence = sequence::read(path, self.poses.as_deref())?;
            let poses = sequence::world_from_lidar(&sequence, self.convention)?;
            let aside = Translation3::new(APART * number as f64, 0.0, 0.0);
            gathered.poses.extend(poses.iter().map(|p| aside * p));
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
    /// How many times wider errors that scans and places share make the interval than noise alone.
    shared_errors_widen: f64,
    condition: f64,
    warnings: Vec<String>,
}

impl Train {
    /// Learns, prints and writes.
    pub fn run(self) -> Result<(), Failure> {
        let gathered = self.map.gather(&self.sequences)?;
        let options = self.map.options();
        let map = DepthMap::build(&gathered.scans, &gathered.poses, &options)?;
        let validation = self.validation_map(&options)?;
        let training = self.training(&gathered);
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
        let learnt = self.learnt(&gathered, &map, &trained);
        let report = self.report(&map, &trained);
        self.write(&learnt)?;
        if let Some(path) = &self.pictures {
            let mut folder = Folder::new(path);
            pictures::add_curve(&mut folder, &learnt)?;
            pictures::add_map(&mut folder, &map, &trained)?;
            for path in folder.commit()? {
                eprintln!("wrote {}", path.display());
            }
        }
        for warning in &report.warnings {
            eprintln!("warning: {warning}");
        }
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }

    fn validation_map(&self, options: &MapOptions) -> Result<Option<DepthMap>, Failure> {
        if self.validation.is_empty() {
            return Ok(None);
        }
        let held_out = self.map.gather(&self.validation)?;
        let map = DepthMap::build(&held_out.scans, &held_out.poses, options)?;
        Ok(Some(map))
    }

    fn start(&self) -> DepthModel {
        let polynomial = |scaled| {
            DepthModel::Polynomial(Polynomial {
                exponents: self.exponents.clone(),
                weights: vec![0.0; self.exponents.len()],
                scaled,
            })
        };
        let inverse = |scaled| {
            DepthModel::InverseCosine(InverseCosine {
                weight: 0.0,
                scaled,
            })
        };
        match self.model {
            ModelName::Polynomial => polynomial(false),
            ModelName::ScaledPolynomial => polynomial(true),
            ModelName::Linear => DepthModel::Linear(Linear::default()),
            ModelName::InverseCosine => inverse(false),
            ModelName::ScaledInverseCosine => inverse(true),
            ModelName::Waveform => DepthModel::Waveform(WaveformBias::START),
        }
    }

    fn training(&self, gathered: &Gathered) -> Training {
        Training {
            loss: match self.loss {
                LossName::MinimumEigenvalue => DepthLoss::MinimumEigenvalue,
                LossName::NormalisedEigenvalue => DepthLoss::NormalisedEigenvalue,
                LossName::Trace => DepthLoss::Trace,
                LossName::PointToPlane => DepthLoss::PointToPlane,
                LossName::PointToPoint => DepthLoss::PointToPoint,
            },
            robust: match self.robust {
                RobustName::None => Robust::None,
                RobustName::Huber => Robust::Huber(self.robust_from),
                RobustName::Cauchy => Robust::Cauchy(self.robust_from),
                RobustName::GemanMcClure => Robust::GemanMcClure(self.robust_from),
                RobustName::Truncated => Robust::Truncated(self.robust_from),
            },
            freedom: match self.poses_move {
                FreedomName::Fixed => PoseFreedom::Fixed,
                FreedomName::PerPose => PoseFreedom::PerPose,
                FreedomName::Common => PoseFreedom::Common,
                FreedomName::PerSequence => PoseFreedom::PerSequence(gathered.sequence_of.clone()),
            },
            optimiser: match self.optimiser {
                OptimiserName::GaussNewton => Optimiser::GaussNewton,
                OptimiserName::Lbfgs => Optimiser::Lbfgs(7),
                OptimiserName::Adam => Optimiser::Adam(2e-4),
            },
            iterations: self.iterations,
            refreshes: self.refreshes,
        }
    }

    fn learnt(&self, gathered: &Gathered, map: &DepthMap, trained: &Trained) -> LearntModel {
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
                signature: Signature::of(gathered.scans.iter().map(Vec::as_slice)),
            }),
        }
    }

    fn report(&self, map: &DepthMap, trained: &Trained) -> Report {
        let progress = &trained.progress;
        let loss = |at: usize| progress.get(at).map_or(f64::NAN, |p| p.loss);
        let mut warnings = Vec::new();
        if matches!(self.loss, LossName::Trace) {
            warnings.push(
                "the trace is dominated by the density of the sampling: it does not find the bias"
                    .into(),
            );
        }
        if matches!(self.poses_move, FreedomName::Fixed) {
            warnings.push(
                "the poses are taken to be right: a centimetre of pose noise costs millimetres of \
                 bias"
                    .into(),
            );
        }
        if map.report().not_finite > 0 {
            let count = map.report().not_finite;
            warnings.push(format!("{count} points are not finite and were left out"));
        }
        Report {
            model: format!("{:?}", self.model),
            weights: trained.model.weights(),
            verdict: trained.curve.verdict(),
            scans: map.world_from_lidar().len(),
            measurements: map.measurements().len(),
            neighbourhoods: map.neighbourhoods().len(),
            iterations: progress.len().saturating_sub(1),
            loss_before: loss(0),
            loss_after: loss(progress.len().saturating_sub(1)),
            noise_m: trained.curve.noise,
            shared_errors_widen: trained.curve.widened(),
            condition: trained.curve.condition,
            warnings,
        }
    }

    fn write(&self, learnt: &LearntModel) -> Result<(), Failure> {
        let _guard = crate::interrupt::writing();
        let mut outputs = OutputSet::new();
        let text = learnt.text();
        outputs.add(&self.output, |file| file.write_all(text.as_bytes()))?;
        for path in outputs.commit()? {
            eprintln!("wrote {}", path.display());
        }
        Ok(())
    }
}

impl Report {
    fn text(&self) -> String {
        format!(
            "{} from {} scans: {} measurements, {} neighbourhoods\n  weights {:?}\n  mean \
             thickness {:.2} mm before, {:.2} mm after {} iterations; a lower loss proves \
             nothing\n  depth noise {:.1} mm, condition {:.0}; errors that scans and places share \
             widen the interval {:.1} times\n  {}\n",
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

/// Counts in every [`BIN_DEG`] degrees from 0 to 90.
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
