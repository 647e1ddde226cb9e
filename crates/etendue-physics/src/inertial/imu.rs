//! Inertial measurement units.

use super::{InvalidTriad, MotionState, Triad, TriadRun};
use crate::{Purpose, Stream};
use nalgebra::Vector3;

/// An inertial measurement unit: a gyroscope and an accelerometer on the same axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imu {
    /// The gyroscope, rad/s.
    pub gyroscope: Triad,
    /// The accelerometer, m/s².
    pub accelerometer: Triad,
    /// Temperature after switch-on.
    pub warming: Warming,
}

/// Warm-up of a unit after switch-on: $\Delta T = T_0 + \Delta(1-e^{-t/\tau})$, relative to the
/// calibration temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warming {
    /// Temperature difference at switch-on, K.
    pub start: f64,
    /// Rise of the temperature, K.
    pub rise: f64,
    /// Time constant, s.
    pub time: f64,
}

impl Default for Warming {
    /// Constant calibration temperature.
    fn default() -> Self {
        Self {
            start: 0.0,
            rise: 0.0,
            time: 1.0,
        }
    }
}

impl Warming {
    /// Temperature above that of the calibration `time` seconds after switch-on, K.
    pub fn at(&self, time: f64) -> f64 {
        self.start + self.rise * (1.0 - (-time / self.time).exp())
    }
}

/// One IMU sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuReading {
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector3<f64>,
    /// Specific force, m/s²: $+g$ upwards at rest.
    pub specific_force: Vector3<f64>,
}

impl ImuReading {
    /// Sample of an ideal unit in the frame of `state` at an instant.
    pub fn ideal(state: &MotionState, gravity: &Vector3<f64>) -> Self {
        Self {
            angular_velocity: state.angular_velocity,
            specific_force: state.specific_force(gravity),
        }
    }

    /// Sample of an ideal unit that integrates over `window` seconds between two states: the mean
    /// rotation $\log(R_0^\top R_1)/w$ and the mean change of velocity $R_m^\top((v_1-v_0)/w - g)$,
    /// with $R_m$ at mid-window. The first is exact for a constant axis of rotation, the second for
    /// a constant attitude; rotations of adjacent windows compose to the total rotation.
    pub fn gathered(
        start: &MotionState,
        end: &MotionState,
        window: f64,
        gravity: &Vector3<f64>,
    ) -> Self {
        let [from, to] = [start, end].map(|state| state.world_from_body.rotation);
        let turn = (from.inverse() * to).scaled_axis();
        let middle = from * nalgebra::UnitQuaternion::from_scaled_axis(turn * 0.5);
        let acceleration = (end.velocity - start.velocity) / window;
        Self {
            angular_velocity: turn / window,
            specific_force: middle.inverse_transform_vector(&(acceleration - gravity)),
        }
    }
}

impl Imu {
    /// Checks that all parameters are in their domains.
    ///
    /// # Errors
    /// The first parameter that is not.
    pub fn check(&self) -> Result<(), InvalidTriad> {
        self.gyroscope.check()?;
        self.accelerometer.check()?;
        let time = self.warming.time;
        (time > 0.0).then_some(()).ok_or(InvalidTriad {
            name: "the time of warming",
            value: time,
            domain: "above zero",
        })
    }
}

/// A running inertial measurement unit.
///
/// Sample `k` of sensor number `s` draws from streams with these numbers: its noise is independent
/// of other sensors.
///
/// ```
/// use etendue_physics::inertial::{Imu, ImuReading, ImuRun, Triad};
/// use nalgebra::Vector3;
/// let imu = Imu {
///     gyroscope: Triad { density: 1e-3, ..Triad::default() },
///     ..Imu::default()
/// };
/// let rest = ImuReading { angular_velocity: Vector3::zeros(), specific_force: Vector3::z() };
/// let mut run = ImuRun::new(&imu, 7, 0);
/// let first = run.read(&rest, 0.01);
/// assert_ne!(first.angular_velocity, run.read(&rest, 0.01).angular_velocity);
/// assert_eq!(first, ImuRun::new(&imu, 7, 0).read(&rest, 0.01));
/// assert_eq!(first.specific_force, Vector3::z());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImuRun {
    gyroscope: TriadRun,
    accelerometer: TriadRun,
    warming: Warming,
    seed: u64,
    sensor: u32,
    samples: u32,
    time: f64,
}

/// Sample number of the stream for switch-on, which no sample has.
const SWITCH_ON: u32 = u32::MAX;

impl ImuRun {
    /// Switches on the unit of sensor number `sensor`.
    pub fn new(imu: &Imu, seed: u64, sensor: u32) -> Self {
        let stream = |purpose| Stream::new(seed, sensor, SWITCH_ON, 0, purpose);
        Self {
            gyroscope: TriadRun::new(&imu.gyroscope, &mut stream(Purpose::Gyroscope)),
            accelerometer: TriadRun::new(&imu.accelerometer, &mut stream(Purpose::Accelerometer)),
            warming: imu.warming,
            seed,
            sensor,
            samples: 0,
            time: 0.0,
        }
    }

    /// The next sample for the ideal sample `ideal`, `dt` seconds after the previous one.
    pub fn read(&mut self, ideal: &ImuReading, dt: f64) -> ImuReading {
        let stream = |purpose| Stream::new(self.seed, self.sensor, self.samples, 0, purpose);
        let warmer = self.warming.at(self.time);
        let [mut turn, mut push] = [Purpose::Gyroscope, Purpose::Accelerometer].map(stream);
        let rate = &ideal.angular_velocity;
        let force = &ideal.specific_force;
        self.samples += 1;
        self.time += dt;
        ImuReading {
            angular_velocity: self.gyroscope.measure(rate, dt, warmer, &mut turn),
            specific_force: self.accelerometer.measure(force, dt, warmer, &mut push),
        }
    }
}
