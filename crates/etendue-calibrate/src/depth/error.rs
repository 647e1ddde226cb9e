//! Errors of depth calibration.

use thiserror::Error;

/// Errors of learning or applying a depth bias.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DepthError {
    /// Fewer than two scans.
    #[error(
        "{count} scans were given: the bias shows only between scans from different poses, give at least two"
    )]
    TooFewScans {
        /// Number given.
        count: usize,
    },
    /// Scans and poses do not pair up.
    #[error("{scans} scans but {poses} poses: give one pose (world from lidar) for every scan")]
    CountMismatch {
        /// Number of scans.
        scans: usize,
        /// Number of poses.
        poses: usize,
    },
    /// A scan without any point that can be used.
    #[error(
        "scan {scan} has no finite point between {nearest} m and {farthest} m: leave it out, or widen the depth range"
    )]
    EmptyScan {
        /// Number of the scan, from zero.
        scan: usize,
        /// Least depth, m.
        nearest: f64,
        /// Greatest depth, m.
        farthest: f64,
    },
    /// A pose that is not finite.
    #[error("pose {pose} is not finite: repair or leave out that scan")]
    PoseNotFinite {
        /// Number of the pose, from zero.
        pose: usize,
    },
    /// No neighbourhood passes the mask.
    #[error(
        "none of {points} map points has a flat neighbourhood seen from several places: check that the poses are world from lidar (not the inverse), drive farther, or loosen the masks"
    )]
    NothingSelected {
        /// Points in the map.
        points: usize,
    },
    /// A neighbourhood refers to a measurement that does not exist.
    #[error("neighbourhood {neighbourhood} uses measurement {measurement}, there are {count}")]
    NoSuchMeasurement {
        /// Number of the neighbourhood.
        neighbourhood: usize,
        /// The number it uses.
        measurement: usize,
        /// Number of measurements.
        count: usize,
    },
    /// A measurement refers to a pose that does not exist.
    #[error("measurement {measurement} uses pose {pose}, there are {count}")]
    NoSuchPose {
        /// Number of the measurement.
        measurement: usize,
        /// The pose it uses.
        pose: usize,
        /// Number of poses.
        count: usize,
    },
    /// A neighbourhood of fewer than three points has no plane.
    #[error("neighbourhood {neighbourhood} has {count} points, a plane needs at least three")]
    SmallNeighbourhood {
        /// Number of the neighbourhood.
        neighbourhood: usize,
        /// Its points.
        count: usize,
    },
    /// All points have nearly the same incidence: the bias over incidence is not observable.
    #[error(
        "all points lie between {least_deg:.1} and {greatest_deg:.1} degrees of incidence: the bias over incidence is not observable, record walls at several angles"
    )]
    OneIncidence {
        /// Least incidence, degrees.
        least_deg: f64,
        /// Greatest incidence, degrees.
        greatest_deg: f64,
    },
    /// Wrong number of weights.
    #[error("the model has {expected} weights, {given} were given")]
    WeightCount {
        /// Weights of the model.
        expected: usize,
        /// Weights given.
        given: usize,
    },
    /// Sequence numbers that do not pair up with the poses.
    #[error("{sequences} sequence numbers but {poses} poses: give one for every pose")]
    SequenceCount {
        /// Sequence numbers given.
        sequences: usize,
        /// Poses.
        poses: usize,
    },
    /// A setting outside its domain.
    #[error("{name} is {value}, it must be {domain}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Value given.
        value: f64,
        /// Allowed values.
        domain: &'static str,
    },
    /// The solver failed.
    #[error("the optimiser failed: {reason}")]
    Optimiser {
        /// Message of the optimiser.
        reason: String,
    },
    /// Splits of sub-sequences need a multiple of four.
    #[error(
        "{count} sub-sequences cannot be split 4 : 2 : 2 in four rotations: give a multiple of four"
    )]
    SplitCount {
        /// Number given.
        count: usize,
    },
}
