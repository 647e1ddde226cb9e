//! Link budget: conversion between relative powers and watts.

use super::Pulse;
use crate::Scalar;
use std::f64::consts::PI;

/// Transmitter and receiver parameters that convert relative powers to watts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBudget {
    /// Pulse energy, J.
    pub pulse_energy: f64,
    /// Area of the receiving aperture, m².
    pub aperture: f64,
    /// Transmission of all optics, both ways, in (0, 1].
    pub efficiency: f64,
}

impl LinkBudget {
    /// Received peak power, W, of a return of relative power $L$ in 1/(m² sr):
    /// $P = \frac{E}{\int p\\,dt}\\, A\\, \eta\\, L$ with the pulse energy $E$, the pulse $p$ of peak 1, the
    /// aperture $A$ and the efficiency $\eta$.
    ///
    /// ```
    /// use etendue_physics::pulse::{LinkBudget, Pulse, reference_power};
    /// let link = LinkBudget { pulse_energy: 1e-6, aperture: 1e-3, efficiency: 0.5 };
    /// let watts = link.watts(&Pulse::gaussian(5e-9), reference_power(0.1, 100.0));
    /// assert!((watts * 1e9 - 298.98).abs() < 0.5);
    /// ```
    pub fn watts(&self, pulse: &Pulse, relative: f64) -> f64 {
        self.watts_per_unit(pulse) * relative
    }

    /// Relative power, 1/(m² sr), of a power in watts: for thresholds and noise-equivalent powers.
    pub fn relative(&self, pulse: &Pulse, watts: f64) -> f64 {
        watts / self.watts_per_unit(pulse)
    }

    fn watts_per_unit(&self, pulse: &Pulse) -> f64 {
        self.pulse_energy / pulse.energy_over_peak() * self.aperture * self.efficiency
    }
}

/// Relative power, 1/(m² sr), from a beam-filling Lambertian target at normal incidence:
/// $L = \rho / \pi R^2$, with range $R$ in m.
pub fn reference_power<S: Scalar>(reflectance: S, range: S) -> S {
    reflectance / (range * range * PI)
}
