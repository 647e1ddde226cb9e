//! Pose of a vehicle from gyroscope, wheels and GNSS.

use super::message::{MessageContent, SensorMessage};
use etendue_physics::gnss::{Geodetic, LocalFrame};
use etendue_sensors::rig::seconds;
use nalgebra::{Matrix2, Matrix2x4, Matrix4, Point2, Vector2, Vector4};
use std::collections::VecDeque;

/// Mounting of the GNSS antenna and the tangent frame of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Antenna {
    /// Position ahead and to the left of the rear axle, m.
    pub place: [f64; 2],
    /// Local tangent frame.
    pub frame: LocalFrame,
}

/// Extended Kalman filter over position, yaw and the bias of the gyroscope (Thrun, Burgard, Fox 2005,
/// "Probabilistic Robotics", section 3.3): gyroscope and rear wheels predict, GNSS fixes correct, and
/// a standstill observes the bias.
///
/// A fix is delayed. It is compared with the estimate at its own time, and its innovation corrects
/// the current estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseFilter {
    antenna: Antenna,
    wheel_radius: f64,
    /// Time between inertial readings, s.
    period: f64,
    /// x, y (m), yaw (rad), bias (rad/s).
    state: Vector4<f64>,
    covariance: Matrix4<f64>,
    wheels: [Option<Wheel>; 2],
    /// Past estimates: end of an inertial reading (ns), x, y, yaw.
    past: VecDeque<(i64, [f64; 3])>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Wheel {
    stamp: i64,
    angle: f64,
    speed: f64,
}

/// Standard deviations of the initial position (m), yaw (rad) and gyroscope bias (rad/s).
const START_SD: [f64; 4] = [0.2, 0.2, 0.02, 0.01];
/// Process noise per root second: position (m), yaw (rad), bias (rad/s).
const PROCESS_SD: [f64; 4] = [0.05, 0.05, 1e-3, 1e-5];
/// Standard deviation of the bias observed at standstill, rad/s.
const STANDSTILL_SD: f64 = 3e-3;
/// Inflation of the variance of a fix, because errors of successive fixes are correlated.
const FIX_INFLATION: f64 = 4.0;
/// Squared Mahalanobis distance beyond which a fix is rejected.
const GATE: f64 = 36.0;
/// Duration of the stored past, ns.
const HISTORY: i64 = 1_000_000_000;

impl PoseFilter {
    /// Filter that starts at a position (m) and yaw (rad), with inertial readings every `period`
    /// seconds.
    pub fn new(
        antenna: Antenna,
        wheel_radius: f64,
        period: f64,
        [x, y]: [f64; 2],
        yaw: f64,
    ) -> Self {
        Self {
            antenna,
            wheel_radius,
            period,
            state: Vector4::new(x, y, yaw, 0.0),
            covariance: Matrix4::from_diagonal(&START_SD.map(|sd| sd * sd).into()),
            wheels: [None; 2],
            past: VecDeque::new(),
        }
    }

    /// Estimated position of the middle of the rear axle, m.
    pub fn place(&self) -> Point2<f64> {
        self.state.xy().into()
    }

    /// Estimated yaw, rad.
    pub fn yaw(&self) -> f64 {
        self.state.z
    }

    /// Speed by the rear wheels, m/s.
    pub fn speed(&self) -> f64 {
        let speeds = self.wheels.iter().flatten().map(|wheel| wheel.speed);
        speeds.sum::<f64>() / 2.0
    }

    /// Updates the estimate with a message.
    pub fn receive(&mut self, message: &SensorMessage) {
        match message.content {
            MessageContent::YawRate(rate) => self.predict(message.stamp, rate),
            MessageContent::Wheel(side, angle) => self.update_wheel(side, message.stamp, angle),
            MessageContent::Fix {
                degrees: [latitude, longitude],
                height,
                variance,
            } => {
                let place = Geodetic::from_degrees(latitude, longitude, height);
                let place = self.antenna.frame.local(&place);
                self.correct(message.stamp, place.xy(), variance);
            }
        }
    }

