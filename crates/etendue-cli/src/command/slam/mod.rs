//! `etendue slam`.

mod flaws;
mod report;
pub mod run;

use crate::command::correct::status::check_status;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::folder::{Folder, is_file_name};
use crate::formats;
use crate::number::{positive, zero_or_more};
use crate::output::{commit, list_written, print_report, warn};
use crate::sequence::{self, ConventionName};
use crate::view::layers::{LayerPanels, PanelLayer};
use clap::{Args, ValueEnum};
use etendue::config::depth_model::{self, LearntModel};
use etendue::estimate::odometry::{IcpOptions, LidarScan, MapperOptions, umeyama};
use etendue::io::output::OutputSet;
use etendue::io::points::PointFormat;
use etendue::io::sequence::{SequenceSource, SequenceSurvey, for_each_scan};
use etendue::io::table::{ColumnData, Encoding, PointColumn, PointTable};
use etendue::io::trajectory::{kitti_text, tum_text};
use etendue_plot::{Color, Drawing, palette};
use nalgebra::{Isometry3, Point3};
use report::{Report, scans_csv};
use run::{Mapped, Mapping, Prior, drift};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Arguments of `etendue slam`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue slam corridor -o map\n          \
    etendue slam drive.mcap -o map.pcd\n          \
    etendue slam corridor --correction model.toml --prior poses --prior-noise 0.05 0.5\n          \
    etendue slam robot.clf --prior poses -o map\n\n\
    Each scan is registered with the map of the scans before it by robust point-to-plane ICP. The first \
    guess is a motion of constant velocity, or odometry. Points that carry times are deskewed, those of a \
    folder of clouds too. Poses with times are interpolated at the times of the scans. A correction that its training did not find usable is refused without --force. There are \
    no loop closures, so that drift is visible. Where the sequence has poses, the \
    result is compared with them; ATE and RPE are those of the PyPI package evo.\n\
    The verdict is good, doubtful or failed, from the overlap, the residual, the degenerate directions and \
    the standard deviation of each scan (docs/slam.md). Planar scans, whose points all have z = 0, are mapped in the \
    plane, as sections of vertical walls. The exit code is 0 for a good trajectory, 3 for a doubtful \
    one (0 with --accept-doubtful), and 4 for a failed one.\n\
    Output: trajectory.tum, trajectory_kitti.txt, map.csv, scans.csv (quality of each scan), report.json \
    and a picture, for every verdict.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the command line"
)]
pub struct Slam {
    /// Folder of scans, bag (MCAP, ROS 1, ROS 2), packet capture or scan log
    sequence: PathBuf,
    #[command(flatten)]
    lidar: LidarOptions,
    /// Reference trajectory, if it is not in the folder of the scans: one pose per scan, or poses with times that
    /// span those of the scans
    #[arg(long, value_name = "FILE")]
    poses: Option<PathBuf>,
    /// Convention of the reference poses
    #[arg(long, value_enum)]
    convention: Option<ConventionName>,
    /// Initial pose of each scan
    #[arg(long, value_enum, default_value_t = PriorName::Motion)]
    prior: PriorName,
    /// Noise of the odometry per scan, m and degrees
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], default_values_t = [0.0, 0.0], value_parser = zero_or_more, allow_negative_numbers = true)]
    prior_noise: Vec<f64>,
    /// Depth model that corrects each scan before mapping
    #[arg(long, value_name = "FILE")]
    correction: Option<PathBuf>,
    /// Apply a correction although its model is not determined or untested
    #[arg(long, requires = "correction")]
    force: bool,
    /// Largest distance of a pair, m; the adaptive threshold is at most this
    #[arg(long, default_value_t = IcpOptions::default().max_distance, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    within: f64,
    /// Use the points as they are: for clouds that are deskewed already
    #[arg(long)]
    no_deskew: bool,
    /// Exit code 0 for a doubtful trajectory too
    #[arg(long)]
    accept_doubtful: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for the trajectory, the map and a picture, or a single file for the map: points (see `etendue convert`)
    #[arg(short, long, value_name = "DIR|FILE", default_value = "out/slam")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PriorName {
    /// Constant velocity: repeats the last motion
    Motion,
    /// Odometry: the motions of the reference poses, or otherwise those of the odometry of a bag or a scan log
    Poses,
}

