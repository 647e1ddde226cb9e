//! Constant-velocity motion of the lidar: prediction with its uncertainty, and deskewing.

use super::freedom::MotionFreedom;
use super::observability::Observability;
use crate::manifold::se3;
use nalgebra::{Isometry3, Matrix3, Matrix6, Point3, Vector6};

/// Pose of the lidar at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StampedPose {
    /// Time, s.
    time: f64,
    world_from_lidar: Isometry3<f64>,
}

/// Constant-velocity motion model.
///
/// The error of the pose since it was last determined, and that of the velocity, have a joint covariance.
/// Both are body-fixed (m and rad, lidar axes). From scan to scan the velocity changes by a random
/// amount, whose standard deviation per axis is that of the observed deviations of registered poses from
/// predicted ones (the idea of the adaptive threshold of KISS-ICP, Vizzo et al. 2023,
/// doi:10.1109/LRA.2023.3236571, eqs. 4 and 5). Along directions that no registration determines the
/// errors accumulate: after $k$ scans the standard deviation of the position is that of a change times
/// $\sqrt{\sum_{j \le k} j^2}$. A later registration corrects pose and velocity in proportion to their
/// covariances (Kalman gain).
pub(super) struct MotionModel {
    freedom: MotionFreedom,
    last: Option<StampedPose>,
    /// Velocity, m/s and rad/s; `None` before the second scan.
    velocity: Option<Vector6<f64>>,
    /// Last change of the motion per scan by that of the velocity, lidar axes, m and rad; `None` before the third scan.
    change: Option<Vector6<f64>>,
    /// Time between the last two scans, s.
    duration: f64,
    /// Number of scans since the start.
    scans: usize,
    /// Covariance of the pose.
    pose_covariance: Matrix6<f64>,
    /// Covariance of pose and velocity.
    cross_covariance: Matrix6<f64>,
    /// Covariance of the velocity.
    velocity_covariance: Matrix6<f64>,
    changes: VelocityChanges,
}

/// Predicted pose of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    pub world_from_lidar: Isometry3<f64>,
    /// Time of the scan, s.
    pub time: f64,
    /// Time since the last scan, s.
    duration: f64,
    /// Whether odometry gave the motion.
    pub given: bool,
    /// Standard deviations of the part of the motion that no earlier scan has, lidar axes, m and rad.
    pub change_sd: Vector6<f64>,
    /// Covariance of the predicted pose, lidar axes.
    covariance: Matrix6<f64>,
}

impl Prediction {
    /// Covariance of the predicted pose, m², in world axes, with rotations times `radius`.
    pub fn covariance(&self, radius: f64) -> Matrix6<f64> {
        let rotation = self.world_from_lidar.rotation.to_rotation_matrix();
        let to_world = scaling(radius) * both(rotation.matrix());
        to_world * self.covariance * to_world.transpose()
    }
}

/// Standard deviation of the motion from the first scan to the second, m per axis.
const FIRST_MOTION: f64 = 1.0;
/// Standard deviation of the rotation from the first scan to the second, rad per axis.
const FIRST_ROTATION: f64 = 0.1;

/// Standard deviation of the acceleration of vehicles and robots per axis, m/s² and rad/s².
const TYPICAL_ACCELERATION: [f64; 2] = [2.0, 0.5];

impl MotionModel {
    /// Model without a pose.
    pub fn new(freedom: MotionFreedom) -> Self {
        Self {
            freedom,
            last: None,
            velocity: None,
            change: None,
            duration: 0.0,
            scans: 0,
            pose_covariance: Matrix6::zeros(),
            cross_covariance: Matrix6::zeros(),
            velocity_covariance: Matrix6::zeros(),
            changes: VelocityChanges::default(),
        }
    }

    /// Velocity, m/s and rad/s; zero before the second scan.
    pub fn velocity(&self) -> Vector6<f64> {
        self.velocity.unwrap_or_default()
    }

    /// Removes the pose. The velocity remains.
    pub fn restart(&mut self) {
        self.last = None;
        self.change = None;
        self.scans = 0;
        self.pose_covariance = Matrix6::zeros();
        self.cross_covariance = Matrix6::zeros();
    }

    /// Pose a duration (s) after another at the current velocity.
    pub fn extrapolated(&self, pose: &Isometry3<f64>, duration: f64) -> Isometry3<f64> {
        pose * se3::exp(&(self.velocity() * duration))
    }