    fn update_wheel(&mut self, side: usize, stamp: i64, angle: f64) {
        let last = self.wheels[side];
        let speed = last.map_or(0.0, |last| {
            (angle - last.angle) * self.wheel_radius / seconds(stamp - last.stamp)
        });
        self.wheels[side] = Some(Wheel {
            stamp,
            angle,
            speed,
        });
    }

    /// Prediction over one inertial period.
    fn predict(&mut self, stamp: i64, rate: f64) {
        let dt = self.period;
        let distance = self.speed() * dt;
        if self.is_stationary() {
            self.update_bias(rate);
        }
        let turn = (rate - self.state.w) * dt;
        let (sin, cos) = (self.state.z + 0.5 * turn).sin_cos();
        self.state += Vector4::new(distance * cos, distance * sin, turn, 0.0);
        let mut jacobian = Matrix4::identity();
        jacobian[(0, 2)] = -distance * sin;
        jacobian[(1, 2)] = distance * cos;
        jacobian[(2, 3)] = -dt;
        let noise = Matrix4::from_diagonal(&PROCESS_SD.map(|sd| sd * sd * dt).into());
        self.covariance = jacobian * self.covariance * jacobian.transpose() + noise;
        self.store(stamp);
    }

    /// Whether both wheels were read and do not move.
    fn is_stationary(&self) -> bool {
        let still = |wheel: &Option<Wheel>| wheel.is_some_and(|wheel| wheel.speed == 0.0);
        self.wheels.iter().all(still)
    }

    /// Correction by the angular velocity at standstill, which is the bias.
    fn update_bias(&mut self, rate: f64) {
        let variance = self.covariance[(3, 3)] + STANDSTILL_SD * STANDSTILL_SD;
        let gain = self.covariance.column(3) / variance;
        self.state += gain * (rate - self.state.w);
        self.covariance -= gain * self.covariance.row(3);
    }

    /// Stores the current estimate.
    fn store(&mut self, stamp: i64) {
        let end = stamp + etendue_sensors::rig::nanoseconds(self.period);
        let [x, y, yaw] = [self.state.x, self.state.y, self.state.z];
        self.past.push_back((end, [x, y, yaw]));
        while self
            .past
            .front()
            .is_some_and(|(then, _)| *then < end - HISTORY)
        {
            self.past.pop_front();
        }
    }

    /// The last estimate at or before a time.
    fn estimate_at(&self, time: i64) -> [f64; 3] {
        let after = self.past.partition_point(|(then, _)| *then <= time);
        let found = self.past.get(after.saturating_sub(1));
        found.map_or([self.state.x, self.state.y, self.state.z], |(_, pose)| {
            *pose
        })
    }

    /// Correction by the position of the antenna at a time.
    fn correct(&mut self, stamp: i64, antenna: Point2<f64>, variance: [f64; 2]) {
        let [x, y, yaw] = self.estimate_at(stamp);
        let (sin, cos) = yaw.sin_cos();
        let [ahead, left] = self.antenna.place;
        let arm = Vector2::new(cos * ahead - sin * left, sin * ahead + cos * left);
        let innovation = antenna.coords - Vector2::new(x, y) - arm;
        let jacobian = Matrix2x4::new(1.0, 0.0, -arm.y, 0.0, 0.0, 1.0, arm.x, 0.0);
        let noise = Matrix2::from_diagonal(&variance.map(|own| FIX_INFLATION * own).into());
        let spread = jacobian * self.covariance * jacobian.transpose() + noise;
        let Some(inverse) = spread.try_inverse() else {
            return;
        };
        if innovation.dot(&(inverse * innovation)) > GATE {
            return;
        }
        let gain = self.covariance * jacobian.transpose() * inverse;
        let correction = gain * innovation;
        self.state += correction;
        self.covariance = (Matrix4::identity() - gain * jacobian) * self.covariance;
        for (_, pose) in &mut self.past {
            for (value, by) in pose.iter_mut().zip(correction.iter()) {
                *value += by;
            }
        }
    }
}
