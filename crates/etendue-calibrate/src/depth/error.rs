//! Errors of depth calibration.

use thiserror::Error;

/// Errors of learning or applying a depth bias.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DepthError {
    /// Fewer than two scans.
    #[error(
        "{count} scans were given: the bias is observable only between scans from different poses; give at least two"
    )]
    TooFewScans {
        /// Number given.
        count: usize,
    },
    /// The numbers of scans and poses differ.
    #[error("{scans} scans but {poses} poses: give one pose (world from lidar) for every scan")]
    CountMismatch {
        /// Number of scans.
        scans: usize,
        /// Number of poses.
        poses: usize,
    },
    /// A scan without usable points.
    #[error(
        "scan {scan} has no finite point between {nearest} m and {farthest} m: omit it, or widen \
         the depth range"
    )]
    EmptyScan {
        /// Index of the scan.
        scan: usize,
        /// Least depth, m.
        nearest: f64,
        /// Greatest depth, m.
        farthest: f64,
    },
    /// A pose that is not finite.
    #[error("pose {pose} is not finite: repair or omit that scan")]
    PoseNotFinite {
        /// Index of the pose.
        pose: usize,
    },
    /// No neighbourhood passes the mask.
    #[error(
        "none of {points} map points has a flat neighbourhood observed from several viewpoints: check that the poses are world from lidar (not the inverse), record more viewpoints, or relax the masks"
    )]
    NothingSelected {
        /// Number of points in the map.
        points: usize,
    },
    /// A neighbourhood refers to a measurement that does not exist.
    #[error(
        "neighbourhood {neighbourhood} refers to measurement {measurement}, but there are {count}"
    )]
    NoSuchMeasurement {
        /// Index of the neighbourhood.
        neighbourhood: usize,
        /// Index of the measurement.
        measurement: usize,
        /// Number of measurements.
        count: usize,
    },
    /// A measurement refers to a pose that does not exist.
    #[error("measurement {measurement} refers to pose {pose}, but there are {count}")]
    NoSuchPose {
        /// Index of the measurement.
        measurement: usize,
        /// Index of the pose.
        pose: usize,
        /// Number of poses.
        count: usize,
    },
    /// A neighbourhood of fewer than three points has no plane.
    #[error(
        "neighbourhood {neighbourhood} has {count} points, but a plane requires at least three"
    )]
    SmallNeighbourhood {
        /// Index of the neighbourhood.
        neighbourhood: usize,
        /// Number of its points.
        count: usize,
    },
    /// All points have nearly the same incidence: the bias over incidence is not observable.
    #[error(
        "all points are between {least_deg:.1} and {greatest_deg:.1} degrees of incidence: the bias over incidence is not observable; record walls at several angles"
    )]
    OneIncidence {
        /// Least incidence, degrees.
        least_deg: f64,
        /// Greatest incidence, degrees.
        greatest_deg: f64,
    },
    /// Wrong number of weights.
    #[error("the model has {expected} weights, but {given} were given")]
    WeightCount {
        /// Number of weights of the model.
        expected: usize,
        /// Number of given weights.
        given: usize,
    },
    /// The number of sequence numbers differs from that of the poses.
    #[error("{sequences} sequence numbers but {poses} poses: give one for every pose")]
    SequenceCount {
        /// Number of sequence numbers.
        sequences: usize,
        /// Number of poses.
        poses: usize,
    },
    /// A setting outside its domain.
    #[error("{name} is {value}, but must be {domain}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
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
    /// The number of sub-sequences is not a multiple of four.
    #[error(
        "{count} sub-sequences cannot be split 4 : 2 : 2 in four rotations: give a multiple of four"
    )]
    SplitCount {
        /// Number of sub-sequences.
        count: usize,
    },
}