impl Slam {
    /// Maps a sequence, writes the result and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        // Survey
        let map_format = self.map_format()?;
        let device = self.lidar.device()?;
        let source = sequence::source(&self.sequence, self.poses.as_deref(), &self.lidar, &device);
        let sequence = sequence::survey(source)?;
        let survey = &sequence.survey;
        check_scans(&self.sequence, survey.times.len())?;
        let correction = self.correction(sequence.is_planar)?;
        let reference = sequence.world_from_lidar(self.convention)?;

        // Map
        let odometry = reference.as_deref().or(survey.odometry.as_deref());
        let prior = self.prior(odometry)?;
        let options = self.options(sequence.is_planar);
        let mapping = Mapping::new(prior, correction.as_ref(), &options);
        let mapped = self.map(source, survey, mapping)?;

        // Compare, write and report
        let drift = reference.as_ref().map(|poses| drift(poses, &mapped));
        let report = Report::new(&mapped, drift.transpose()?);
        if let Some(format) = map_format {
            write_map(format, &self.output, &mapped)?;
        } else {
            let mut folder = Folder::new(&self.output);
            folder.json("report.json", &report)?;
            write(folder, &survey.times, &mapped, reference.as_deref())?;
        }
        print_report(self.json, &report, Report::text)?;
        report.outcome(self.accept_doubtful, self.prior == PriorName::Poses)
    }

    /// Format of the map, if the output is a single file.
    fn map_format(&self) -> Result<Option<PointFormat>, Failure> {
        if !is_file_name(&self.output) {
            return Ok(None);
        }
        let format = PointFormat::of_ending(&self.output).filter(|format| format.is_written());
        let unknown = || Failure::Ending {
            path: self.output.clone(),
            endings: formats::written(),
        };
        format.ok_or_else(unknown).map(Some)
    }

    /// Maps the scans of a surveyed sequence, one in memory at a time.
    fn map(
        &self,
        source: SequenceSource,
        survey: &SequenceSurvey,
        mut mapping: Mapping,
    ) -> Result<Mapped, Failure> {
        let count = survey.times.len();
        let progress = sequence::bar("mapping", count);
        let are_timed = survey.are_timed && !self.no_deskew;
        for_each_scan(source, |scan| {
            let times = scan.point_times.as_deref().filter(|_| are_timed);
            mapping.add(LidarScan {
                points: &scan.points,
                point_times: times,
                stamp: times.map(|_| survey.times[mapping.count()]),
            })?;
            progress.inc(1);
            Ok::<_, Failure>(if mapping.count() < count {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        progress.finish_and_clear();
        if mapping.count() < count {
            return Err(Failure::usage(
                format!("{} changed while it was read", self.sequence.display()),
                "run the command again when the recording is complete",
            ));
        }
        Ok(mapping.finish())
    }

    /// The correction, if its training found it usable or with `--force`.
    fn correction(&self, are_planar: bool) -> Result<Option<LearntModel>, Failure> {
        let Some(path) = &self.correction else {
            return Ok(None);
        };
        if are_planar {
            return Err(Failure::usage(
                format!(
                    "the scans of {} are planar: they do not show the incidence by which a depth model corrects",
                    self.sequence.display()
                ),
                "omit --correction",
            ));
        }
        let learnt = depth_model::load(path)?;
        warn(check_status(path, &learnt, self.force)?);
        Ok(Some(learnt))
    }

    /// Prior of the poses, from the odometry: the poses of the sequence, or those of a log.
    fn prior<'a>(&self, odometry: Option<&'a [Isometry3<f64>]>) -> Result<Prior<'a>, Failure> {
        match (self.prior, odometry) {
            (PriorName::Motion, _) => Ok(Prior::Motion),
            (PriorName::Poses, Some(poses)) => {
                let noise = [self.prior_noise[0], self.prior_noise[1].to_radians()];
                Ok(Prior::Odometry(poses, noise))
            }
            (PriorName::Poses, None) => Err(Failure::usage(
                "--prior poses needs poses, and the sequence has none",
                "give a trajectory with --poses, or omit --prior",
            )),
        }
    }

    /// Settings for scans of a planar lidar, or of one with several channels.
    fn options(&self, are_planar: bool) -> MapperOptions {
        let mut options = if are_planar {
            MapperOptions::planar()
        } else {
            MapperOptions::default()
        };
        options.icp.max_distance = self.within;
        options
    }
}

/// Checks that a trajectory can follow from the scans: two or more.
fn check_scans(path: &Path, scans: usize) -> Result<(), Failure> {
    if scans < 2 {
        return Err(Failure::usage(
            format!("{} has one scan: it has no trajectory", path.display()),
            "give a recording with two or more scans; `etendue inspect` counts them",
        ));
    }
    Ok(())
}

fn write(
    mut folder: Folder,
    times: &[f64],
    mapped: &Mapped,
    reference: Option<&[Isometry3<f64>]>,
) -> Result<(), Failure> {
    folder.text("trajectory.tum", tum_text(times, &mapped.poses))?;
    folder.text("trajectory_kitti.txt", kitti_text(&mapped.poses))?;
    let rows = mapped
        .points
        .iter()
        .map(|p| format!("{:.4},{:.4},{:.4}\n", p.x, p.y, p.z));
    folder.text("map.csv", format!("x,y,z\n{}", rows.collect::<String>()))?;
    folder.text("scans.csv", scans_csv(&mapped.scans))?;
    folder.picture("slam", &picture(mapped, reference))?;
    folder.commit_and_list()
}

/// Writes the points of the map, in the frame of the first scan.
fn write_map(format: PointFormat, path: &Path, mapped: &Mapped) -> Result<(), Failure> {
    let axis = |(axis, name): (usize, &'static str)| {
        let numbers = mapped.points.iter().map(|point| point[axis]);
        PointColumn::new(name, ColumnData::F64(numbers.collect()))
    };
    let table = PointTable {
        points: mapped.points.len(),
        height: 1,
        columns: (0..).zip(["x", "y", "z"]).map(axis).collect(),
    };
    let mut outputs = OutputSet::new();
    format.write(&mut outputs, path, &table, Encoding::default())?;
    list_written(&commit(outputs)?);
    Ok(())
}

/// Map and trajectories from above.
fn picture(mapped: &Mapped, reference: Option<&[Isometry3<f64>]>) -> Drawing {
    // Align the map with the reference
    let from_above = |poses: &[Isometry3<f64>]| -> Vec<[f64; 2]> {
        let positions = poses.iter().map(|p| p.translation.vector);
        positions.map(|p| [p.x, p.y]).collect()
    };
    let aligned = reference.and_then(|r| umeyama(r, &mapped.poses).ok());
    let reference_from_world = aligned.unwrap_or_else(Isometry3::identity);

    // Layers: map, reference, estimate
    let points = mapped
        .points
        .iter()
        .map(|p| reference_from_world * Point3::from(*p));
    let map = points.map(|p| [p.x, p.y]).collect();
    let mut layers = vec![PanelLayer::points("map", palette::FAINT, map)];
    if let Some(reference) = reference {
        let blue = Color::hex(0x0072B2);
        layers.push(PanelLayer::line("reference", blue, from_above(reference)));
    }
    let estimate: Vec<_> = mapped
        .poses
        .iter()
        .map(|p| reference_from_world * p)
        .collect();
    let orange = Color::hex(0xD55E00);
    layers.push(PanelLayer::line("estimate", orange, from_above(&estimate)));

    // Draw
    let subtitle = if aligned.is_some() {
        "aligned rigidly with the reference"
    } else {
        "in the frame of the first scan"
    };
    LayerPanels {
        title: "Map and trajectory from above",
        subtitle,
        axes: ["x, m", "y, m"],
        to_scale: true,
        panels: vec![(String::new(), layers)],
    }
    .draw()
}
