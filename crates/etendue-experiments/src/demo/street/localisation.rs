//! Localisation of a vehicle by gyroscope, wheels and GNSS.

use super::{MessageData, SensorMessage};
use etendue_physics::gnss::{Geodetic, LocalFrame};
use etendue_sensors::rig::seconds;
use nalgebra::{Matrix2, Matrix2x4, Matrix4, Point2, Vector2, Vector4};
use std::collections::VecDeque;

/// GNSS antenna on the vehicle, and the tangent frame of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Antenna {
    /// Position in front of the rear axle and to its left, m.
    pub position: [f64; 2],
    /// Tangent frame of the world on the Earth.
    pub frame: LocalFrame,
}

/// Extended Kalman filter over position, yaw and gyroscope bias (Thrun, Burgard, Fox 2005,
/// "Probabilistic Robotics", section 3.3).
///
/// The gyroscope and the rear wheels predict, GNSS fixes correct, and the bias is observed at
/// standstill. A fix arrives late: it is compared with the estimate at its stamp, and the correction
/// is applied to the current estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Localisation {
    antenna: Antenna,
    wheel_radius: f64,
    /// Period of inertial measurements, s.
    period: f64,
    /// x, y (m), yaw (rad), bias (rad/s).
    state: Vector4<f64>,
    covariance: Matrix4<f64>,
    wheels: [Option<Wheel>; 2],
    /// Past estimates: end of an inertial measurement (ns), x, y, yaw.
    past: VecDeque<(i64, [f64; 3])>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Wheel {
    stamp: i64,
    angle: f64,
    speed: f64,
}

/// Standard deviations at the start: position (m), yaw (rad), gyroscope bias (rad/s).
const START_SD: [f64; 4] = [0.2, 0.2, 0.02, 0.01];
/// Process noise per square root of a second: position (m), yaw (rad), bias (rad/s).
const PROCESS_SD: [f64; 4] = [0.05, 0.05, 1e-3, 1e-5];
/// Standard deviation of the bias observed at standstill, rad/s.
const STANDSTILL_SD: f64 = 3e-3;
/// Factor on the variance of fixes, whose errors are correlated in time.
const VARIANCE_FACTOR: f64 = 4.0;
/// Squared Mahalanobis distance beyond which a fix is rejected.
const GATE: f64 = 36.0;
/// Duration of the kept past estimates, ns.
const PAST: i64 = 1_000_000_000;

impl Localisation {
    /// Estimate of a vehicle at rest at a position (m) and yaw (rad), with inertial measurements every
    /// `period` seconds.
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

    /// Centre of the rear axle, m.
    pub fn position(&self) -> Point2<f64> {
        self.state.xy().into()
    }

    /// Yaw, rad.
    pub fn yaw(&self) -> f64 {
        self.state.z
    }

    /// Speed by the rear wheels, m/s.
    pub fn speed(&self) -> f64 {
        let speeds = self.wheels.iter().flatten().map(|wheel| wheel.speed);
        speeds.sum::<f64>() / 2.0
    }

    /// Updates the estimate by a message.
    pub fn receive(&mut self, message: &SensorMessage) {
        match message.data {
            MessageData::YawRate(rate) => self.predict(message.stamp, rate),
            MessageData::WheelAngle(side, angle) => {
                self.update_wheel(side, message.stamp, angle);
            }
            MessageData::Fix {
                degrees: [latitude, longitude],
                height,
                variance,
            } => {
                let geodetic = Geodetic::from_degrees(latitude, longitude, height);
                let position = self.antenna.frame.local(&geodetic);
                self.correct(message.stamp, position.xy(), variance);
            }
        }
    }

    /// Updates the speed of a wheel.
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

    /// Predicts the state over the period of an inertial measurement.
    fn predict(&mut self, stamp: i64, rate: f64) {
        let dt = self.period;
        let distance = self.speed() * dt;
        if self.is_stationary() {
            self.observe_bias(rate);
        }

        // State
        let turn = (rate - self.state.w) * dt;
        let (sin, cos) = (self.state.z + 0.5 * turn).sin_cos();
        self.state += Vector4::new(distance * cos, distance * sin, turn, 0.0);

        // Covariance
        let mut jacobian = Matrix4::identity();
        jacobian[(0, 2)] = -distance * sin;
        jacobian[(1, 2)] = distance * cos;
        jacobian[(2, 3)] = -dt;
        let noise = Matrix4::from_diagonal(&PROCESS_SD.map(|sd| sd * sd * dt).into());
        self.covariance = jacobian * self.covariance * jacobian.transpose() + noise;
        self.remember(stamp);
    }

    /// Whether both wheels have been measured and do not move.
    fn is_stationary(&self) -> bool {
        let stationary = |wheel: &Option<Wheel>| wheel.is_some_and(|wheel| wheel.speed == 0.0);
        self.wheels.iter().all(stationary)
    }

    /// Corrects the bias by the yaw rate at standstill.
    fn observe_bias(&mut self, rate: f64) {
        let variance = self.covariance[(3, 3)] + STANDSTILL_SD * STANDSTILL_SD;
        let gain = self.covariance.column(3) / variance;
        self.state += gain * (rate - self.state.w);
        self.covariance -= gain * self.covariance.row(3);
    }

    /// Stores the current estimate.
    fn remember(&mut self, stamp: i64) {
        let end = stamp + etendue_sensors::rig::nanoseconds(self.period);
        let x = self.state.x;
        let y = self.state.y;
        let yaw = self.state.z;
        self.past.push_back((end, [x, y, yaw]));
        while self
            .past
            .front()
            .is_some_and(|(then, _)| *then < end - PAST)
        {
            self.past.pop_front();
        }
    }

    /// Estimate at a time: the last one at or before it.
    fn estimate_at(&self, time: i64) -> [f64; 3] {
        let after = self.past.partition_point(|(then, _)| *then <= time);
        let found = self.past.get(after.saturating_sub(1));
        found.map_or([self.state.x, self.state.y, self.state.z], |(_, pose)| {
            *pose
        })
    }

    /// Corrects the state by the position of the antenna at a past time.
    fn correct(&mut self, stamp: i64, antenna: Point2<f64>, variance: [f64; 2]) {
        let [x, y, yaw] = self.estimate_at(stamp);
        let (sin, cos) = yaw.sin_cos();
        let [ahead, left] = self.antenna.position;
        let arm = Vector2::new(cos * ahead - sin * left, sin * ahead + cos * left);

        // Innovation and its covariance
        let innovation = antenna.coords - Vector2::new(x, y) - arm;
        let jacobian = Matrix2x4::new(1.0, 0.0, -arm.y, 0.0, 0.0, 1.0, arm.x, 0.0);
        let noise = Matrix2::from_diagonal(&variance.map(|own| VARIANCE_FACTOR * own).into());
        let spread = jacobian * self.covariance * jacobian.transpose() + noise;
        let Some(inverse) = spread.try_inverse() else {
            return;
        };
        if innovation.dot(&(inverse * innovation)) > GATE {
            return;
        }

        // Correction of the current and the past estimates
        let gain = self.covariance * jacobian.transpose() * inverse;
        let correction = gain * innovation;
        self.state += correction;
        self.covariance = (Matrix4::identity() - gain * jacobian) * self.covariance;
        for (_, pose) in &mut self.past {
            for (value, change) in pose.iter_mut().zip(correction.iter()) {
                *value += change;
            }
        }
    }
}