    /// Predicts the pose of the next scan from its time and, if odometry gives one, its prior pose. The
    /// uncertainty grows.
    pub fn predict(&mut self, stamp: Option<f64>, prior: Option<Isometry3<f64>>) -> Prediction {
        // First scan: at the prior, or the origin.
        let Some(last) = self.last else {
            return Prediction {
                world_from_lidar: prior.unwrap_or_else(Isometry3::identity),
                time: stamp.unwrap_or(0.0),
                duration: 0.0,
                given: prior.is_some(),
                change_sd: Vector6::zeros(),
                covariance: Matrix6::zeros(),
            };
        };
        // Time since the last scan: one unit where the stamps are missing or out of order.
        let since = stamp.map(|stamp| stamp - last.time);
        let duration = since.filter(|d| *d > 0.0 && d.is_finite()).unwrap_or(1.0);
        let moved = self.extrapolated(&last.world_from_lidar, duration);
        let world_from_lidar = prior.unwrap_or(moved);
        // Uncertainty
        let change = if self.velocity.is_none() && prior.is_none() {
            self.first_motion()
        } else {
            self.change_of_velocity(duration) * (duration * duration)
        };
        self.grow(duration, prior.is_some());
        self.turn(&(last.world_from_lidar.inverse() * world_from_lidar));
        Prediction {
            world_from_lidar,
            time: last.time + duration,
            duration,
            given: prior.is_some(),
            change_sd: change.diagonal().map(f64::sqrt),
            covariance: self.pose_covariance,
        }
    }

    /// Second moments of the change of the motion per scan by that of the velocity, lidar axes, m² and rad²: those of the last
    /// change, and of a typical one before the third scan.
    pub fn change_covariance(&self) -> Matrix6<f64> {
        if let Some(change) = self.change {
            return change * change.transpose();
        }
        let square = self.duration * self.duration;
        let [translation, rotation] = TYPICAL_ACCELERATION.map(|sd| [sd * square; 3]);
        self.freedom.of(&diagonal(translation, rotation))
    }

    /// Covariance of an unknown motion from scan to scan, m², with rotations times `radius`.
    pub fn unknown_motion(&self, radius: f64) -> Matrix6<f64> {
        scaling(radius) * self.first_motion() * scaling(radius)
    }

    /// Covariance of a change of the motion before any was observed, m², with rotations times `radius`.
    pub fn unknown_change(&self, radius: f64) -> Matrix6<f64> {
        let [translation, rotation] = UNKNOWN_CHANGE.map(|sd| [sd; 3]);
        let change = self.freedom.of(&diagonal(translation, rotation));
        scaling(radius) * change * scaling(radius)
    }

    /// Covariance of the motion from the first scan to the second, m² and rad².
    fn first_motion(&self) -> Matrix6<f64> {
        self.freedom
            .of(&diagonal([FIRST_MOTION; 3], [FIRST_ROTATION; 3]))
    }

    /// Covariance of the change of the velocity between scans that are `duration` (s) apart.
    fn change_of_velocity(&self, duration: f64) -> Matrix6<f64> {
        self.freedom.of(&self.changes.covariance(duration))
    }

    /// Covariance of the translation since it was last determined, m², in lidar axes.
    pub fn translation_covariance(&self) -> Matrix3<f64> {
        self.pose_covariance.fixed_view::<3, 3>(0, 0).into_owned()
    }

    /// Covariance of the rotation since it was last determined, rad², in lidar axes.
    pub fn rotation_covariance(&self) -> Matrix3<f64> {
        self.pose_covariance.fixed_view::<3, 3>(3, 3).into_owned()
    }

    /// Sets the pose of a scan: the registered one, with what the registration determined, or the predicted
    /// one.
    pub fn set(
        &mut self,
        world_from_lidar: &Isometry3<f64>,
        prediction: &Prediction,
        registered: Option<&RegisteredDirections>,
    ) {
        let now = StampedPose {
            time: prediction.time,
            world_from_lidar: *world_from_lidar,
        };
        if let Some(last) = self.last {
            let motion = last.world_from_lidar.inverse() * world_from_lidar;
            let mut velocity = se3::log(&motion) / prediction.duration;
            if let Some(registered) = registered {
                velocity += self.earlier_error(world_from_lidar, prediction, registered);
                self.learn(world_from_lidar, prediction, registered);
                self.determine(world_from_lidar, prediction, registered);
            }
            let change = self.velocity.map(|before| velocity - before);
            let is_known = self.scans >= 2;
            self.change = change.filter(|_| is_known).map(|c| c * prediction.duration);
            self.duration = prediction.duration;
            self.velocity = Some(velocity);
        }
        self.last = Some(now);
        self.scans += 1;
    }

