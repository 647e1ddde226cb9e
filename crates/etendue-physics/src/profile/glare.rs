//! Glare: asymmetric noise near the surface normal.

use super::aspect::Aspect;
use super::distribution::ReturnDistribution;
use super::intensity::IntensityKind;

/// Glare: correction to a profile's [`knots`](super::Profile::knots) near the normal, where specular
/// reflection reaches the receiver, as a table over signed incidence.
///
/// If emitter and receiver are apart in the scan plane, the specular reflection is not at the normal but
/// where the normal bisects the emitted and the received ray: always on the same side, at the angle (offset
/// of their midpoint from the axis) / distance. [`Aspect::side`] is defined by the up axis of the sensor, so
/// the side is fixed to the sensor.
///
/// The added spread is temporal noise: on two metal plates and an acrylic one, repeated ranges of one
/// direction varied more within the glare than their means deviated from a smooth curve.
///
/// For beams above or below the normal, of sensors with several channels, the value is the mean of both
/// sides weighted by the side $s$: $\tfrac{1+s}{2}\\,g(\theta) + \tfrac{1-s}{2}\\,g(-\theta)$, with the table
/// $g$ and the incidence $\theta$. This interpolation is an assumption, not a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glare {
    /// Centre, rad, positive left of the normal.
    pub centre: f64,
    /// Values at ascending signed incidences, at least two; no glare beyond them.
    pub knots: Vec<GlareKnot>,
}

/// Values of a glare at one signed incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlareKnot {
    /// Incidence, rad, positive left of the normal.
    pub incidence: f64,
    /// Number of recorded beams near this incidence, drop-outs included.
    pub count: f64,
    /// Added bias, m.
    pub bias: f64,
    /// Standard error of the added bias, m.
    pub bias_error: f64,
    /// Factor of the spread.
    pub spread_ratio: f64,
    /// Standard error of the factor.
    pub spread_ratio_error: f64,
    /// Probability of a drop-out of beams that would return without glare.
    pub drop_out: f64,
    /// 95 % confidence interval of the probability.
    pub drop_out_interval: [f64; 2],
    /// Added mean intensity.
    pub intensity: f64,
}

/// No glare.
impl Default for GlareKnot {
    fn default() -> Self {
        Self {
            incidence: 0.0,
            count: 0.0,
            bias: 0.0,
            bias_error: 0.0,
            spread_ratio: 1.0,
            spread_ratio_error: 0.0,
            drop_out: 0.0,
            drop_out_interval: [0.0; 2],
            intensity: 0.0,
        }
    }
}

impl Glare {
    /// The glare at a signed incidence (rad), linear between knots; nothing beyond them.
    pub fn at(&self, incidence: f64) -> GlareKnot {
        let next = (self.knots).partition_point(|knot| knot.incidence <= incidence);
        let (Some(a), Some(b)) = (
            next.checked_sub(1).map(|before| &self.knots[before]),
            self.knots.get(next),
        ) else {
            return GlareKnot::default();
        };
        let share = (incidence - a.incidence) / (b.incidence - a.incidence);
        mixed(a, b, share, incidence)
    }

    /// Largest angle from the normal with glare, rad.
    pub fn reach(&self) -> f64 {
        let ends = [self.knots.first(), self.knots.last()];
        ends.into_iter()
            .flatten()
            .map(|knot| knot.incidence.abs())
            .fold(0.0, f64::max)
    }

    /// Adds the glare, shifted to the left by `shift` (rad), to an expected return.
    pub(super) fn add(
        &self,
        here: &mut ReturnDistribution,
        aspect: Aspect,
        shift: f64,
        intensity: IntensityKind,
    ) {
        // Interpolate the table by incidence and side.
        if aspect.incidence > self.reach() + shift.abs() {
            return;
        }
        let side = |sign: f64| self.at(sign * aspect.incidence - shift);
        let excess = match aspect.side {
            s if s >= 1.0 => side(1.0),
            s if s <= -1.0 => side(-1.0),
            s => mixed(&side(-1.0), &side(1.0), 0.5 * (1.0 + s), 0.0),
        };
        // Apply it; the added variance is temporal.
        here.bias += excess.bias;
        here.spread *= excess.spread_ratio;
        here.fixed_pattern /= excess.spread_ratio.powi(2).max(1.0);
        here.drop_out += (1.0 - here.drop_out) * excess.drop_out;
        let highest = match intensity {
            IntensityKind::TwoValued { .. } => 1.0,
            _ => f64::INFINITY,
        };
        here.intensity = (here.intensity + excess.intensity).clamp(0.0, highest);
    }
}

