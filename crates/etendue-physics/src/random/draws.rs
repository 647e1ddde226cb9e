//! Random draws for many beams at once.
#![expect(
    clippy::inline_always,
    reason = "loops over many lanes, for the caller's instructions"
)]

use super::normal::box_muller;
use super::philox::philox4x32_10;
use super::stream::{Purpose, Stream, unit};

/// Random streams of the beams of one sweep for one purpose.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the sensor.
    pub sensor: u32,
    /// Index of the sweep.
    pub sweep: u32,
    /// Purpose of the draws.
    pub purpose: Purpose,
}

/// Number of streams in [`NormalPairs`].
pub(super) const TOGETHER: usize = 16;

/// Pairs of standard normal draws: all first elements, then all second elements.
pub type NormalPairs = [[f64; TOGETHER]; 2];

impl Draws {
    /// Stream of one beam.
    pub fn stream(&self, beam: u32) -> Stream {
        Stream::new(self.seed, self.sensor, self.sweep, beam, self.purpose)
    }

    /// The [`Stream::normal_pair`] with the index `pair` of each beam's stream, counted from 0: the same
    /// numbers as single draws, by vector instructions.
    ///
    /// ```
    /// use etendue_physics::{Draws, Purpose};
    /// let draws = Draws { seed: 1, sensor: 0, sweep: 3, purpose: Purpose::ReceiverNoise };
    /// let beams: [u32; 16] = std::array::from_fn(|i| 7 + i as u32);
    /// let [first, second] = draws.normal_pairs(&beams, 0);
    /// assert_eq!([first[2], second[2]], draws.stream(9).normal_pair());
    /// ```
    #[inline(always)]
    pub fn normal_pairs<const N: usize>(&self, beams: &[u32; N], pair: u32) -> [[f64; N]; 2] {
        let first = self.stream(0);
        let [place, _, sweep, sensor_and_purpose] = first.counter;
        // A pair takes the four numbers of one block.
        let place = place.wrapping_add(pair);
        let mut pairs = [[0.0; N]; 2];
        for i in 0..N {
            let [a, b, c, d] =
                philox4x32_10([place, beams[i], sweep, sensor_and_purpose], first.key);
            let [first, second] = box_muller(unit(a, b), unit(c, d));
            pairs[0][i] = first;
            pairs[1][i] = second;
        }
        pairs
    }

    /// The first [`Stream::normal`] of each beam's stream in a sweep of its own; [`Draws::sweep`] is not
    /// used.
    ///
    /// ```
    /// use etendue_physics::{Draws, Purpose, Stream};
    /// let draws = Draws { seed: 1, sensor: 2, sweep: 0, purpose: Purpose::BeamPattern };
    /// let normals = draws.normals_of_sweeps(&[7, 8], &[3, 4]);
    /// assert_eq!(normals[1], Stream::new(1, 2, 4, 8, Purpose::BeamPattern).normal());
    /// ```
    #[inline(always)]
    pub fn normals_of_sweeps<const N: usize>(
        &self,
        beams: &[u32; N],
        sweeps: &[u32; N],
    ) -> [f64; N] {
        let first = self.stream(0);
        let [place, _, _, sensor_and_purpose] = first.counter;
        let mut normals = [0.0; N];
        for i in 0..N {
            let counter = [place, beams[i], sweeps[i], sensor_and_purpose];
            let [a, b, c, d] = philox4x32_10(counter, first.key);
            normals[i] = box_muller(unit(a, b), unit(c, d))[0];
        }
        normals
    }

    /// The first [`Stream::uniform`] of each beam's stream.
    #[inline(always)]
    pub fn uniforms<const N: usize>(&self, beams: &[u32; N]) -> [f64; N] {
        let first = self.stream(0);
        let [place, _, sweep, sensor_and_purpose] = first.counter;
        let mut draws = [0.0; N];
        for i in 0..N {
            let [a, b, ..] = philox4x32_10([place, beams[i], sweep, sensor_and_purpose], first.key);
            draws[i] = unit(a, b);
        }
        draws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_draws_equals_single_draws() {
        let draws = Draws {
            seed: 3 << 33,
            sensor: 5,
            sweep: 2,
            purpose: Purpose::ReceiverNoise,
        };
        for start in 0..100_u16 {
            let mut beams = [0; TOGETHER];
            for (beam, number) in beams.iter_mut().zip(start..) {
                *beam = u32::from(number) * 1009;
            }
            let pairs = [0, 1, 2].map(|pair| draws.normal_pairs(&beams, pair));
            for (i, beam) in beams.iter().enumerate() {
                let mut stream = draws.stream(*beam);
                for [first, second] in &pairs {
                    assert_eq!([first[i], second[i]], stream.normal_pair());
                }
                assert_eq!(draws.uniforms(&beams)[i], draws.stream(*beam).uniform());
            }
        }
    }
}
