//! Triangulation receiver: range from the direction of the laser spot, seen from a baseline.

use super::detection::{Detection, Reception};
use crate::lidar::domain::{OutsideDomain, positive, zero_or_more};
use crate::lidar::light::ShotLight;
use crate::transport::LightReturn;
use etendue_physics::pulse::{PulseReturn, group_returns};
use etendue_physics::{Scalar, Stream};
use etendue_scene::{CastScratch, Ray};
use nalgebra::{Point3, Vector3};

/// Triangulation receiver: a lens at the baseline $b$ beside the laser images the spot at the distance
/// $d$ in the direction $\varphi = b/d$ on a line of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangulation {
    /// Baseline $b$: distance between laser and lens, m.
    pub baseline: f64,
    /// Standard deviation $\sigma$ of the measured direction of the spot, rad. That of the range is
    /// $\sigma_d = d^2\sigma/b$.
    pub angle_noise: f64,
    /// Quantisation step of the direction, rad; 0 for none.
    pub angle_step: f64,
    /// Minimum power of a detected spot, 1/(m² sr).
    pub threshold: f64,
}

/// Returns merge to one spot if their distance over their range is less than this.
pub(super) const ONE_SPOT: f64 = 0.02;

impl Triangulation {
    /// The measured range of a spot at `distance` $d$, m: $b/\varphi$ with $\varphi = b/d + \sigma z$,
    /// rounded to the [`angle_step`](Self::angle_step), and the standard normal number $z$ = `draw`.
    pub fn read(&self, distance: f64, draw: f64) -> f64 {
        self.range(distance, draw, self.angle_step)
    }

    /// Standard deviation of the range of a spot at `distance` $d$ by the noise of its direction, m:
    /// $d^2\sigma/b$.
    pub fn range_sd(&self, distance: f64) -> f64 {
        distance * distance * self.angle_noise / self.baseline
    }

    /// Quantisation step of the range of a spot at `distance` $d$, m: $d^2/b$ times the
    /// [`angle_step`](Self::angle_step).
    pub fn range_step(&self, distance: f64) -> f64 {
        distance * distance * self.angle_step / self.baseline
    }

    /// [`Triangulation::read`] with the quantisation `step` (rad; 0 for none). The rounding error is
    /// constant under differentiation.
    fn range<S: Scalar>(&self, distance: S, draw: f64, step: f64) -> S {
        let mut angle = S::from(self.baseline) / distance + self.angle_noise * draw;
        if step > 0.0 {
            let rounded = (angle.value() / step).round() * step;
            angle = S::with_derivatives_of(rounded, || angle);
        }
        S::from(self.baseline) / angle.max(S::from(1e-12))
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        positive(&[
            ("the baseline, m,", self.baseline),
            ("the detection threshold, 1/(m2 sr),", self.threshold),
        ])?;
        zero_or_more(&[
            ("the noise of the spot's direction, rad,", self.angle_noise),
            ("the step of the spot's direction, rad,", self.angle_step),
        ])
    }

    /// Detects the brightest spot that is visible from the lens, if its power reaches the threshold.
    ///
    /// The lens is to the left of the beam. Objects between the lens and the spot occlude the spot. The
    /// direction $\varphi = b/d$ has the noise and the quantisation of the pixels.
    pub(super) fn detect<S: Scalar>(
        &self,
        reception: &Reception<S>,
        light: &ShotLight<S>,
        noise: Option<&mut Stream>,
        scratch: &mut CastScratch,
    ) -> Option<Detection<S>> {
        // Select the returns that are visible from the lens.
        let lens = self.lens(reception);
        let seen = light.surfaces.iter();
        let seen = seen.filter(|one| is_seen(&lens, reception, &one.back, scratch));
        let mut returns: Vec<PulseReturn<S>> = seen
            .map(|one| PulseReturn {
                range: one.back.range,
                power: one.power,
            })
            .collect();
        // Find the brightest spot and apply the threshold.
        let PulseReturn { range, power } = brightest(&mut returns)?;
        if power.value() < self.threshold {
            return None;
        }
        // Measure its direction with noise and quantisation.
        let draw = noise.map_or(0.0, Stream::normal);
        let step = if reception.rounding {
            self.angle_step
        } else {
            0.0
        };
        Some(Detection {
            range: self.range(range, draw, step),
            power,
            width: S::zero(),
            velocity: None,
            intensity: None,
        })
    }

    /// Position of the lens in the world, m: at the baseline to the left of the beam.
    fn lens<S: Scalar>(&self, reception: &Reception<S>) -> Point3<f64> {
        let shot = reception.shot;
        let left = Vector3::new(-shot.azimuth.sin(), shot.azimuth.cos(), 0.0);
        let lens = shot.origin + left * self.baseline;
        (reception.pose * lens.map(S::from)).map(Scalar::value)
    }
}

/// Whether the scattering point is visible from the lens. Spots seen by way of mirrors and glass count as
/// visible.
fn is_seen<S: Scalar>(
    lens: &Point3<f64>,
    reception: &Reception<S>,
    back: &LightReturn<S>,
    scratch: &mut CastScratch,
) -> bool {
    if back.depth > 1 {
        return true;
    }
    let sight = back.point.map(Scalar::value) - lens;
    let distance = sight.norm();
    let ray = Ray {
        far: distance * (1.0 - 1e-6),
        time: reception.shot.time,
        ..Ray::new(*lens, sight / distance)
    };
    !reception.world.scene().occluded(&ray, scratch)
}

/// The brightest spot of the returns, which are sorted: total power of its returns, at their
/// power-weighted mean range.
fn brightest<S: Scalar>(returns: &mut [PulseReturn<S>]) -> Option<PulseReturn<S>> {
    let together = |near: f64, far: f64| far - near < ONE_SPOT * near;
    let mut brightest: Option<PulseReturn<S>> = None;
    group_returns(returns, together, |spot: &[PulseReturn<S>]| {
        let sum =
            |of: fn(&PulseReturn<S>) -> S| spot.iter().fold(S::zero(), |sum, one| sum + of(one));
        let power = sum(|one| one.power);
        let moment = sum(|one| one.range * one.power);
        if brightest.is_none_or(|best| power.value() >= best.power.value()) {
            brightest = Some(PulseReturn {
                range: moment / power,
                power,
            });
        }
    });
    brightest
}