    /// Adds the uncertainty of a motion.
    fn grow(&mut self, duration: f64, given: bool) {
        if given {
            self.pose_covariance += self.change_of_velocity(duration) * (duration * duration);
        } else if self.velocity.is_none() {
            self.velocity_covariance = self.first_motion() / (duration * duration);
            self.integrate(duration);
        } else {
            self.velocity_covariance += self.change_of_velocity(duration);
            self.integrate(duration);
        }
    }

    /// Adds the error of the velocity, times the duration, to that of the pose.
    fn integrate(&mut self, duration: f64) {
        let cross = self.cross_covariance;
        self.pose_covariance += (cross + cross.transpose()) * duration
            + self.velocity_covariance * (duration * duration);
        self.cross_covariance += self.velocity_covariance * duration;
    }

    /// Expresses the covariances in the axes of the lidar after a motion.
    fn turn(&mut self, motion: &Isometry3<f64>) {
        let back = both(&motion.rotation.inverse().to_rotation_matrix().into_inner());
        for covariance in self.covariances() {
            *covariance = back * *covariance * back.transpose();
        }
    }

    /// Correction of the velocity between two poses for the error of the first: a deviation from the
    /// prediction is due to both, in proportion to their covariances (Kalman filter).
    fn earlier_error(
        &self,
        world_from_lidar: &Isometry3<f64>,
        prediction: &Prediction,
        registered: &RegisteredDirections,
    ) -> Vector6<f64> {
        if self.velocity.is_none() || prediction.given {
            return Vector6::zeros();
        }
        let motion = prediction.world_from_lidar.inverse() * world_from_lidar;
        let deviation = se3::log(&motion);
        // The directions that are not free have neither a covariance nor a deviation.
        let fixed = Matrix6::identity() - self.freedom.projection();
        let covariance =
            self.pose_covariance + registered.covariance_in_lidar(world_from_lidar) + fixed;
        let weighted = covariance.lu().solve(&deviation).unwrap_or_default();
        self.cross_covariance.transpose() * weighted - deviation / prediction.duration
    }

    /// Records the deviation of a registered pose from its prediction. The first motion is not a change
    /// of velocity.
    fn learn(
        &mut self,
        world_from_lidar: &Isometry3<f64>,
        prediction: &Prediction,
        registered: &RegisteredDirections,
    ) {
        if self.velocity.is_none() && !prediction.given {
            return;
        }
        let motion = prediction.world_from_lidar.inverse() * world_from_lidar;
        let change = se3::log(&motion) / prediction.duration;
        let held = registered.held_in_lidar(world_from_lidar);
        self.changes
            .add(&change, &Vector6::from_fn(|i, _| 1.0 - held[(i, i)]));
    }

    /// Replaces the uncertainty along the directions that a registration determined.
    fn determine(
        &mut self,
        world_from_lidar: &Isometry3<f64>,
        prediction: &Prediction,
        registered: &RegisteredDirections,
    ) {
        let held = registered.held_in_lidar(world_from_lidar);
        for covariance in self.covariances() {
            *covariance = held * *covariance * held.transpose();
        }
        let determined = registered.covariance_in_lidar(world_from_lidar);
        let duration = prediction.duration;
        self.pose_covariance += determined;
        self.cross_covariance += determined / duration;
        self.velocity_covariance += determined * (2.0 / (duration * duration));
    }

    fn covariances(&mut self) -> [&mut Matrix6<f64>; 3] {
        [
            &mut self.pose_covariance,
            &mut self.cross_covariance,
            &mut self.velocity_covariance,
        ]
    }
}

/// What a registration determines.
pub(super) struct RegisteredDirections<'a> {
    pub observability: &'a Observability,
    /// Standard deviation of the point-to-plane distances, m.
    pub residual: f64,
    /// Factor from rotations to lengths, m.
    pub radius: f64,
}

impl RegisteredDirections<'_> {
    /// Projection onto the degenerate directions, in lidar axes, m and rad.
    fn held_in_lidar(&self, world_from_lidar: &Isometry3<f64>) -> Matrix6<f64> {
        let to_lidar = self.to_lidar(world_from_lidar);
        let from_lidar =
            both(world_from_lidar.rotation.to_rotation_matrix().matrix()) * scaling(self.radius);
        to_lidar * self.observability.onto_held() * from_lidar
    }

    /// Covariance of the observable directions, in lidar axes, m² and rad².
    fn covariance_in_lidar(&self, world_from_lidar: &Isometry3<f64>) -> Matrix6<f64> {
        let to_lidar = self.to_lidar(world_from_lidar);
        to_lidar * self.observability.covariance(self.residual) * to_lidar.transpose()
    }

    /// From scaled world axes to lidar axes.
    fn to_lidar(&self, world_from_lidar: &Isometry3<f64>) -> Matrix6<f64> {
        let rotation = world_from_lidar.rotation.inverse().to_rotation_matrix();
        scaling(1.0 / self.radius) * both(rotation.matrix())
    }
}

