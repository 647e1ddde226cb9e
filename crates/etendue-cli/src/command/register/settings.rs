//! How the clouds are registered.

use clap::{Args, ValueEnum};
use etendue::estimate::register::{Registration, RegistrationMethod};
use etendue::estimate::solve::Loss;
use nalgebra::Point;
use serde::Serialize;

/// The methods, as they are asked for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MethodName {
    /// Distances between nearest points
    Icp,
    /// Distances to the planes about the nearest points
    #[value(alias = "icp-plane")]
    PointToPlane,
    /// Distances between the planes about both points
    Gicp,
    /// Distances to normal distributions in the cells of a grid
    Ndt,
}

/// The options that set a method.
#[derive(Clone, Copy, Debug, Args)]
pub struct SettingOptions {
    /// Settings that follow from the size of B (without either option): see below
    #[arg(long, conflicts_with = "default")]
    tuned: bool,
    /// Settings that the methods' usual implementations come with: every point has a partner, cells
    /// of 1 m, no thinning
    #[arg(long)]
    default: bool,
    /// Points farther from their nearest than this are left out, m
    #[arg(long, value_name = "M")]
    max_distance: Option<f64>,
    /// Fraction of the pairs that is kept, the nearest first
    #[arg(long, value_name = "PART")]
    keep: Option<f64>,
    /// Neighbours that a local plane is fitted to
    #[arg(long, value_name = "N")]
    neighbours: Option<usize>,
    /// Side of the cells of NDT, m
    #[arg(long, value_name = "M")]
    cell: Option<f64>,
    /// Both clouds are thinned to one point in every cube of this side, m; 0 keeps all
    #[arg(long, value_name = "M")]
    voxel: Option<f64>,
    /// Iterations at most
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
}

/// A method with all its settings.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The method.
    pub registration: Registration,
    /// A first registration that this one starts from; none where there is one alone.
    pub first: Option<Registration>,
    /// Side of the cubes that clouds are thinned to, m; 0 where they are not.
    pub voxel: f64,
}

/// The settings as they are told.
#[derive(Debug, Serialize)]
pub struct SettingsReport {
    first_within_m: Option<f64>,
    /// Whether pairs are charged by a robust loss.
    robust: bool,
    max_distance_m: Option<f64>,
    keep: f64,
    neighbours: usize,
    cell_m: f64,
    voxel_m: f64,
    iterations: usize,
}

impl MethodName {
    fn method(self) -> RegistrationMethod {
        match self {
            Self::Icp => RegistrationMethod::PointToPoint,
            Self::PointToPlane => RegistrationMethod::PointToPlane,
            Self::Gicp => RegistrationMethod::Gicp,
            Self::Ndt => RegistrationMethod::Ndt,
        }
    }

    /// The name people use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icp => "icp",
            Self::PointToPlane => "point-to-plane",
            Self::Gicp => "gicp",
            Self::Ndt => "ndt",
        }
    }

    /// What its residuals are measured in.
    pub fn residual_unit(self) -> &'static str {
        match self {
            Self::Icp | Self::PointToPlane => "m",
            Self::Gicp | Self::Ndt => "standard deviations",
        }
    }
}

impl SettingOptions {
    /// The settings for a target of this size.
    pub fn settings<const D: usize>(
        &self,
        method: MethodName,
        target: &[Point<f64, D>],
    ) -> Settings {
        let mut settings = if self.default {
            Settings {
                registration: Registration::new(method.method()),
                first: None,
                voxel: 0.0,
            }
        } else {
            tuned(method.method(), target)
        };
        if let Some(distance) = self.max_distance {
            settings.registration.max_distance = distance;
            settings.first = None;
        }
        for registration in settings
            .first
            .iter_mut()
            .chain([&mut settings.registration])
        {
            self.put(registration);
        }
        settings.voxel = self.voxel.unwrap_or(settings.voxel);
        settings
    }
}

impl SettingOptions {
    /// Puts in what was asked for by itself.
    fn put(&self, registration: &mut Registration) {
        if let Some(cell) = self.cell {
            let loss = registration.loss;
            *registration = registration.with_resolution(cell);
            if registration.method != RegistrationMethod::Ndt || matches!(loss, Loss::Cauchy { .. })
            {
                registration.loss = loss;
            }
        }
        registration.keep = self.keep.unwrap_or(registration.keep);
        registration.neighbours = self.neighbours.unwrap_or(registration.neighbours);
        registration.iterations = self.iterations.unwrap_or(registration.iterations);
    }
}

/// Settings from the target's size $s$, the median distance of its points from their middle: pairs
/// within $s$ and then within $s/10$, cells of $s/2$; in space one point a cube of $s/20$. In the plane,
/// where people walk through scans of few points, all points, first the nearest nine tenths of the
/// pairs, then all within $s/3$ under a robust loss of $s/100$, and cells of $s/2$ and then $s/8$.
fn tuned<const D: usize>(method: RegistrationMethod, target: &[Point<f64, D>]) -> Settings {
    let size = size(target);
    let usual = Registration {
        iterations: 200,
        ..Registration::new(method).with_resolution(size / 2.0)
    };
    if D == 2 {
        let planar = Registration {
            neighbours: 8,
            ..usual
        };
        return Settings {
            first: Some(Registration {
                keep: 0.9,
                ..planar.within(size)
            }),
            registration: planar
                .within(size / 3.0)
                .with_resolution(size / 8.0)
                .robust(size / 100.0),
            voxel: 0.0,
        };
    }
    Settings {
        first: Some(usual.within(size)),
        registration: usual.within(size / 10.0),
        voxel: size / 20.0,
    }
}

fn size<const D: usize>(points: &[Point<f64, D>]) -> f64 {
    let count = points.len().max(1) as f64;
    let middle = points.iter().map(|p| p.coords / count).sum();
    let mut distances: Vec<f64> = points
        .iter()
        .map(|p| p.coords.metric_distance(&middle))
        .collect();
    distances.sort_by(f64::total_cmp);
    distances
        .get(distances.len() / 2)
        .copied()
        .unwrap_or(1.0)
        .max(1e-6)
}

impl From<&Settings> for SettingsReport {
    fn from(settings: &Settings) -> Self {
        let registration = &settings.registration;
        let max_distance = registration.max_distance;
        Self {
            first_within_m: settings.first.map(|first| first.max_distance),
            robust: registration.continuation.is_some() || registration.thinnest > 0.0,
            max_distance_m: max_distance.is_finite().then_some(max_distance),
            keep: registration.keep,
            neighbours: registration.neighbours,
            cell_m: registration.resolution,
            voxel_m: settings.voxel,
            iterations: registration.iterations,
        }
    }
}

impl std::fmt::Display for SettingsReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(distance) = self.first_within_m {
            write!(f, "first with pairs within {distance:.3} m, then ")?;
        }
        match self.max_distance_m {
            Some(distance) => write!(f, "pairs within {distance:.3} m")?,
            None => write!(f, "pairs at any distance")?,
        }
        write!(
            f,
            ", the nearest {:.0} % kept, planes of {} neighbours, cells of {:.3} m",
            100.0 * self.keep,
            self.neighbours,
            self.cell_m
        )?;
        if self.robust {
            write!(f, ", under a robust loss")?;
        }
        if self.voxel_m > 0.0 {
            write!(f, ", one point a cube of {:.3} m", self.voxel_m)?;
        }
        Ok(())
    }
}