/// Linear interpolation between two knots at a fraction `share` of their distance.
fn mixed(a: &GlareKnot, b: &GlareKnot, share: f64, incidence: f64) -> GlareKnot {
    let mix = |a: f64, b: f64| a + share * (b - a);
    GlareKnot {
        incidence,
        count: mix(a.count, b.count),
        bias: mix(a.bias, b.bias),
        bias_error: mix(a.bias_error, b.bias_error),
        spread_ratio: mix(a.spread_ratio, b.spread_ratio),
        spread_ratio_error: mix(a.spread_ratio_error, b.spread_ratio_error),
        drop_out: mix(a.drop_out, b.drop_out),
        drop_out_interval: [0, 1].map(|i| mix(a.drop_out_interval[i], b.drop_out_interval[i])),
        intensity: mix(a.intensity, b.intensity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DistanceLaw, Knot, Profile};

    /// A glare of 2 mm two degrees left of the normal, on a profile of 1 mm.
    fn glaring(law: DistanceLaw) -> Profile {
        let at = |degrees: f64, bias: f64, drop_out: f64| GlareKnot {
            incidence: degrees.to_radians(),
            bias,
            drop_out,
            ..GlareKnot::default()
        };
        let knot = |incidence| Knot {
            incidence,
            bias: 1e-3,
            spread: 1e-3,
            drop_out: 0.5,
            ..Knot::default()
        };
        Profile {
            distance: 0.2,
            law,
            knots: vec![knot(0.0), knot(1.0)],
            glare: Some(Glare {
                centre: 2.0_f64.to_radians(),
                knots: vec![at(-4.0, 0.0, 0.0), at(2.0, -2e-3, 0.4), at(4.0, 0.0, 0.0)],
            }),
            ..Profile::default()
        }
    }

    #[test]
    fn left_and_right_of_the_normal_differ_only_near_the_glare() {
        let profile = glaring(DistanceLaw::SignalToNoise { floor: 0.0 });
        let bias = |degrees: f64| profile.at(Aspect::signed(degrees.to_radians()), 0.2).bias;
        assert!((bias(2.0) + 1e-3).abs() < 1e-12, "{}", bias(2.0));
        let right = 1e-3 - 2e-3 * 2.0 / 6.0;
        assert!((bias(-2.0) - right).abs() < 1e-12, "{}", bias(-2.0));
        assert_eq!(bias(4.5), 1e-3);
        assert_eq!(bias(-4.5), 1e-3);
        let dropped = profile
            .at(Aspect::signed(2.0_f64.to_radians()), 0.2)
            .drop_out;
        assert!(
            (dropped - 0.7).abs() < 1e-12,
            "half of the rest is lost: {dropped}"
        );
    }

    /// Above the normal, or with an unknown side, the value is the mean of both sides.
    #[test]
    fn beams_above_the_normal_get_the_mean_of_both_sides() {
        let profile = glaring(DistanceLaw::SignalToNoise { floor: 0.0 });
        let incidence = 2.0_f64.to_radians();
        let at = |side| profile.at(Aspect { incidence, side }, 0.2).bias;
        assert!((at(0.0) - 0.5 * (at(1.0) + at(-1.0))).abs() < 1e-15);
        assert_eq!(profile.at(incidence, 0.2).bias, at(0.0));
        assert!(at(1.0) < at(0.5) && at(0.5) < at(0.0));
    }

    /// The angle of the glare of a triangulating sensor is inversely proportional to the distance: at twice
    /// the distance 1 degree.
    #[test]
    fn the_glare_of_a_triangulating_sensor_approaches_the_normal_with_distance() {
        let profile = glaring(DistanceLaw::Triangulation);
        let drop_out = |degrees: f64, distance: f64| {
            let incidence = degrees.to_radians();
            let range = distance / incidence.cos();
            profile.at(Aspect::signed(incidence), range).drop_out
        };
        assert!((drop_out(2.0, 0.2) - 0.7).abs() < 1e-12);
        assert!(
            (drop_out(1.0, 0.4) - 0.7).abs() < 1e-9,
            "{}",
            drop_out(1.0, 0.4)
        );
        assert!(
            (drop_out(4.0, 0.1) - 0.7).abs() < 1e-9,
            "{}",
            drop_out(4.0, 0.1)
        );
    }
}
