//! Registry of filters.

use super::noise::LidarNoise;
use super::user::{FilterContext, FilterRun, UserFilter};
use super::{cloud, low_pass, noise};
use crate::capture::{Data, DataKind};
use etendue_physics::ambient::StandardAir;
use std::sync::Arc;

/// A filter of a sensor's data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Filter {
    /// A first-order low-pass filter on each component.
    LowPass {
        /// Cutoff frequency (half power), Hz.
        cutoff: f64,
    },
    /// Noise on ranges, directions and intensities of the returns of a lidar, in addition to that of its
    /// receiver.
    LidarNoise(LidarNoise),
    /// Removes all returns of a shot with a probability.
    DropOut {
        /// Probability, from 0 to 1.
        probability: f64,
    },
    /// Converts a sweep to a point cloud.
    ToCloud,
    /// Motion compensation: transforms each point of a cloud to the sensor frame at one instant of the
    /// capture, with the true trajectory.
    Compensate {
        /// The instant, from 0 (start of the capture) to 1 (its end).
        at: f64,
    },
    /// Removes the points of a cloud outside distance limits.
    Distance {
        /// Smallest and largest distance, m.
        limits: [f64; 2],
    },
    /// Replaces the points of a cloud in each voxel of a grid by their mean.
    Voxels {
        /// Edge of a voxel, m.
        size: f64,
    },
    /// Converts pressure to height in the standard atmosphere.
    ToHeight,
    /// A named output of the data at this position of the graph.
    Tap {
        /// The name.
        name: String,
    },
    /// A user-defined filter.
    User(Arc<dyn UserFilter>),
}

impl PartialEq for Filter {
    /// User-defined filters are equal if they are the same value.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::User(a), Self::User(b)) => Arc::ptr_eq(a, b),
            (Self::User(_), _) | (_, Self::User(_)) => false,
            _ => format!("{self:?}") == format!("{other:?}"),
        }
    }
}

impl Filter {
    /// Name in robot files.
    pub fn name(&self) -> &str {
        match self {
            Self::LowPass { .. } => "low_pass",
            Self::LidarNoise(_) => "lidar_noise",
            Self::DropOut { .. } => "drop_out",
            Self::ToCloud => "to_cloud",
            Self::Compensate { .. } => "compensate",
            Self::Distance { .. } => "distance",
            Self::Voxels { .. } => "voxels",
            Self::ToHeight => "to_height",
            Self::Tap { .. } => "tap",
            Self::User(filter) => filter.name(),
        }
    }

    /// Kind of the output for a kind of input; `None` if the filter does not accept it.
    pub fn output(&self, input: DataKind) -> Option<DataKind> {
        let same = |accepted: bool| accepted.then_some(input);
        let lidar = input == DataKind::Points;
        let cloud = input == DataKind::Cloud;
        match self {
            Self::LowPass { .. } => same(matches!(
                input,
                DataKind::Imu | DataKind::MagneticField | DataKind::Pressure | DataKind::Height
            )),
            Self::LidarNoise(_) | Self::DropOut { .. } => same(lidar),
            Self::ToCloud => lidar.then_some(DataKind::Cloud),
            Self::Compensate { .. } | Self::Distance { .. } | Self::Voxels { .. } => same(cloud),
            Self::ToHeight => (input == DataKind::Pressure).then_some(DataKind::Height),
            Self::Tap { .. } => Some(input),
            Self::User(filter) => filter.output(input),
        }
    }

    /// Description of an invalid parameter, if there is one.
    pub fn problem(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            let is_valid = value > 0.0 && value.is_finite();
            (!is_valid).then(|| format!("the {name} is {value}, it must be above zero"))
        };
        let fraction = |name: &str, value: f64| {
            let is_valid = (0.0..=1.0).contains(&value);
            (!is_valid).then(|| format!("the {name} is {value}, it must be from 0 to 1"))
        };
        match self {
            Self::LowPass { cutoff } => positive("cutoff", *cutoff),
            Self::LidarNoise(noise) => {
                let all = [noise.range, noise.angle, noise.intensity];
                let is_valid = all.iter().all(|sd| *sd >= 0.0 && sd.is_finite());
                (!is_valid).then(|| "a standard deviation is negative".into())
            }
            Self::DropOut { probability } => fraction("probability", *probability),
            Self::Compensate { at } => fraction("instant", *at),
            Self::Distance {
                limits: [near, far],
            } => (near > far).then(|| format!("the limits {near} m and {far} m hold nothing")),
            Self::Voxels { size } => positive("size of the cubes", *size),
            Self::ToCloud | Self::ToHeight | Self::Tap { .. } | Self::User(_) => None,
        }
    }

    /// Starts the filter; `place` is its index in the graph, which selects its random streams.
    pub(super) fn start(&self, seed: u64, sensor: u32, place: u32) -> Box<dyn FilterRun> {
        let source = noise::StreamAddress {
            seed,
            sensor,
            place,
        };
        match self.clone() {
            Self::LowPass { cutoff } => Box::new(low_pass::LowPass::new(cutoff)),
            Self::LidarNoise(sd) => Box::new(noise::AddLidarNoise { sd, source }),
            Self::DropOut { probability } => Box::new(noise::DropOut {
                probability,
                source,
            }),
            Self::ToCloud => Box::new(cloud::ToCloud),
            Self::Compensate { at } => Box::new(cloud::Compensate { at }),
            Self::Distance { limits } => Box::new(cloud::Distance { limits }),
            Self::Voxels { size } => Box::new(cloud::Voxels { size }),
            Self::ToHeight => Box::new(|data: Data, _: &FilterContext| match data {
                Data::Pressure(pressure) => {
                    Data::Height(StandardAir::default().height_of(pressure))
                }
                other => other,
            }),
            Self::Tap { .. } => Box::new(|data: Data, _: &FilterContext| data),
            Self::User(filter) => filter.start(),
        }
    }
}
