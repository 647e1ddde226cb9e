//! The description of a continuous-wave lidar.

use crate::lidar::{BeamProfile, InvalidPhaseReceiver, Lidar, PhaseReceiver, Receiver};
use etendue_physics::beam::SubRayPattern;
use thiserror::Error;

/// A planar or tilted continuous-wave lidar: an immutable value that many runs share.
///
/// `S` is the type of the differentiable numbers: the divergence and the receiver's bias.
#[derive(Clone, Debug, PartialEq)]
pub struct CwLidar<S> {
    /// The beams of a sweep, in firing order.
    pub beams: Vec<Beam>,
    /// Time of a whole turn, s.
    pub turn_time: f64,
    /// Wavelength of the light, m.
    pub wavelength: f64,
    /// Tangent of half the beam's divergence: radius over distance.
    pub half_tangent: S,
    /// How a beam is sampled by rays.
    pub pattern: SubRayPattern,
    /// Standard deviation of each beam's azimuth about its nominal one, rad.
    pub azimuth_jitter: f64,
    /// What turns light into a range.
    pub receiver: PhaseReceiver<S>,
    /// Step of the reported ranges, m; none reports them as they are.
    pub resolution: Option<f64>,
}

/// One beam of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Azimuth, anticlockwise from x, rad.
    pub azimuth: f64,
    /// Elevation above the x-y plane, rad.
    pub elevation: f64,
    /// When it is fired, s after the beginning of the sweep.
    pub time: f64,
}

/// Why a lidar cannot be.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidLidar {
    /// It has no beam.
    #[error("the sensor has no beams")]
    NoBeams,
    /// A number is outside its domain.
    #[error("{name} is {value}, it must be {domain}")]
    Outside {
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        domain: &'static str,
    },
    /// The receiver makes no sense.
    #[error(transparent)]
    Receiver(#[from] InvalidPhaseReceiver),
}

impl Beam {
    /// `count` beams in one plane, `step` apart (rad, negative for clockwise) from azimuth `first`
    /// (rad), by a sensor that turns in `turn_time` seconds.
    ///
    /// ```
    /// use etendue_sensors::cw::Beam;
    /// use std::f64::consts::TAU;
    /// let step = TAU / 1024.0;
    /// let beams = Beam::fan(682, -340.0 * step, step, 0.1);
    /// assert_eq!(beams.len(), 682);
    /// assert!((beams[681].time - 0.0665).abs() < 1e-4);
    /// ```
    pub fn fan(count: u32, first: f64, step: f64, turn_time: f64) -> Vec<Self> {
        let time_step = turn_time * step.abs() / std::f64::consts::TAU;
        (0..count)
            .map(|i| Self {
                azimuth: first + step * f64::from(i),
                elevation: 0.0,
                time: time_step * f64::from(i),
            })
            .collect()
    }
}

impl CwLidar<f64> {
    /// The beams, cone and phase receiver of a lidar; none of one with another receiver or beam.
    pub fn of(lidar: &Lidar) -> Option<Self> {
        let (
            Receiver::Phase(receiver),
            BeamProfile::Cone {
                half_tangent,
                pattern,
            },
        ) = (&lidar.receiver, lidar.beam.profile)
        else {
            return None;
        };
        let beams = lidar.shots(0).into_iter().map(|shot| Beam {
            azimuth: shot.azimuth,
            elevation: shot.elevation,
            time: shot.time,
        });
        Some(Self {
            beams: beams.collect(),
            turn_time: lidar.sweep_duration(),
            wavelength: lidar.wavelength,
            half_tangent,
            pattern,
            azimuth_jitter: lidar.beam.azimuth_jitter,
            receiver: *receiver,
            resolution: Some(lidar.limits.step).filter(|step| *step > 0.0),
        })
    }
}

impl<T: Copy> CwLidar<T> {
    /// The same lidar with every differentiable number replaced by `f` of it.
    ///
    /// To differentiate by the divergence, say, map everything with `Dual::from` and set
    /// `half_tangent` to a variable.
    pub fn map<U>(&self, mut f: impl FnMut(T) -> U) -> CwLidar<U> {
        CwLidar {
            beams: self.beams.clone(),
            turn_time: self.turn_time,
            wavelength: self.wavelength,
            half_tangent: f(self.half_tangent),
            pattern: self.pattern,
            azimuth_jitter: self.azimuth_jitter,
            receiver: self.receiver.map(f),
            resolution: self.resolution,
        }
    }
}

impl CwLidar<f64> {
    /// Whether every number makes sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), InvalidLidar> {
        if self.beams.is_empty() {
            return Err(InvalidLidar::NoBeams);
        }
        let positive = "above zero";
        let fraction = "from 0 to 1";
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        let is_fraction = |x: f64| (0.0..=1.0).contains(&x);
        for (name, value, fits, domain) in [
            (
                "time of a turn",
                self.turn_time,
                is_positive(self.turn_time),
                positive,
            ),
            (
                "wavelength",
                self.wavelength,
                is_positive(self.wavelength),
                positive,
            ),
            (
                "tangent of half the divergence",
                self.half_tangent,
                is_fraction(self.half_tangent),
                fraction,
            ),
            (
                "azimuth jitter",
                self.azimuth_jitter,
                is_fraction(self.azimuth_jitter),
                fraction,
            ),
        ] {
            require(name, value, fits, domain)?;
        }
        if let Some(resolution) = self.resolution {
            require("resolution", resolution, is_positive(resolution), positive)?;
        }
        Ok(self.receiver.check()?)
    }
}

fn require(
    name: &'static str,
    value: f64,
    fits: bool,
    domain: &'static str,
) -> Result<(), InvalidLidar> {
    fits.then_some(()).ok_or(InvalidLidar::Outside {
        name,
        value,
        domain,
    })
}
