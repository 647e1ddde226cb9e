//! `etendue register`.

mod cloud;
mod picture;
mod planes;
mod report;
mod settings;

pub use cloud::NamedCloud;

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print_report, warn};
use crate::pose::Motion as MotionArgument;
use clap::Args;
use etendue::estimate::model::{planar, upright};
use etendue::estimate::register::{
    CloudPoint, Registration, RegistrationResult, RigidMotion, downsample,
};
use etendue_plot::Drawing;
use nalgebra::{Isometry3, Point, Point2, Point3};
use picture::RegistrationView;
use planes::PlaneCheck;
use report::Report;
use settings::{MethodName, SettingOptions, Settings};
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `etendue register`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue register source.ply target.ply --method gicp -o out\n          \
    etendue register log.dat#101 log.dat#100 --method point-to-plane\n          \
    etendue register drive.bag#1 drive.bag#0 --topic /points\n          \
    etendue register rig.mcap#0 rig.mcap#0 --topic /left/points --topic-b /right/points\n          \
    etendue register a.csv b.csv --method ndt --start 0.5,0,10 --cell 0.3\n\n\
    A cloud has any format that `etendue convert` reads; FILE#N is sweep N (from 0) of a bag, a packet \
    capture, a scan log or a table with the column sweep. Two clouds \
    in the plane z = 0, such as two scans, are registered in the plane.\n\
    Tuned settings follow from the median distance s of the points of B from their centroid. In \
    space: voxels of s/20, cells of s/2, pairs within s and then within s/10. In the plane: first the \
    nearest 90 % of the pairs and cells of s/2, then all pairs within s/3 with a robust loss and cells \
    of s/8. Single settings can be combined with either.\n\
    Clouds with a column range whose points are not in the frame of their lidar are reported: clouds in the \
    frame of the world need no registration.\n\
    Scans of lidars are also registered by their planes, as by `etendue slam`: by the other methods, the pattern of the \
    beams, which moves with the lidar, can hold back the result.\n\
    Exit code 3: the result is doubtful, because fewer than 40 % of the points of A have a pair, \
    there are fewer than 60 pairs (in the plane 30), the last step was longer than 1 mm, the planes do not determine a \
    direction, or they give another result: by more than five standard deviations, 50 mm or 0.5 degrees."
)]
pub struct Register {
    /// Source cloud, which is moved
    a: String,
    /// Target cloud
    b: String,
    #[command(flatten)]
    lidar: LidarOptions,
    /// Topic of B, where A and B are of two lidars of one bag [default: that of --topic]
    #[arg(
        long,
        value_name = "NAME",
        requires = "topic",
        help_heading = "Recording"
    )]
    topic_b: Option<String>,
    /// Method
    #[arg(long, value_enum, default_value_t = MethodName::Gicp)]
    method: MethodName,
    #[command(flatten)]
    settings: SettingOptions,
    /// Register in the plane, ignoring heights
    #[arg(long = "2d")]
    planar: bool,
    /// Initial pose of A in B: x,y,yaw or x,y,z,yaw[,pitch,roll] in metres and degrees [default:
    /// the identity]
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    start: Option<MotionArgument>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for registration.json and a picture before and after registration
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Register {
    /// Registers two clouds, writes the result and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        let a = NamedCloud::read(&self.a, &self.lidar)?;
        let lidar_b = match &self.topic_b {
            Some(topic) => &self.lidar.with_topic(topic),
            None => &self.lidar,
        };
        let b = NamedCloud::read(&self.b, lidar_b)?;
        let planar = self.planar || (a.is_planar() && b.is_planar());
        let report = if planar {
            self.in_plane(&a, &b)?
        } else {
            self.in_space(&a, &b)?
        };
        warn(a.warnings.iter().chain(&b.warnings));
        warn(frame_warning(&a, &b));
        if let Some(path) = &self.output {
            self.write(Folder::new(path), &a, &b, &report)?;
        }
        print_report(self.json, &report, Report::text)?;
        if report.reasons.is_empty() {
            return Ok(());
        }
        Err(Failure::DoubtfulRegistration {
            reasons: report.reasons.join("; "),
        })
    }

    fn start(&self) -> Isometry3<f64> {
        self.start.map_or_else(Isometry3::identity, |start| start.0)
    }

    fn in_plane(&self, a: &NamedCloud, b: &NamedCloud) -> Result<Report, Failure> {
        let planar_points = |cloud: &NamedCloud| -> Vec<Point2<f64>> {
            cloud.points.iter().map(|p| Point2::new(p.x, p.y)).collect()
        };
        let source = planar_points(a);
        let target = planar_points(b);
        let settings = self.settings.settings(self.method, &target);
        let (found, seconds) =
            timed(|| register(&settings, &source, &target, planar(&self.start())))?;
        let b_from_a = upright(&found.target_from_source);
        let planes = PlaneCheck::new(&a.points, &b.points, &b_from_a, true);
        Ok(self
            .report(b_from_a, true, &settings, &found, seconds)
            .checked_by(planes))
    }

    fn in_space(&self, a: &NamedCloud, b: &NamedCloud) -> Result<Report, Failure> {
        let settings = self.settings.settings(self.method, &b.points);
        let (found, seconds) = timed(|| register(&settings, &a.points, &b.points, self.start()))?;
        let b_from_a = found.target_from_source;
        let planes = PlaneCheck::new(&a.points, &b.points, &b_from_a, false);
        Ok(self
            .report(b_from_a, false, &settings, &found, seconds)
            .checked_by(planes))
    }

    fn report<M>(
        &self,
        b_from_a: Isometry3<f64>,
        planar: bool,
        settings: &Settings,
        found: &RegistrationResult<M>,
        seconds: f64,
    ) -> Report {
        let with_topic = |cloud: &str, topic: &Option<String>| match topic {
            Some(topic) if self.topic_b.is_some() => format!("{cloud} {topic}"),
            _ => cloud.to_owned(),
        };
        let a = with_topic(&self.a, &self.lidar.topic);
        let b = with_topic(&self.b, &self.topic_b);
        Report::new(
            [&a, &b],
            self.method,
            b_from_a,
            planar,
            settings,
            found,
            seconds,
        )
    }

    fn write(
        &self,
        mut folder: Folder,
        a: &NamedCloud,
        b: &NamedCloud,
        report: &Report,
    ) -> Result<(), Failure> {
        folder.json("registration.json", report)?;
        folder.picture("registration", &self.picture(a, b, report))?;
        folder.commit_and_list()
    }

    fn picture(&self, a: &NamedCloud, b: &NamedCloud, report: &Report) -> Drawing {
        let before = from_above(&a.points, &self.start());
        let after = from_above(&a.points, &report.b_from_a);
        let source = a.short_name();
        let target = b.short_name();
        RegistrationView {
            title: &format!(
                "{source} registered with {target} by {}",
                self.method.name()
            ),
            subtitle: &report.summary(),
            target: (target, &from_above(&b.points, &Isometry3::identity())),
            source: (source, [&before, &after]),
        }
        .draw()
    }
}

