//! Ranges of sixteen signals without noise, with their derivatives.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::PhaseReceiver;
use crate::lidar::range_limits::RangeLimits;
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use etendue_physics::phase::Phasor;
use etendue_physics::{Dual, DualParts};
use std::f64::consts::TAU;

/// Ranges of sixteen signals.
pub(in crate::lidar) struct RangeLanes<S: LaneScalar> {
    /// The ranges, m.
    pub range: S::Tile,
    /// Whether each signal has one; the others are unspecified.
    pub found: [bool; 16],
}

impl PhaseReceiver {
    /// [`PhaseReceiver::measure`] for sixteen signals, by a receiver without noise: the values are equal bit for
    /// bit, the derivatives up to rounding.
    ///
    /// The range $\sum_k w_k\,\frac{\Lambda_k}{2\pi}(\varphi_k - b) - r$ of both phases $\varphi_k$, with the
    /// ambiguities $\Lambda_k$, the weights $w_k$ of the combination and the biases $b$ and $r$, is
    /// differentiated by the phasors and the power: $\mathrm{d}\varphi = (x\,\mathrm{d}y - y\,\mathrm{d}x)/(x^2 + y^2)$.
    #[inline(always)]
    pub(in crate::lidar) fn measure_lanes<S: LaneScalar>(
        &self,
        received: &PhaseSignalTile<S>,
        limits: &RangeLimits,
    ) -> RangeLanes<S> {
        let [first, second] = &received.waves;
        let waves = [first, second].map(|wave| [wave.re.values(), wave.im.values()]);
        let power = received.power.values();
        // Check the power and the amplitudes.
        let mut found = [false; 16];
        let mut squares = [[0.0; 16]; 2];
        for i in 0..16 {
            for k in 0..2 {
                let [re, im] = waves[k].map(|part| part[i]);
                squares[k][i] = re * re + im * im;
            }
            let [a, b] = [squares[0][i].sqrt(), squares[1][i].sqrt()];
            let amplitude = a.min(b);
            let is_strong = self.gain.at(power[i]) * power[i] > 1.0;
            let is_weak =
                amplitude <= 0.0 || amplitude < self.detectable || amplitude < self.sufficient;
            found[i] = power[i] > 0.0 && !is_strong && !is_weak;
        }
        // Convert the phases to wrapped ranges.
        let bias = self.bias.map(Dual::<1>::from);
        let mut biases = [[Dual::<1>::from(0.0); 16]; 2];
        let mut wrapped = [[0.0; 16]; 2];
        for i in 0..16 {
            let power = Dual::variable(power[i], 0);
            [biases[0][i], biases[1][i]] = [bias.phase(power), bias.range(power)];
            let phase = |k: usize| {
                let [re, im] = waves[k].map(|part| part[i]);
                Phasor { re, im }.phase() - biases[0][i].re
            };
            let own = self.modulation.wrapped_ranges([phase(0), phase(1)]);
            [wrapped[0][i], wrapped[1][i]] = own;
        }
        // Unwrap them, subtract the bias, and apply the limits.
        let range_limits = [limits.near, limits.far];
        let resolved = (self.ambiguity).search_lanes(&self.modulation, &wrapped, range_limits);
        let mut range = [0.0; 16];
        for i in 0..16 {
            range[i] = resolved.range[i] - biases[1][i].re;
            found[i] &= resolved.disagreement[i] <= self.ambiguity.gate
                && range[i] >= limits.near
                && range[i] <= limits.far;
        }
        // Differentiate by the phasors and the power.
        let weights = self.ambiguity.combination.weights(&self.modulation);
        let ambiguities = self.modulation.ambiguities();
        let mut by_waves = [[[0.0; 16]; 2]; 2];
        let mut by_power = [0.0; 16];
        for i in 0..16 {
            by_power[i] = -biases[1][i].eps[0];
            for k in 0..2 {
                let by_phase = weights[k] * ambiguities[k] / TAU;
                let [re, im] = waves[k].map(|part| part[i]);
                by_waves[k][0][i] = -im * by_phase / squares[k][i];
                by_waves[k][1][i] = re * by_phase / squares[k][i];
                by_power[i] -= by_phase * biases[0][i].eps[0];
            }
        }
        let parts = [
            (&first.re, &by_waves[0][0]),
            (&first.im, &by_waves[0][1]),
            (&second.re, &by_waves[1][0]),
            (&second.im, &by_waves[1][1]),
            (&received.power, &by_power),
        ];
        RangeLanes {
            range: S::Tile::chained(range, parts),
            found,
        }
    }
}
