//! Prism and bead sheeting: what saturates a lidar.

use super::angle::{facing, tan_squared};
use crate::Scalar;
use nalgebra::Vector3;
use std::f64::consts::{LN_2, TAU};

/// Reflection into a narrow lobe about the direction that the light came from.
///
/// $f = \rho\\,\frac{K(\gamma)}{\max(\cos\theta_i,\cos\theta_o)}\\,2^{-(\tan^2\theta_i+\tan^2\theta_o)/(2\tan^2\theta_h)}$
/// with $\gamma$ the angle between the two directions (the observation angle),
/// $K = \frac{e^{-(1-\cos\gamma)/w^2}}{2\pi w^2(1-e^{-2/w^2})}$ (von Mises and Fisher: one over all
/// directions) and $\theta_h$ the entrance angle at which half is left. An empirical form: the
/// shape over the observation angle is Gaussian, that over the entrance angle is smooth and falls
/// to nothing at grazing light, as the tables for traffic signs do (ASTM D4956).
///
/// Reciprocal; no more than $\rho$ returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retroreflector<T> {
    /// Share of the power that returns into the lobe at normal incidence.
    pub reflectance: T,
    /// Width $w$ of the lobe: standard deviation of the observation angle in each direction, rad.
    pub width: T,
    /// Entrance angle $\theta_h$ at which half of it is left, rad.
    pub half_entrance: T,
}

impl<S: Scalar> Retroreflector<S> {
    pub(crate) fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        self.left(tan_squared(cos)) * self.lobe(S::zero()) / cos
    }

    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let steep = if incoming.z.value() > outgoing.z.value() {
            incoming.z
        } else {
            outgoing.z
        };
        let tangents = (tan_squared(incoming.z) + tan_squared(outgoing.z)) * 0.5;
        // 1 - cos(angle between), without the cancellation.
        let apart = (incoming - outgoing).norm_squared() * 0.5;
        self.left(tangents) * self.lobe(apart) / facing(steep)
    }

    fn left(&self, tan_squared: S) -> S {
        let half = self.half_entrance.tan();
        self.reflectance * (-tan_squared / (half * half) * LN_2).exp()
    }

    fn lobe(&self, apart: S) -> S {
        let variance = self.width * self.width;
        let whole = -(S::from(-2.0) / variance).exp() + 1.0;
        (-apart / variance).exp() / (variance * whole * TAU)
    }
}

impl Retroreflector<f64> {
    pub(crate) fn sample(&self, incoming: &Vector3<f64>, [u, v]: [f64; 2]) -> Vector3<f64> {
        let variance = self.width * self.width;
        let apart = -variance * (u + (1.0 - u) * (-2.0 / variance).exp()).ln();
        let (cos, sin) = (1.0 - apart, (apart * (2.0 - apart)).max(0.0).sqrt());
        let across = if incoming.z.abs() < 0.9 {
            incoming.cross(&Vector3::z()).normalize()
        } else {
            incoming.cross(&Vector3::x()).normalize()
        };
        let along = incoming.cross(&across);
        let azimuth = TAU * v;
        incoming * cos + (across * azimuth.cos() + along * azimuth.sin()) * sin
    }

    pub(crate) fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>) -> f64 {
        self.lobe(0.5 * (incoming - outgoing).norm_squared())
    }
}