/// A result and the time until it, s.
fn timed<T>(compute: impl FnOnce() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let start = Instant::now();
    let result = compute()?;
    Ok((result, start.elapsed().as_secs_f64()))
}

/// Registers downsampled clouds, first coarsely if the settings have a first stage.
fn register<M: RigidMotion<D, K>, const D: usize, const K: usize>(
    settings: &Settings,
    source: &[Point<f64, D>],
    target: &[Point<f64, D>],
    start: M,
) -> Result<RegistrationResult<M>, Failure>
where
    Point<f64, D>: CloudPoint,
{
    let downsampled = |points: &[Point<f64, D>]| {
        if settings.voxel > 0.0 {
            downsample(points, settings.voxel)
        } else {
            points.to_vec()
        }
    };
    let source = downsampled(source);
    let target = downsampled(target);
    let stages: Vec<Registration> = settings
        .first
        .into_iter()
        .chain([settings.registration])
        .collect();
    Ok(Registration::register_in_stages(
        &stages, &source, &target, start,
    )?)
}

/// Warning about clouds that are not both in the frame of their lidar.
fn frame_warning(a: &NamedCloud, b: &NamedCloud) -> Option<String> {
    let [name_a, name_b] = [&a.name, &b.name];
    let (moved, other) = match (a.is_moved?, b.is_moved?) {
        (false, false) => return None,
        (true, true) => {
            return Some(format!(
                "the points of {name_a} and {name_b} are not in the frames of their lidars, by the column \
                 range: if both are in the frame of the world, as `etendue simulate` writes clouds without \
                 --frame sensor, they are registered already, and the result is the rest between them"
            ));
        }
        (true, false) => (name_a, name_b),
        (false, true) => (name_b, name_a),
    };
    Some(format!(
        "by the column range, the points of {other} are in the frame of its lidar, and those of {moved} are \
         not: if they are in the frame of the world, the result is the pose of a lidar and not the motion \
         between two"
    ))
}

fn from_above(points: &[Point3<f64>], motion: &Isometry3<f64>) -> Vec<[f64; 2]> {
    let moved = points.iter().map(|point| motion * point);
    moved.map(|point| [point.x, point.y]).collect()
}
