//! Resolution of the range ambiguity of two modulation frequencies.

use super::Modulation;
use crate::Scalar;

/// Resolution of the ambiguity: the range from two wrapped ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambiguity {
    /// Margin of the candidates beyond the range limits, m: noise wraps ranges near zero.
    pub slack: f64,
    /// Greatest admissible difference between the two ranges, m.
    pub gate: f64,
    /// Combination of the two ranges.
    pub combination: Combination,
}

/// Combination of the ranges of both frequencies into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Combination {
    /// The mean.
    #[default]
    Mean,
    /// The mean weighted by $f^2$: the minimum-variance combination, because both phases have the same
    /// noise.
    FrequencySquared,
}

/// A resolved range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved<S> {
    /// The range, m.
    pub range: S,
    /// Range from each frequency, m.
    pub ranges: [S; 2],
    /// Whole periods added to each.
    pub periods: [i32; 2],
    /// Absolute difference of the two, m.
    pub disagreement: f64,
}

impl Combination {
    /// The combination of two ranges, m.
    pub fn combine<S: Scalar>(self, modulation: &Modulation, ranges: [S; 2]) -> S {
        match self {
            Self::Mean => (ranges[0] + ranges[1]) * 0.5,
            Self::FrequencySquared => {
                let [w1, w2] = modulation.frequencies().map(|f| f * f);
                (ranges[0] * w1 + ranges[1] * w2) / (w1 + w2)
            }
        }
    }

    /// Standard deviation of the combined range for unit phase noise at both frequencies, m/rad.
    pub fn range_per_phase(self, modulation: &Modulation) -> f64 {
        let [k1, k2] = modulation.ambiguities().map(|u| u / std::f64::consts::TAU);
        match self {
            Self::Mean => k1.hypot(k2) / 2.0,
            Self::FrequencySquared => k1 * k2 / k1.hypot(k2),
        }
    }
}

impl Ambiguity {
    /// The pair of candidates within the range limits of the device (nearest and farthest, m) with the
    /// least difference; `None` if a frequency has no candidate there. The whole periods are constant
    /// under differentiation.
    pub fn search<S: Scalar>(
        &self,
        modulation: &Modulation,
        wrapped: [S; 2],
        range_limits: [f64; 2],
    ) -> Option<Resolved<S>> {
        let ambiguities = modulation.ambiguities();
        let values = wrapped.map(Scalar::value);
        let [first, second] =
            [0, 1].map(|k| self.candidates(values[k], ambiguities[k], range_limits));
        let mut best = None;
        let mut least = f64::INFINITY;
        for n1 in first {
            let range = values[0] + ambiguities[0] * f64::from(n1);
            for n2 in second.clone() {
                let difference = (range - (values[1] + ambiguities[1] * f64::from(n2))).abs();
                if difference < least {
                    best = Some([n1, n2]);
                    least = difference;
                }
            }
        }
        Some(self.resolved(modulation, wrapped, best?))
    }

    /// The range in the whole combined ambiguity, by the Chinese remainder theorem:
    /// $q = \mathrm{round}((\hat R_2-\hat R_1)/\Gamma)$ with $\Gamma$ the combined ambiguity over
    /// both multiples, $n_1 \equiv q\\,m_2^{-1} \pmod{m_1}$, $n_2 = (m_2 n_1 - q)/m_1$.
    pub fn whole<S: Scalar>(&self, modulation: &Modulation, wrapped: [S; 2]) -> Resolved<S> {
        #[expect(clippy::cast_possible_wrap, reason = "multiples are small")]
        let [m1, m2] = modulation.multiples.map(|m| m as i32);
        let spacing = modulation.combined_ambiguity() / f64::from(m1 * m2);
        let difference = wrapped[1].value() - wrapped[0].value();
        #[expect(clippy::cast_possible_truncation, reason = "below m1 + m2")]
        let q = (difference / spacing).round() as i32;
        let n1 = (0..m1)
            .find(|n| (m2 * n - q).rem_euclid(m1) == 0)
            .unwrap_or(0);
        self.resolved(modulation, wrapped, [n1, (m2 * n1 - q) / m1])
    }

    /// Whole periods that put a wrapped range within the limits.
    #[inline]
    fn candidates(
        &self,
        wrapped: f64,
        ambiguity: f64,
        [nearest, farthest]: [f64; 2],
    ) -> std::ops::Range<i32> {
        let lowest = ((nearest.min(0.0) - self.slack - wrapped) / ambiguity).ceil();
        let highest = ((farthest + self.slack - wrapped) / ambiguity).floor();
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        (lowest as i32..(highest as i32).saturating_add(1))
    }

    #[inline]
    fn resolved<S: Scalar>(
        &self,
        modulation: &Modulation,
        wrapped: [S; 2],
        periods: [i32; 2],
    ) -> Resolved<S> {
        let ambiguities = modulation.ambiguities();
        let range = |k: usize| wrapped[k] + ambiguities[k] * f64::from(periods[k]);
        let ranges = [range(0), range(1)];
        Resolved {
            range: self.combination.combine(modulation, ranges),
            ranges,
            periods,
            disagreement: (ranges[0].value() - ranges[1].value()).abs(),
        }
    }
}
