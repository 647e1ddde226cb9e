//! `etendue correct eval`.

use super::map::MapArguments;
use super::pictures;
use crate::command::slam::run::{Drift, Mapping, Prior, drift};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::number;
use crate::output::print_report;
use crate::sequence;
use clap::Args;
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthModel, DepthObjective, DepthUnknowns, PoseFreedom, RobustLoss,
    correct_scan,
};
use etendue::config::depth_model::{self, LearntModel};
use etendue::estimate::geometry::{CellOptions, ReferenceMesh};
use etendue::estimate::odometry::MapperOptions;
use etendue::io::mesh::read_mesh;
use etendue::physics::statistics::{mean, root_mean_square};
use nalgebra::{Isometry3, Point3};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `etendue correct eval`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue correct eval corridor --model model.toml --mesh corridor.ply\n\n\
    Thickness is the square root of the mean smallest eigenvalue of the flat neighbourhoods of \
    the map. A thinner map does not prove a better model; a smaller distance from a reference \
    mesh does. SLAM is run with and without the correction from the same odometry and compared \
    with the poses of the sequence."
)]
pub struct Eval {
    /// Sequence that was not used for learning
    sequence: PathBuf,
    /// Model file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Mesh of the scanned environment, in the frame of the poses
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Largest distance of a point from the mesh, m
    #[arg(long, default_value_t = 0.2, value_name = "M", value_parser = number::positive)]
    reach: f64,
    /// Noise of the odometry, the prior of each scan in SLAM, m and degrees
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], default_values_t = [0.02, 0.2], value_parser = number::zero_or_more)]
    prior_noise: Vec<f64>,
    #[command(flatten)]
    map: MapArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for the bias curve
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    /// Square root of the mean smallest eigenvalue, m: as measured, corrected.
    thickness_m: Option<[f64; 2]>,
    neighbourhoods: usize,
    /// Distances from the mesh: as measured, corrected.
    mesh: Option<[MeshDistance; 2]>,
    /// SLAM: as measured, corrected.
    slam: Option<[Drift; 2]>,
    remarks: Vec<String>,
}

/// Distances from a mesh of the points within reach.
#[derive(Clone, Copy, Serialize)]
struct MeshDistance {
    mean_m: f64,
    rms_m: f64,
    share_within_reach: f64,
}

impl Eval {
    /// Evaluates the model and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        // Load
        let learnt = depth_model::load(&self.model)?;
        let gathered = self.map.gather(std::slice::from_ref(&self.sequence))?;
        let scans = &gathered.scans;
        let poses = &gathered.poses;

        // Thickness, distance from the mesh, and drift of SLAM
        let mut remarks = Vec::new();
        let (thickness, neighbourhoods) = match self.thickness(scans, poses, &learnt.model) {
            Ok((pair, count)) => (Some(pair), count),
            Err(error) => {
                remarks.push(format!("no thickness: {error}"));
                (None, 0)
            }
        };
        let mesh = match &self.mesh {
            Some(path) => Some(self.distances(path, scans, poses, &learnt.model)?),
            None => None,
        };
        let slam = match self.slam(scans, poses, &learnt) {
            Ok(pair) => Some(pair),
            Err(error) => {
                remarks.push(format!("no SLAM: {error}"));
                None
            }
        };

