//! Resolution of the range ambiguity of two modulation frequencies.

use super::Modulation;
use crate::Scalar;
use std::array::from_fn;
use std::ops::Range;

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

/// Resolved ranges of sixteen beams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedLanes {
    /// The ranges, m.
    pub range: [f64; 16],
    /// Absolute difference of the ranges from both frequencies, m; infinite where there is no range.
    pub disagreement: [f64; 16],
}

impl Combination {
    /// Weights of the ranges of both frequencies, which sum to 1.
    pub fn weights(self, modulation: &Modulation) -> [f64; 2] {
        match self {
            Self::Mean => [0.5; 2],
            Self::FrequencySquared => {
                let squares = modulation.frequencies().map(|f| f * f);
                squares.map(|square| square / (squares[0] + squares[1]))
            }
        }
    }

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

/// Number of beams whose candidates are compared at a time.
const FEW: usize = 8;

/// Difference of two differences that count as equal, m.
const TIE: f64 = 1e-9;

impl Ambiguity {
    /// The pair of candidates within the range limits of the device (nearest and farthest, m) with the
    /// least difference, the nearest of pairs that differ equally, within 1 nm: beyond the combined ambiguity pairs repeat;
    /// `None` if a frequency has no candidate there. The whole periods are constant under differentiation.
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
                if difference < least - TIE {
                    best = Some([n1, n2]);
                    least = difference;
                }
            }
        }
        Some(self.resolved(modulation, wrapped, best?))
    }

    /// The ranges of sixteen beams: those of [`Ambiguity::search`], bit for bit, without the whole periods. A
    /// beam without candidates has an infinite disagreement. The loops compile to the caller's vector instructions.
    ///
    /// ```
    /// use etendue_physics::phase::*;
    /// let ambiguity = Ambiguity { slack: 0.1, gate: 0.15, combination: Combination::Mean };
    /// let modulation = Modulation::URG_04LX;
    /// let wrapped = modulation.wrapped_ranges(modulation.phases(4.0));
    /// let lanes = ambiguity.search_lanes(&modulation, &wrapped.map(|one| [one; 16]), [0.02, 5.6]);
    /// assert!((lanes.range[3] - 4.0).abs() < 1e-14 && lanes.disagreement[3] < 1e-14);
    /// ```
    #[expect(
        clippy::inline_always,
        clippy::needless_bitwise_bool,
        reason = "for the caller's instructions"
    )]
    #[inline(always)]
    pub fn search_lanes(
        &self,
        modulation: &Modulation,
        wrapped: &[[f64; 16]; 2],
        range_limits: [f64; 2],
    ) -> ResolvedLanes {
        let ambiguities = modulation.ambiguities();
        // Find the candidates of each beam, and those of any beam: wrapped ranges are from 0 to the ambiguity.
        let mut limits = [[[0.0; 16]; 2]; 2];
        for k in 0..2 {
            for i in 0..16 {
                let own = self.period_limits(wrapped[k][i], ambiguities[k], range_limits);
                [limits[k][0][i], limits[k][1][i]] = own;
            }
        }
        let periods = [0, 1].map(|k| {
            let [lowest, _] = self.period_limits(ambiguities[k], ambiguities[k], range_limits);
            let [_, highest] = self.period_limits(0.0, ambiguities[k], range_limits);
            periods([lowest, highest])
        });
        // Compare all pairs, in the order of the plain search, of a few beams at a time: these are in registers.
        let mut best = [[0.0; 16]; 2];
        let mut least = [f64::INFINITY; 16];
        let [first, second] = periods;
        for start in (0..16).step_by(FEW) {
            let few = |lanes: &[f64; 16]| from_fn::<f64, FEW, _>(|i| lanes[start + i]);
            let own = wrapped.each_ref().map(few);
            let [own1, own2] = limits.each_ref().map(|own| own.each_ref().map(few));
            let mut own_best = [[0.0; FEW]; 2];
            let mut own_least = [f64::INFINITY; FEW];
            for n1 in first.clone() {
                let n1 = f64::from(n1);
                for n2 in second.clone() {
                    let n2 = f64::from(n2);
                    for i in 0..FEW {
                        let ranges = [
                            own[0][i] + ambiguities[0] * n1,
                            own[1][i] + ambiguities[1] * n2,
                        ];
                        let is_candidate = (own1[0][i] <= n1)
                            & (n1 <= own1[1][i])
                            & (own2[0][i] <= n2)
                            & (n2 <= own2[1][i]);
                        let difference = (ranges[0] - ranges[1]).abs();
                        let is_better = is_candidate & (difference < own_least[i] - TIE);
                        own_least[i] = if is_better { difference } else { own_least[i] };
                        for k in 0..2 {
                            own_best[k][i] = if is_better { ranges[k] } else { own_best[k][i] };
                        }
                    }
                }
            }
            least[start..][..FEW].copy_from_slice(&own_least);
            for (best, own) in best.iter_mut().zip(&own_best) {
                best[start..][..FEW].copy_from_slice(own);
            }
        }
        // Combine the ranges of both frequencies.
        let mut range = [0.0; 16];
        for i in 0..16 {
            range[i] = self
                .combination
                .combine(modulation, [best[0][i], best[1][i]]);
        }
        ResolvedLanes {
            range,
            disagreement: least,
        }
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
    fn candidates(&self, wrapped: f64, ambiguity: f64, range_limits: [f64; 2]) -> Range<i32> {
        periods(self.period_limits(wrapped, ambiguity, range_limits))
    }

    /// Least and greatest number of whole periods that put a wrapped range within the limits.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    fn period_limits(
        &self,
        wrapped: f64,
        ambiguity: f64,
        [nearest, farthest]: [f64; 2],
    ) -> [f64; 2] {
        [
            ((nearest.min(0.0) - self.slack - wrapped) / ambiguity).ceil(),
            ((farthest + self.slack - wrapped) / ambiguity).floor(),
        ]
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

/// Whole periods from a least to a greatest number.
#[inline]
fn periods([lowest, highest]: [f64; 2]) -> Range<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    (lowest as i32..(highest as i32).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wrapped ranges over both ambiguities, most of which agree nowhere; limits with several periods and with
    /// none. The lanes have the bits of the plain search.
    #[test]
    fn lanes_equal_single_beams() {
        let modulation = Modulation::URG_04LX;
        let mut found = [0, 0];
        for combination in [Combination::Mean, Combination::FrequencySquared] {
            for limits in [[0.02, 5.6], [1.0, 60.0], [0.0, -3.0]] {
                let ambiguity = Ambiguity {
                    slack: 0.1,
                    gate: 0.15,
                    combination,
                };
                for step in 0..40 {
                    let at = |k: usize, lane: usize| {
                        let turns = 0.618 * (16 * step + lane) as f64 * (1.0 + 0.3 * k as f64);
                        modulation.ambiguities()[k] * turns.fract()
                    };
                    let wrapped = [0, 1].map(|k| from_fn(|lane| at(k, lane)));
                    let lanes = ambiguity.search_lanes(&modulation, &wrapped, limits);
                    for lane in 0..16 {
                        let own = wrapped.map(|all: [f64; 16]| all[lane]);
                        let plain = ambiguity.search(&modulation, own, limits);
                        let expected = plain.map(|one| (one.range, one.disagreement));
                        let disagreement = lanes.disagreement[lane];
                        let is_found = disagreement.is_finite();
                        assert_eq!(
                            expected,
                            is_found.then_some((lanes.range[lane], disagreement))
                        );
                        found[usize::from(is_found)] += 1;
                    }
                }
            }
        }
        assert!(found[0] > 1000 && found[1] > 2000, "{found:?}");
    }
}
