//! Settings of a registration.

use crate::number;
use clap::{Args, ValueEnum};
use etendue::estimate::register::{CloudPoint, Registration, RegistrationMethod, cloud_size};
use etendue::estimate::solve::Loss;
use nalgebra::Point;
use serde::Serialize;

/// Registration methods.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MethodName {
    /// Distances between nearest points
    Icp,
    /// Distances to the local planes of the nearest points
    #[value(alias = "icp-plane")]
    PointToPlane,
    /// Distances between local planes (generalised ICP)
    Gicp,
    /// Distances to normal distributions in the cells of a grid
    Ndt,
}

/// Sets of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SettingsName {
    /// From the size of B: see below
    Tuned,
    /// Those of common implementations: pairs at any distance, cells of 1 m, no downsampling
    Common,
}

/// Options of a registration.
#[derive(Clone, Copy, Debug, Args)]
pub struct SettingOptions {
    /// Settings where no other option gives them
    #[arg(long, value_enum, default_value_t = SettingsName::Tuned)]
    settings: SettingsName,
    /// Largest distance of a pair, m
    #[arg(long, value_name = "M", value_parser = number::positive)]
    max_distance: Option<f64>,
    /// Fraction of the pairs to keep, the nearest first
    #[arg(long, value_name = "PART", value_parser = number::share)]
    keep: Option<f64>,
    /// Number of neighbours for a local plane
    #[arg(long, value_name = "N", value_parser = number::at_least_three)]
    neighbours: Option<usize>,
    /// Cell size of NDT, m
    #[arg(long, value_name = "M", value_parser = number::positive)]
    cell: Option<f64>,
    /// Voxel size to which both clouds are downsampled, m; 0 keeps all points
    #[arg(long, value_name = "M", value_parser = number::zero_or_more)]
    voxel: Option<f64>,
    /// Largest number of iterations
    #[arg(long, value_name = "N", value_parser = number::count)]
    iterations: Option<usize>,
}

/// Registration with all its settings.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Method and settings.
    pub registration: Registration,
    /// Coarse registration whose result is the start of this one, if any.
    pub first: Option<Registration>,
    /// Voxel size to which clouds are downsampled, m; 0 for no downsampling.
    pub voxel: f64,
}

/// Printed settings.
#[derive(Debug, Serialize)]
pub struct SettingsReport {
    first_within_m: Option<f64>,
    /// Whether the loss is robust.
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

    /// Name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icp => "icp",
            Self::PointToPlane => "point-to-plane",
            Self::Gicp => "gicp",
            Self::Ndt => "ndt",
        }
    }

    /// Unit of the residuals.
    pub fn residual_unit(self) -> &'static str {
        match self {
            Self::Icp | Self::PointToPlane => "m",
            Self::Gicp | Self::Ndt => "standard deviations",
        }
    }
}

impl SettingOptions {
    /// Settings for a target cloud, with the given options.
    pub fn settings<const D: usize>(&self, method: MethodName, target: &[Point<f64, D>]) -> Settings
    where
        Point<f64, D>: CloudPoint,
    {
        // Settings of common implementations, or from the size of the target
        let mut settings = if self.settings == SettingsName::Common {
            Settings {
                registration: Registration::new(method.method()),
                first: None,
                voxel: 0.0,
            }
        } else {
            tuned(method.method(), target)
        };

        // Given options
        if let Some(distance) = self.max_distance {
            settings.registration.max_distance = distance;
            settings.first = None;
        }
        for registration in settings
            .first
            .iter_mut()
            .chain([&mut settings.registration])
        {
            self.apply(registration);
        }
        settings.voxel = self.voxel.unwrap_or(settings.voxel);
        settings
    }
}

impl SettingOptions {
    /// Applies the given options.
    fn apply(&self, registration: &mut Registration) {
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

/// Settings from the size $s$ of the target, the median distance of its points from their centroid.
///
/// In space: voxels of $s/20$, cells of $s/2$, pairs within $s$ and then within $s/10$. In the plane,
/// where scans have few points and moving people: all points, first the nearest 90 % of the pairs and
/// cells of $s/2$, then all pairs within $s/3$ with a robust loss of scale $s/100$ and cells of $s/8$.
fn tuned<const D: usize>(method: RegistrationMethod, target: &[Point<f64, D>]) -> Settings
where
    Point<f64, D>: CloudPoint,
{
    // Common settings
    let size = cloud_size(target);
    let common = Registration {
        iterations: 200,
        ..Registration::new(method).with_resolution(size / 2.0)
    };

    // In the plane: first the nearest pairs, then all with a robust loss
    if D == 2 {
        let planar = Registration {
            neighbours: 8,
            ..common
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

    // In space: first pairs at a large distance, then at a tenth of it
    Settings {
        first: Some(common.within(size)),
        registration: common.within(size / 10.0),
        voxel: size / 20.0,
    }
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
            write!(f, ", with a robust loss")?;
        }
        if self.voxel_m > 0.0 {
            write!(f, ", voxels of {:.3} m", self.voxel_m)?;
        }
        Ok(())
    }
}
