//! Where a vehicle thinks it is.

use super::{Heard, What};
use etendue_physics::gnss::{Geodetic, LocalFrame};
use etendue_sensors::rig::seconds;
use nalgebra::{Matrix2, Matrix2x4, Matrix4, Point2, Vector2, Vector4};
use std::collections::VecDeque;

/// Where the antenna sits on the vehicle, m ahead and to the left, and the world's tangent frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Antenna {
    /// m.
    pub place: [f64; 2],
    /// The world on the Earth.
    pub frame: LocalFrame,
}

/// An extended Kalman filter over place, yaw and the gyroscope's bias (Thrun, Burgard, Fox 2005,
/// "Probabilistic Robotics", section 3.3): the gyroscope and the rear wheels carry it on, positions
/// by satellites correct it, and a stand shows the bias.
///
/// A position is late. It is compared with where the estimate was when it was taken, and moves the
/// estimate of now by what that one was off.
#[derive(Clone, Debug, PartialEq)]
pub struct Whereabouts {
    antenna: Antenna,
    wheel_radius: f64,
    /// Time between inertial readings, s.
    period: f64,
    /// x, y (m), yaw (rad), bias (rad/s).
    state: Vector4<f64>,
    covariance: Matrix4<f64>,
    wheels: [Option<Wheel>; 2],
    /// Where the estimate was: end of an inertial reading (ns), x, y, yaw.
    past: VecDeque<(i64, [f64; 3])>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Wheel {
    stamp: i64,
    angle: f64,
    speed: f64,
}

/// How well the start is known: m, rad, and the gyroscope's bias, rad/s.
const START_SD: [f64; 4] = [0.2, 0.2, 0.02, 0.01];
/// What the filter adds in a root second: to the place (m), to the yaw (rad), to the bias (rad/s).
const WANDER: [f64; 4] = [0.05, 0.05, 1e-3, 1e-5];
/// Standard deviation of a stand's reading of the bias, rad/s.
const STAND_SD: f64 = 3e-3;
/// Errors of positions are alike from one to the next: each counts as so many times its variance.
const ALIKE: f64 = 4.0;
/// Squared distance, in standard deviations, beyond which a position is not believed.
const GATE: f64 = 36.0;
/// How far back the past is kept, ns.
const PAST: i64 = 1_000_000_000;

impl Whereabouts {
    /// A vehicle that is put down at a place (m) and yaw (rad) with inertial readings every
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

    /// The middle of the rear axle, m.
    pub fn place(&self) -> Point2<f64> {
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

    /// Takes a message in.
    pub fn hear(&mut self, heard: &Heard) {
        match heard.what {
            What::Turning(rate) => self.go_on(heard.stamp, rate),
            What::Wheel(side, angle) => self.roll(side, heard.stamp, angle),
            What::Fix {
                degrees: [latitude, longitude],
                height,
                variance,
            } => {
                let place = Geodetic::from_degrees(latitude, longitude, height);
                let place = self.antenna.frame.local(&place);
                self.correct(heard.stamp, place.xy(), variance);
            }
        }
    }

    fn roll(&mut self, side: usize, stamp: i64, angle: f64) {
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

    fn go_on(&mut self, stamp: i64, rate: f64) {
        let (dt, way) = (self.period, self.speed() * self.period);
        if self.stands() {
            self.learn_bias(rate);
        }
        let turn = (rate - self.state.w) * dt;
        let (sin, cos) = (self.state.z + 0.5 * turn).sin_cos();
        self.state += Vector4::new(way * cos, way * sin, turn, 0.0);
        let mut jacobian = Matrix4::identity();
        jacobian[(0, 2)] = -way * sin;
        jacobian[(1, 2)] = way * cos;
        jacobian[(2, 3)] = -dt;
        let noise = Matrix4::from_diagonal(&WANDER.map(|sd| sd * sd * dt).into());
        self.covariance = jacobian * self.covariance * jacobian.transpose() + noise;
        self.remember(stamp);
    }

    /// Whether both wheels have been read and do not move.
    fn stands(&self) -> bool {
        let still = |wheel: &Option<Wheel>| wheel.is_some_and(|wheel| wheel.speed == 0.0);
        self.wheels.iter().all(still)
    }

    fn learn_bias(&mut self, rate: f64) {
        let variance = self.covariance[(3, 3)] + STAND_SD * STAND_SD;
        let gain = self.covariance.column(3) / variance;
        self.state += gain * (rate - self.state.w);
        self.covariance -= gain * self.covariance.row(3);
    }

    fn remember(&mut self, stamp: i64) {
        let end = stamp + etendue_sensors::rig::nanoseconds(self.period);
        let [x, y, yaw] = [self.state.x, self.state.y, self.state.z];
        self.past.push_back((end, [x, y, yaw]));
        while self
            .past
            .front()
            .is_some_and(|(then, _)| *then < end - PAST)
        {
            self.past.pop_front();
        }
    }

    /// Where the estimate was at a time: the last at or before it.
    fn then(&self, time: i64) -> [f64; 3] {
        let after = self.past.partition_point(|(then, _)| *then <= time);
        let found = self.past.get(after.saturating_sub(1));
        found.map_or([self.state.x, self.state.y, self.state.z], |(_, pose)| {
            *pose
        })
    }

    fn correct(&mut self, stamp: i64, antenna: Point2<f64>, variance: [f64; 2]) {
        let [x, y, yaw] = self.then(stamp);
        let (sin, cos) = yaw.sin_cos();
        let [ahead, left] = self.antenna.place;
        let arm = Vector2::new(cos * ahead - sin * left, sin * ahead + cos * left);
        let off = antenna.coords - Vector2::new(x, y) - arm;
        let jacobian = Matrix2x4::new(1.0, 0.0, -arm.y, 0.0, 0.0, 1.0, arm.x, 0.0);
        let noise = Matrix2::from_diagonal(&variance.map(|own| ALIKE * own).into());
        let spread = jacobian * self.covariance * jacobian.transpose() + noise;
        let Some(inverse) = spread.try_inverse() else {
            return;
        };
        if off.dot(&(inverse * off)) > GATE {
            return;
        }
        let gain = self.covariance * jacobian.transpose() * inverse;
        let moved = gain * off;
        self.state += moved;
        self.covariance = (Matrix4::identity() - gain * jacobian) * self.covariance;
        for (_, pose) in &mut self.past {
            for (value, by) in pose.iter_mut().zip(moved.iter()) {
                *value += by;
            }
        }
    }
}