        // Write and report
        let report = Report {
            thickness_m: thickness,
            neighbourhoods,
            mesh,
            slam,
            remarks,
        };
        if let Some(path) = &self.output {
            let mut folder = Folder::new(path);
            pictures::add_curve(&mut folder, &learnt)?;
            folder.json("eval.json", &report)?;
            folder.commit_and_list()?;
        }
        print_report(self.json, &report, Report::text)
    }

    /// Thickness of the same neighbourhoods before and after correction, m, and their number.
    fn thickness(
        &self,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        model: &DepthModel,
    ) -> Result<([f64; 2], usize), Failure> {
        let map = DepthMap::build(scans, poses, &self.map.options(scans.len()))?;
        let loss = DepthLoss::MinimumEigenvalue;
        let objective = DepthObjective::new(&map, loss, RobustLoss::None, PoseFreedom::Fixed)?;
        let thickness = |model: DepthModel| {
            let unknowns = DepthUnknowns {
                model,
                corrections: Vec::new(),
            };
            objective.value(&unknowns).sqrt()
        };
        let nothing = DepthModel::Linear(etendue::calibrate::depth::LinearBias::default());
        Ok((
            [thickness(nothing), thickness(model.clone())],
            map.neighbourhoods().len(),
        ))
    }

    /// Distances of both clouds from a mesh.
    fn distances(
        &self,
        path: &Path,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        model: &DepthModel,
    ) -> Result<[MeshDistance; 2], Failure> {
        // Load the mesh
        let file = read_mesh(path)?;
        let corners = |t: &[u32; 3]| t.map(|v| file.mesh.vertices[v as usize]);
        let triangles = file.mesh.triangles.iter().map(corners).collect();
        let mesh = ReferenceMesh::new(triangles, self.reach);
        let cells = CellOptions::default();
        let depths = self.map.options(scans.len()).depths;
        let mut as_measured = Vec::new();
        let mut after_correction = Vec::new();
        for (scan, pose) in scans.iter().zip(poses) {
            // Select the points that the correction applies to
            let corrected = correct_scan(scan, model, &cells);
            let used = |i: &usize| {
                corrected.incidences[*i].is_some() && depths.contains(&scan[*i].coords.norm())
            };
            let selected: Vec<usize> = (0..scan.len()).filter(used).collect();

            // Distances of these points in the world, as measured and corrected
            let distances = |points: &[Point3<f64>]| {
                let in_world: Vec<_> = selected.iter().map(|&i| pose * points[i]).collect();
                mesh.distances(&in_world)
            };
            as_measured.extend(distances(scan));
            after_correction.extend(distances(&corrected.points));
        }
        Ok([as_measured, after_correction].map(|distances| MeshDistance::of(&distances)))
    }

    /// Drift of SLAM without and with the correction.
    fn slam(
        &self,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        learnt: &LearntModel,
    ) -> Result<[Drift; 2], Failure> {
        let noise = [self.prior_noise[0], self.prior_noise[1].to_radians()];
        let prior = Prior::Odometry(poses, noise);
        let options = MapperOptions::default();
        let run = |correction: Option<&LearntModel>| {
            let progress = sequence::bar("mapping", scans.len());
            let mut mapping = Mapping::new(prior, correction, &options);
            for scan in scans {
                mapping.add(scan.as_slice().into())?;
                progress.inc(1);
            }
            progress.finish_and_clear();
            drift(poses, &mapping.finish())
        };
        Ok([run(None)?, run(Some(learnt))?])
    }
}

impl MeshDistance {
    fn of(distances: &[Option<f64>]) -> Self {
        let near: Vec<f64> = distances.iter().flatten().copied().collect();
        Self {
            mean_m: mean(&near),
            rms_m: root_mean_square(&near),
            share_within_reach: near.len() as f64 / distances.len().max(1) as f64,
        }
    }
}

impl Report {
    fn text(&self) -> String {
        // Consistency of the map
        let mut text = String::new();
        if let Some([before, after]) = self.thickness_m {
            let _ = writeln!(
                text,
                "thickness of {} flat neighbourhoods: {:.2} mm as measured, {:.2} mm corrected",
                self.neighbourhoods,
                before * 1e3,
                after * 1e3
            );
        }

        // Distances from the reference mesh
        if let Some(pair) = self.mesh {
            for (name, d) in ["as measured", "corrected"].iter().zip(pair) {
                let _ = writeln!(
                    text,
                    "distance from the mesh {name}: mean {:.2} mm, rms {:.2} mm ({:.1} % of the points \
                     within reach)",
                    d.mean_m * 1e3,
                    d.rms_m * 1e3,
                    d.share_within_reach * 1e2
                );
            }
        }

        // Drift of SLAM
        if let Some([before, after]) = &self.slam {
            text += &before.text("SLAM as measured");
            text += &after.text("SLAM corrected");
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "{remark}");
        }
        text
    }
}
