//! `etendue correct eval`.

use super::pictures;
use super::train::MapArguments;
use crate::command::slam::run::{Drift, Prior, drift, map as mapped};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use clap::Args;
use etendue::calibrate::depth::{
    DepthLoss, DepthMap, DepthModel, Objective, PoseFreedom, Robust, Unknowns, correct_scan,
};
use etendue::config::depth_model;
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
    after_help = "Thickness is the root of the mean least eigenvalue of the map's flat neighbourhoods; a \
    thinner map proves nothing, the distance from a reference mesh does. SLAM is run with and \
    without the correction from the same odometry and held against the sequence's poses."
)]
pub struct Eval {
    /// A sequence that the model was not learnt from
    sequence: PathBuf,
    /// The model's file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// A mesh of the place, in the frame of the poses
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Points farther from the mesh are not of it, m
    #[arg(long, default_value_t = 0.2, value_name = "M")]
    reach: f64,
    /// Noise of the odometry that SLAM starts each scan from, m and degrees
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], default_values_t = [0.02, 0.2])]
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
    /// Root of the mean least eigenvalue, m: as measured, corrected.
    thickness_m: Option<[f64; 2]>,
    neighbourhoods: usize,
    /// Points beside the mesh: as measured, corrected.
    mesh: Option<[MeshDistance; 2]>,
    /// SLAM: as measured, corrected.
    slam: Option<[Drift; 2]>,
    remarks: Vec<String>,
}

/// Distances of the points from a mesh, of those within reach.
#[derive(Clone, Copy, Serialize)]
struct MeshDistance {
    mean_m: f64,
    rms_m: f64,
    share_within_reach: f64,
}

impl Eval {
    /// Judges and prints.
    pub fn run(self) -> Result<(), Failure> {
        let learnt = depth_model::load(&self.model)?;
        let gathered = self.map.gather(std::slice::from_ref(&self.sequence))?;
        let (scans, poses) = (&gathered.scans, &gathered.poses);
        let mut remarks = Vec::new();
        let (thickness, neighbourhoods) = match self.thickness(scans, poses, &learnt.model) {
            Ok((pair, count)) => (Some(pair), count),
            Err(error) => {
                remarks.push(format!("no thickness: {error}"));
                (None, 0)
            }
        };
        let mesh = match &self.mesh {
            Some(path) => Some(self.beside(path, scans, poses, &learnt.model)?),
            None => None,
        };
        let slam = match self.slam(scans, poses, &learnt.model) {
            Ok(pair) => Some(pair),
            Err(error) => {
                remarks.push(format!("no SLAM: {error}"));
                None
            }
        };
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
            for path in folder.commit()? {
                eprintln!("wrote {}", path.display());
            }
        }
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }

    /// Of the same neighbourhoods before and after.
    fn thickness(
        &self,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        model: &DepthModel,
    ) -> Result<([f64; 2], usize), Failure> {
        let map = DepthMap::build(scans, poses, &self.map.options())?;
        let loss = DepthLoss::MinimumEigenvalue;
        let objective = Objective::new(&map, loss, Robust::None, PoseFreedom::Fixed)?;
        let of = |model: DepthModel| {
            let unknowns = Unknowns {
                model,
                corrections: Vec::new(),
            };
            objective.value(&unknowns).sqrt()
        };
        let nothing = DepthModel::Linear(etendue::calibrate::depth::Linear::default());
        Ok(([of(nothing), of(model.clone())], map.neighbourhoods().len()))
    }

    fn beside(
        &self,
        path: &Path,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        model: &DepthModel,
    ) -> Result<[MeshDistance; 2], Failure> {
        let file = read_mesh(path)?;
        let corners = |t: &[u32; 3]| t.map(|v| file.mesh.vertices[v as usize]);
        let triangles = file.mesh.triangles.iter().map(corners).collect();
        let mesh = ReferenceMesh::new(triangles, self.reach);
        let cells = CellOptions::default();
        let depths = self.map.options().depths;
        let mut pair = [Vec::new(), Vec::new()];
        for (scan, pose) in scans.iter().zip(poses) {
            let corrected = correct_scan(scan, model, &cells);
            let used = |i: &usize| {
                corrected.incidences[*i].is_some() && depths.contains(&scan[*i].coords.norm())
            };
            let chosen: Vec<usize> = (0..scan.len()).filter(used).collect();
            for (list, points) in pair.iter_mut().zip([scan, &corrected.points]) {
                let placed: Vec<_> = chosen.iter().map(|&i| pose * points[i]).collect();
                list.extend(mesh.distances(&placed));
            }
        }
        Ok(pair.map(|distances| MeshDistance::of(&distances)))
    }

    fn slam(
        &self,
        scans: &[Vec<Point3<f64>>],
        poses: &[Isometry3<f64>],
        model: &DepthModel,
    ) -> Result<[Drift; 2], Failure> {
        let noise = [self.prior_noise[0], self.prior_noise[1].to_radians()];
        let prior = Prior::Odometry(poses, noise);
        let options = MapperOptions::default();
        let run = |correction: Option<&DepthModel>| {
            let found = mapped(scans, prior, correction, &options)?;
            drift(poses, &found.poses)
        };
        Ok([run(None)?, run(Some(model))?])
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
