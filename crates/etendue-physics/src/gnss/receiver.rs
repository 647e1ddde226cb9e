//! GNSS receivers and their position fixes.

use super::{Geodetic, LocalFrame, SkyView};
use crate::inertial::{BiasProcess, BiasRun};
use crate::{Purpose, Stream};
use nalgebra::{Point3, Vector3};

/// Position error along one axis under an open sky.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisError {
    /// Standard deviation of the white part, which is independent in every fix, m.
    pub white: f64,
    /// Standard deviation of the correlated part (a Gauss-Markov process), m.
    pub correlated: f64,
    /// Correlation time of the correlated part, s.
    pub time: f64,
}

/// Kind of position solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GnssFixKind {
    /// Standalone positioning, without corrections.
    Autonomous,
    /// Differential GNSS with code corrections.
    Differential,
    /// Real-time kinematic positioning with integer carrier-phase ambiguities.
    RtkFixed,
}

/// A GNSS receiver. East and north errors are independent and have the same statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GnssReceiver {
    /// Error to the east and to the north.
    pub horizontal: AxisError,
    /// Error upwards.
    pub vertical: AxisError,
    /// Standard deviation of each component of the velocity, m/s.
    pub velocity: f64,
    /// Elevation mask: satellites below it are not used, rad.
    pub mask: f64,
    /// Kind of position solution.
    pub kind: GnssFixKind,
}

/// A reported position solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GnssSolution {
    /// Position.
    pub position: Geodetic,
    /// Velocity (east, north, up), m/s.
    pub velocity: Vector3<f64>,
    /// Variances (east, north, up), m², from the parameters of the receiver.
    pub variance: Vector3<f64>,
    /// Kind of solution.
    pub kind: GnssFixKind,
}

/// Report of a receiver at one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GnssFix {
    /// Position solution, if there are enough satellites.
    pub solution: Option<GnssSolution>,
    /// Visible satellites and their dilution of precision.
    pub sky: SkyView,
}

impl AxisError {
    /// Variance of the sum of both parts, m².
    pub fn variance(&self) -> f64 {
        self.white * self.white + self.correlated * self.correlated
    }

    fn process(&self) -> BiasProcess {
        BiasProcess::GaussMarkov {
            sd: self.correlated,
            time: self.time.max(f64::MIN_POSITIVE),
        }
    }
}

impl GnssReceiver {
    /// Standard deviation per horizontal axis of an error with the circular error probable `radius`
    /// (CEP, 50 %), m: $r/\sqrt{2\ln 2}$ for a circular normal distribution.
    ///
    /// ```
    /// use etendue_physics::gnss::GnssReceiver;
    /// assert!((GnssReceiver::sd_of_cep(2.5) - 2.123).abs() < 1e-3);
    /// ```
    pub fn sd_of_cep(radius: f64) -> f64 {
        radius / (2.0 * std::f64::consts::LN_2).sqrt()
    }
}

/// A running GNSS receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct GnssReceiverRun {
    receiver: GnssReceiver,
    wander: [BiasRun; 3],
    seed: u64,
    sensor: u32,
    fixes: u32,
}

/// Epoch number of the stream for switch-on, which no fix has.
const SWITCH_ON: u32 = u32::MAX;

impl GnssReceiverRun {
    /// Switches on the receiver of sensor number `sensor`.
    pub fn new(receiver: &GnssReceiver, seed: u64, sensor: u32) -> Self {
        let mut stream = Stream::new(seed, sensor, SWITCH_ON, 0, Purpose::Gnss);
        let mut normals = stream.normals();
        let axes = [receiver.horizontal, receiver.horizontal, receiver.vertical];
        Self {
            wander: axes.map(|axis| BiasRun::new(&[axis.process()], &mut normals)),
            receiver: *receiver,
            seed,
            sensor,
            fixes: 0,
        }
    }

    /// The next fix at a true position and velocity (both in the local frame), `dt` seconds after
    /// the previous one. `sky` is the view with occlusion, `open` that of the unoccluded sky:
    /// errors scale with the ratio of their dilutions.
    pub fn fix(
        &mut self,
        frame: &LocalFrame,
        position: &Point3<f64>,
        velocity: &Vector3<f64>,
        dt: f64,
        sky: SkyView,
        open: SkyView,
    ) -> GnssFix {
        // Advance the slowly varying errors.
        let mut stream = Stream::new(self.seed, self.sensor, self.fixes, 0, Purpose::Gnss);
        self.fixes += 1;
        let mut normals = stream.normals();
        for wander in &mut self.wander {
            wander.step(dt, &mut normals);
        }
        // Scale the errors by the dilution relative to the open sky.
        let GnssReceiver {
            horizontal,
            vertical,
            ..
        } = self.receiver;
        let axes = [horizontal, horizontal, vertical];
        let worse = [
            sky.horizontal / open.horizontal,
            sky.horizontal / open.horizontal,
            sky.vertical / open.vertical,
        ];
        let mut draw = |sd: f64| sd * normals.next().unwrap_or_default();
        let error =
            Vector3::from_fn(|i, _| worse[i] * (self.wander[i].value() + draw(axes[i].white)));
        let speed_error = Vector3::from_fn(|i, _| worse[i] * draw(self.receiver.velocity));
        // Solve with at least four satellites.
        let solved = sky.used >= 4 && worse.iter().all(|ratio| ratio.is_finite());
        GnssFix {
            solution: solved.then(|| GnssSolution {
                position: frame.geodetic(&(position + error)),
                velocity: velocity + speed_error,
                variance: Vector3::from_fn(|i, _| axes[i].variance() * worse[i] * worse[i]),
                kind: self.receiver.kind,
            }),
            sky,
        }
    }
}
