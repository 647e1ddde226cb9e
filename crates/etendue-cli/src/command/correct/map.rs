//! Maps of sequences for learning and evaluating depth models.

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::number;
use crate::sequence::{self, ConventionName};
use clap::{Args, ValueEnum};
use etendue::calibrate::depth::features::NeighbourhoodMask;
use etendue::calibrate::depth::{DepthMapOptions, PosePrior};
use etendue::config::pose_uncertainty;
use etendue::estimate::geometry::Neighbourhood;
use nalgebra::{Isometry3, Point3, Translation3};
use std::path::PathBuf;

/// Options of depth maps.
#[derive(Debug, Args)]
pub struct MapArguments {
    /// Trajectory, if it is not in the folder of the scans
    #[arg(long, value_name = "FILE")]
    pub poses: Option<PathBuf>,
    #[command(flatten)]
    pub lidar: LidarOptions,
    /// Convention of the poses
    #[arg(long, value_enum)]
    pub convention: Option<ConventionName>,
    /// Thresholds: those of the published implementation, or stricter ones that exclude edges
    #[arg(long, value_enum, default_value_t = MaskName::Strict)]
    pub masks: MaskName,
    /// Voxel size for downsampling each scan to one point per voxel, m
    #[arg(long, value_name = "M", value_parser = number::zero_or_more)]
    pub voxel: Option<f64>,
    /// Radius of the neighbourhoods in the map, m
    #[arg(long, value_name = "M", value_parser = number::positive)]
    pub radius: Option<f64>,
    /// Voxel size for the centres of neighbourhoods, one per voxel, m; 0 makes every point a centre
    #[arg(long, value_name = "M", value_parser = number::zero_or_more)]
    pub centres: Option<f64>,
    /// Radius of the neighbourhoods in a scan for normals, m
    #[arg(long, value_name = "M", value_parser = number::positive)]
    pub normal_radius: Option<f64>,
    /// Number of times that the normal radius is doubled for points with too few or collinear
    /// neighbours, as at grazing incidence
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=6))]
    pub normal_doublings: Option<u32>,
    /// Range of depths used, m
    #[arg(long, num_args = 2, value_names = ["NEAR", "FAR"], value_parser = number::zero_or_more)]
    pub depths: Option<Vec<f64>>,
    /// Smallest variance of the viewpoints of a neighbourhood, m^2
    #[arg(long, value_name = "M2", value_parser = number::zero_or_more)]
    pub viewpoint_variance: Option<f64>,
    /// Exclude points within this angle of the shadow behind an edge, degrees (typically 5)
    #[arg(long, value_name = "DEG", value_parser = number::zero_or_more)]
    pub shadow_angle: Option<f64>,
    /// Largest ratio of the two smallest eigenvalues of a neighbourhood
    #[arg(long, value_name = "RATIO", value_parser = number::zero_or_more)]
    pub flatness: Option<f64>,
    /// Smallest ratio of the two largest eigenvalues of a neighbourhood: excludes lines
    #[arg(long, value_name = "RATIO", value_parser = number::zero_or_more)]
    pub roundness: Option<f64>,
    /// Number of nearest points in a neighbourhood; with --radius, only points within the radius
    #[arg(long, value_name = "COUNT", value_parser = number::count)]
    pub nearest: Option<usize>,
    /// Smallest number of points of a neighbourhood
    #[arg(long, value_name = "COUNT", value_parser = number::count)]
    pub least_points: Option<usize>,
    /// Largest angle between the normal of a neighbourhood and those of its points, degrees
    #[arg(long, value_name = "DEG", value_parser = number::zero_or_more)]
    pub normal_spread: Option<f64>,
    /// Largest ratio of the two smallest eigenvalues around a point in its scan
    #[arg(long, value_name = "RATIO", value_parser = number::zero_or_more)]
    pub own_flatness: Option<f64>,
    /// Smallest ratio of the two largest eigenvalues around a point in its scan
    #[arg(long, value_name = "RATIO", value_parser = number::zero_or_more)]
    pub own_roundness: Option<f64>,
    /// Largest distance of a point from its plane in its scan, in standard deviations
    #[arg(long, value_name = "RATIO", value_parser = number::zero_or_more)]
    pub own_offset: Option<f64>,
}

/// Thresholds of the masks of measurements.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MaskName {
    /// 10 points, flatness 0.01, normals within 8 degrees; voxels of 0.1 m, from 16 scans on 0.2 m
    Strict,
    /// 5 points, flatness 0.25, voxels of 0.2 m; edges in the scans bias the result by centimetres
    Published,
}

/// Scans of several sequences in one world.
pub struct Gathered {
    /// Points of each scan in the frame of the lidar, m.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Pose of each scan, world from lidar.
    pub poses: Vec<Isometry3<f64>>,
    /// Number of the sequence of each scan.
    pub sequence_of: Vec<usize>,
    /// Stated uncertainty of the poses, the largest of the sequences that state one.
    pub pose_uncertainty: Option<PosePrior>,
}

/// Distance between the origins of sequences in the common world, m.
const SEQUENCE_DISTANCE: f64 = 1e4;

impl MapArguments {
    /// The options with the given arguments, for a number of scans.
    pub fn options(&self, scans: usize) -> DepthMapOptions {
        // Start from the published or the strict masks
        let mut options = match self.masks {
            MaskName::Strict => DepthMapOptions::strict_for(scans),
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
        self.set_thresholds(&mut options.mask);
        options
    }

    /// Replaces the given thresholds.
    fn set_thresholds(&self, mask: &mut NeighbourhoodMask) {
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
            return Err(Failure::argument(
                "--poses gives one trajectory, but there are several sequences",
                "add the trajectory of each sequence to the folder of its scans",
            ));
        }
        let mut gathered = Gathered {
            scans: Vec::new(),
            poses: Vec::new(),
            sequence_of: Vec::new(),
            pose_uncertainty: None,
        };
        for (number, path) in paths.iter().enumerate() {
            let sequence = sequence::read(path, self.poses.as_deref(), &self.lidar)?;
            let poses = sequence::world_from_lidar(&sequence, self.convention)?;
            let offset = Translation3::new(SEQUENCE_DISTANCE * number as f64, 0.0, 0.0);
            gathered.poses.extend(poses.iter().map(|p| offset * p));
            gathered.sequence_of.extend(poses.iter().map(|_| number));
            gathered.scans.extend(sequence.scans);
            let stated = pose_uncertainty::beside(path)?;
            gathered.pose_uncertainty = larger(gathered.pose_uncertainty, stated);
        }
        Ok(gathered)
    }
}

/// The larger of two stated uncertainties in each component.
fn larger(first: Option<PosePrior>, second: Option<PosePrior>) -> Option<PosePrior> {
    match (first, second) {
        (Some(a), Some(b)) => Some(PosePrior {
            position: a.position.max(b.position),
            rotation: a.rotation.max(b.rotation),
        }),
        (first, second) => first.or(second),
    }
}