/// Block-diagonal matrix of a rotation of translations and of rotations.
pub(super) fn both(rotation: &Matrix3<f64>) -> Matrix6<f64> {
    let mut blocks = Matrix6::zeros();
    blocks.fixed_view_mut::<3, 3>(0, 0).copy_from(rotation);
    blocks.fixed_view_mut::<3, 3>(3, 3).copy_from(rotation);
    blocks
}

/// Diagonal matrix that multiplies rotations by a factor.
fn scaling(of_rotation: f64) -> Matrix6<f64> {
    let [one, r] = [1.0, of_rotation];
    Matrix6::from_diagonal(&Vector6::new(one, one, one, r, r, r))
}

/// Diagonal covariance of standard deviations.
fn diagonal(translation: [f64; 3], rotation: [f64; 3]) -> Matrix6<f64> {
    let sd = Vector6::from_iterator(translation.into_iter().chain(rotation));
    Matrix6::from_diagonal(&sd.map(|sd| sd * sd))
}

/// Changes of velocity from scan to scan, per axis of the lidar, with exponential forgetting.
#[derive(Default)]
struct VelocityChanges {
    squares: Vector6<f64>,
    weights: Vector6<f64>,
}

/// Factor on the weight of a change from scan to scan.
const MEMORY: f64 = 0.95;

/// Standard deviations of the motion by a change before any was observed, m and rad per scan.
const UNKNOWN_CHANGE: [f64; 2] = [0.2, 0.05];
/// Smallest standard deviations of the motion by a change, m and rad per scan.
const LEAST_CHANGE: [f64; 2] = [0.01, 0.001];

impl VelocityChanges {
    /// Adds a change; `observed` is the share of each axis that the registration determined.
    fn add(&mut self, change: &Vector6<f64>, observed: &Vector6<f64>) {
        self.squares = self.squares * MEMORY + change.component_mul(change);
        self.weights = self.weights * MEMORY + observed;
    }

    /// Covariance of a change between scans that are `duration` (s) apart. An axis that was not observed
    /// has the largest variance of the others.
    fn covariance(&self, duration: f64) -> Matrix6<f64> {
        let square = |sd: f64| (sd / duration).powi(2);
        let mut variances = Vector6::zeros();
        for (kind, first) in [0, 3].into_iter().enumerate() {
            let axes = [first, first + 1, first + 2];
            let observed = |i: usize| {
                (self.weights[i] > ENOUGH_WEIGHT).then(|| self.squares[i] / self.weights[i])
            };
            let largest = axes.into_iter().filter_map(observed).reduce(f64::max);
            let other = largest.unwrap_or(square(UNKNOWN_CHANGE[kind]));
            for i in axes {
                let variance = observed(i).unwrap_or(other);
                variances[i] = variance.max(square(LEAST_CHANGE[kind]));
            }
        }
        Matrix6::from_diagonal(&variances)
    }
}

/// Weight from which an axis counts as observed.
const ENOUGH_WEIGHT: f64 = 0.5;

/// Points in the frame of the lidar at time 0, from points in the frame at their own times (s), for a
/// lidar at a constant body-fixed velocity (m/s, rad/s): $p_0 = \exp(t \xi)\, p_t$.
///
/// Not modelled: acceleration during a scan.
///
/// ```
/// use etendue_estimate::odometry::deskew;
/// use nalgebra::{Point3, Vector6};
/// // A lidar that moves forward at 10 m/s measures a wall 5 m ahead, and again 0.1 s later.
/// let velocity = Vector6::new(10.0, 0.0, 0.0, 0.0, 0.0, 0.0);
/// let measured = [Point3::new(5.0, 0.0, 0.0), Point3::new(4.0, 0.0, 0.0)];
/// let points = deskew(&measured, &[0.0, 0.1], &velocity);
/// assert!((points[1] - points[0]).norm() < 1e-12);
/// ```
pub fn deskew(points: &[Point3<f64>], times: &[f64], velocity: &Vector6<f64>) -> Vec<Point3<f64>> {
    // The points of a column have the same time.
    let mut last = (f64::NAN, Isometry3::identity());
    let at_start = |(point, &time): (&Point3<f64>, &f64)| {
        if time != last.0 {
            last = (time, se3::exp(&(velocity * time)));
        }
        last.1 * point
    };
    points.iter().zip(times).map(at_start).collect()
}
