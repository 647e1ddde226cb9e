//! Phase signals of sixteen beams.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use crate::scalar_tile::{LaneScalar, ScalarTile};
use etendue_physics::phase::{Modulation, PhaseSignal, Phasor};

/// Light of sixteen beams at a phase receiver: a [`PhaseSignal`] per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseSignalTile<S: LaneScalar> {
    /// Received wave at each modulation frequency, 1/(m² sr).
    pub waves: [Phasor<S::Tile>; 2],
    /// Total power of all returns, 1/(m² sr).
    pub power: S::Tile,
}

impl<S: LaneScalar> PhaseSignalTile<S> {
    /// No light.
    #[inline(always)]
    pub fn nothing() -> Self {
        let zero = S::Tile::plain([0.0; 16]);
        Self {
            waves: [Phasor { re: zero, im: zero }; 2],
            power: zero,
        }
    }

    /// Removes all light.
    #[inline(always)]
    pub fn clear(&mut self) {
        for wave in &mut self.waves {
            wave.re.fill(S::zero());
            wave.im.fill(S::zero());
        }
        self.power.fill(S::zero());
    }

    /// Adds a return to each beam, as [`PhaseSignal::add`]: half the optical path (m, any finite number where
    /// the power is zero) and the power.
    #[inline(always)]
    pub fn add(&mut self, modulation: &Modulation, half_path: &S::Tile, power: &S::Tile) {
        // Evaluate the base wave at the range of each lane.
        let turns_per_metre = modulation.turns_per_metre();
        let mut base = [[0.0; 16]; 2];
        for i in 0..16 {
            let wave = Modulation::wave(half_path.values()[i] * turns_per_metre);
            [base[0][i], base[1][i]] = [wave.re, wave.im];
        }

        // Add its powers, the modulation frequencies, with derivatives.
        let values = power.values();
        for (k, sum) in self.waves.iter_mut().enumerate() {
            let slope = modulation.phase_per_metre(k);
            let wave = powers(&base, modulation.multiples[k]);
            let [re, im] = &wave;
            let [mut real, mut imaginary] = [[0.0; 16]; 2];
            let [mut re_slope, mut im_slope] = [[0.0; 16]; 2];
            for i in 0..16 {
                real[i] = values[i] * re[i];
                imaginary[i] = values[i] * im[i];
                re_slope[i] = -slope * imaginary[i];
                im_slope[i] = slope * real[i];
            }
            sum.re.add(&real, [(power, re), (half_path, &re_slope)]);
            (sum.im).add(&imaginary, [(power, im), (half_path, &im_slope)]);
        }
        self.power.add(values, [(power, &[1.0; 16])]);
    }

    /// The signal of one beam.
    #[inline]
    pub fn lane(&self, lane: usize) -> PhaseSignal<S> {
        let [first, second] = &self.waves;
        let phasor = |wave: &Phasor<S::Tile>| Phasor {
            re: wave.re.lane(lane),
            im: wave.im.lane(lane),
        };
        PhaseSignal {
            waves: [phasor(first), phasor(second)],
            power: self.power.lane(lane),
            background: 0.0,
        }
    }
}

/// Complex power of each lane, as [`Phasor::power`].
#[inline(always)]
fn powers(base: &[[f64; 16]; 2], exponent: u32) -> [[f64; 16]; 2] {
    let mut power = *base;
    for bit in (0..exponent.ilog2()).rev() {
        power = complex_product(&power, &power);
        if exponent & (1 << bit) != 0 {
            power = complex_product(&power, base);
        }
    }
    power
}

/// Complex product of each lane.
#[inline(always)]
fn complex_product(a: &[[f64; 16]; 2], b: &[[f64; 16]; 2]) -> [[f64; 16]; 2] {
    let mut out = [[0.0; 16]; 2];
    for i in 0..16 {
        out[0][i] = a[0][i] * b[0][i] - a[1][i] * b[1][i];
        out[1][i] = a[0][i] * b[1][i] + a[1][i] * b[0][i];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Dual, DualParts};

    /// The values of each lane are those of a single beam, bit for bit, and the derivatives within rounding
    /// of 1e-15.
    #[test]
    fn lanes_equal_single_beams() {
        let modulation = Modulation::URG_04LX;
        let mut tile = PhaseSignalTile::<Dual<2>>::nothing();
        let mut beams = [PhaseSignal::<Dual<2>>::nothing(); 16];
        for pass in 0..3 {
            let [mut ranges, mut powers] = [ScalarTile::<Dual<2>>::plain([0.0; 16]); 2];
            for (lane, beam) in beams.iter_mut().enumerate() {
                let range = Dual::variable(0.3 + 0.37 * lane as f64 + 0.01 * f64::from(pass), 0);
                let power = Dual::variable(0.1, 1) / (range * range);
                beam.add(&modulation, range, power);
                <_ as ScalarTile<Dual<2>>>::put(&mut ranges, lane, range);
                <_ as ScalarTile<Dual<2>>>::put(&mut powers, lane, power);
            }
            tile.add(&modulation, &ranges, &powers);
        }
        let parts = |received: &PhaseSignal<Dual<2>>| {
            let [a, b] = received.waves;
            [a.re, a.im, b.re, b.im, received.power]
        };
        for (lane, beam) in beams.iter().enumerate() {
            for (lanes, single) in parts(&tile.lane(lane)).into_iter().zip(parts(beam)) {
                assert_eq!(lanes.re.to_bits(), single.re.to_bits(), "{lane}");
                for (lanes, single) in lanes.eps.into_iter().zip(single.eps) {
                    let apart = (lanes - single).abs() / (1.0 + single.abs());
                    assert!(apart < 1e-15, "{lane}: {apart:e}");
                }
            }
        }
    }
}
