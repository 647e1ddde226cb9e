//! Cache of the random numbers that neighbouring beams share.

use super::correlation::Correlation;
use super::draw::{BeamAddress, FIXED_PATTERN_SWEEP};
use crate::random::REACH;
use crate::{Draws, MovingAverage, Purpose};

/// Cache of the random numbers of noise profiles: standard normal numbers of recently drawn beams, and
/// moving averages of the fixed-pattern noise of up to 131072 beams of a sweep.
///
/// The noise of neighbouring beams consists of moving averages over the same numbers, and fixed-pattern
/// noise is the same in all sweeps: each number is drawn once. Results do not depend on the content of the
/// cache.
#[derive(Clone, Debug, Default)]
pub struct NoiseCache {
    /// Numbers of the temporal noise.
    temporal: BeamRing<f64>,
    /// Numbers of the fixed-pattern noise.
    fixed_pattern: BeamRing<f64>,
    /// Moving averages of the fixed-pattern noise, by weights and stride.
    averages: Vec<FixedPatternAverage>,
}

/// Number of beams in a block, whose numbers are drawn together. It is at least that of a batch; many
/// independent numbers hide the latency of the generator.
const BLOCK_BEAMS: u32 = 64;
const BLOCK: usize = BLOCK_BEAMS as usize;

/// Number of preceding beams in a moving average.
const NEIGHBOURS: u32 = 3;
const _: () = assert!(NEIGHBOURS as usize + 1 == REACH);

/// Maximum number of beams of a sweep whose fixed-pattern averages are cached (1 MiB).
const MOST_KEPT: u32 = 1 << 17;

/// Maximum number of combinations of weights and stride that are cached.
const MOST_AVERAGES: usize = 16;

/// Moving averages of the fixed-pattern noise, in single precision to halve the memory traffic of each
/// sweep.
#[derive(Clone, Debug)]
struct FixedPatternAverage {
    weights: MovingAverage,
    stride: u32,
    ring: BeamRing<f32>,
}

/// A ring buffer of two numbers per beam. Beam $i$ is at index $i$ modulo the capacity, a power of two;
/// the first block is repeated after the last, so that a batch is contiguous at every index.
#[derive(Clone, Debug, Default)]
struct BeamRing<T> {
    /// Identity of each stored block.
    blocks: Vec<Option<BlockIdentity>>,
    /// Numbers for the range, and for the drop-out.
    numbers: [Vec<T>; 2],
}

/// Identity of a block of consecutive beams of one sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BlockIdentity {
    seed: u64,
    sensor: u32,
    sweep: u32,
    number: u32,
}

impl NoiseCache {
    /// Two independent standard normal numbers of temporal noise for each of N consecutive beams, at
    /// most 64, starting with the beam of the address: moving averages over each beam and its
    /// neighbours.
    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    pub(super) fn temporal<const N: usize>(
        &mut self,
        first: &BeamAddress,
        correlation: &Correlation,
    ) -> [[f64; N]; 2] {
        self.temporal.average(first, correlation.temporal_weights())
    }

    /// [`NoiseCache::temporal`] for fixed-pattern noise, in single precision.
    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    pub(super) fn fixed_pattern<const N: usize>(
        &mut self,
        first: &BeamAddress,
        correlation: &Correlation,
    ) -> [&[f32; N]; 2] {
        // Find the averages and make room for the beams.
        let weights = correlation.fixed_pattern_weights();
        let place = self.place(weights, first.stride);
        let averages = &mut self.averages[place].ring;
        averages.make_room(first.beam.min(MOST_KEPT - 2 * BLOCK_BEAMS) + BLOCK_BEAMS);
        // Compute the blocks that are not cached.
        let first = BeamAddress {
            sweep: FIXED_PATTERN_SWEEP,
            ..*first
        };
        for block in blocks::<N>(&first) {
            if !averages.has(&block) {
                let begin = BeamAddress {
                    beam: block.number * BLOCK_BEAMS,
                    ..first
                };
                let found = self.fixed_pattern.average::<BLOCK>(&begin, weights);
                averages.set(&block, &to_24_bits(&found));
            }
        }
        averages.read(first.beam)
    }

    /// Index of the averages for a combination of weights and stride.
    #[expect(clippy::inline_always, reason = "a few instructions")]
    #[inline(always)]
    fn place(&mut self, weights: &MovingAverage, stride: u32) -> usize {
        for (place, one) in self.averages.iter().enumerate() {
            if one.stride == stride && one.weights == *weights {
                return place;
            }
        }
        self.begin(weights, stride)
    }

    /// Adds empty averages for a combination of weights and stride; returns their index.
    #[cold]
    fn begin(&mut self, weights: &MovingAverage, stride: u32) -> usize {
        if self.averages.len() == MOST_AVERAGES {
            self.averages.remove(0);
        }
        self.averages.push(FixedPatternAverage {
            weights: *weights,
            stride,
            ring: BeamRing::default(),
        });
        self.averages.len() - 1
    }
}

/// The numbers rounded to single precision.
#[expect(
    clippy::inline_always,
    reason = "compiled for the caller's target features"
)]
#[expect(clippy::cast_possible_truncation, reason = "rounded")]
#[inline(always)]
fn to_24_bits<const N: usize>(values: &[[f64; N]; 2]) -> [[f32; N]; 2] {
    let mut rounded = [[0.0; N]; 2];
    for (rounded, values) in rounded.iter_mut().zip(values) {
        for i in 0..N {
            rounded[i] = values[i] as f32;
        }
    }
    rounded
}

/// The first and the last block of N consecutive beams.
#[expect(clippy::inline_always, reason = "a few instructions")]
#[inline(always)]
fn blocks<const N: usize>(first: &BeamAddress) -> [BlockIdentity; 2] {
    const { assert!(0 < N && N <= BLOCK) };
    #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
    let last = first.beam.wrapping_add(N as u32 - 1);
    let of = |beam: u32| BlockIdentity {
        seed: first.seed,
        sensor: first.sensor,
        sweep: first.sweep,
        number: beam / BLOCK_BEAMS,
    };
    [of(first.beam), of(last)]
}

impl<T: Copy + Default> BeamRing<T> {
    /// Makes room for the blocks of a number of beams.
    #[expect(clippy::inline_always, reason = "a few instructions")]
    #[inline(always)]
    fn make_room(&mut self, beams: u32) {
        let blocks = beams.div_ceil(BLOCK_BEAMS) as usize + 1;
        if self.blocks.len() < blocks {
            self.grow(blocks);
        }
    }

    #[cold]
    fn grow(&mut self, blocks: usize) {
        let blocks = blocks.next_power_of_two();
        self.blocks = vec![None; blocks];
        let places = (blocks + 1) * BLOCK;
        self.numbers = [vec![T::default(); places], vec![T::default(); places]];
    }

    #[expect(clippy::inline_always, reason = "a few instructions")]
    #[inline(always)]
    fn place(&self, block: &BlockIdentity) -> usize {
        block.number as usize & (self.blocks.len() - 1)
    }

    #[expect(clippy::inline_always, reason = "a few instructions")]
    #[inline(always)]
    fn has(&self, block: &BlockIdentity) -> bool {
        self.blocks[self.place(block)] == Some(*block)
    }

    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    fn set(&mut self, block: &BlockIdentity, values: &[[T; BLOCK]; 2]) {
        let place = self.place(block);
        self.blocks[place] = Some(*block);
        let from = place * BLOCK;
        let end = self.blocks.len() * BLOCK;
        for (numbers, values) in self.numbers.iter_mut().zip(values) {
            numbers[from..from + BLOCK].copy_from_slice(values);
            if place == 0 {
                numbers[end..end + BLOCK].copy_from_slice(values);
            }
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    fn read<const N: usize>(&self, first: u32) -> [&[T; N]; 2] {
        let from = first as usize & (self.blocks.len() * BLOCK - 1);
        let [range, drop] = &self.numbers;
        [chunk(range, from), chunk(drop, from)]
    }
}

impl BeamRing<f64> {
    /// Moving averages over N beams and their neighbours; draws the numbers that are not cached.
    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    fn average<const N: usize>(
        &mut self,
        first: &BeamAddress,
        weights: &MovingAverage,
    ) -> [[f64; N]; 2] {
        self.make_room(NEIGHBOURS * first.stride + BLOCK_BEAMS);
        let mut sums = [[0.0; N]; 2];
        for (back, weight) in (0..).zip(weights.weights()) {
            let neighbours = BeamAddress {
                beam: first.beam.wrapping_sub(back * first.stride),
                ..*first
            };
            for block in blocks::<N>(&neighbours) {
                self.draw(&block);
            }
            let [range, drop] = self.read::<N>(neighbours.beam);
            for i in 0..N {
                sums[0][i] += weight * range[i];
                sums[1][i] += weight * drop[i];
            }
        }
        sums
    }

    /// Draws the numbers of a block unless they are cached.
    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    fn draw(&mut self, block: &BlockIdentity) {
        if self.has(block) {
            return;
        }
        let mut beams = [block.number * BLOCK_BEAMS; BLOCK];
        for (beam, offset) in beams.iter_mut().zip(0..) {
            *beam += offset;
        }
        let draws = Draws {
            seed: block.seed,
            sensor: block.sensor,
            sweep: block.sweep,
            purpose: Purpose::ProfileNoise,
        };
        self.set(block, &draws.normal_pairs(&beams, 0));
    }
}

#[expect(clippy::inline_always, reason = "a few instructions")]
#[inline(always)]
fn chunk<T, const N: usize>(numbers: &[T], from: usize) -> &[T; N] {
    numbers[from..]
        .first_chunk()
        .expect("the first block is repeated after the last")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of the beams' own streams, whatever the content of the cache, also where
    /// the indices of neighbours wrap below zero.
    #[test]
    fn the_cache_does_not_change_results() {
        let mut noise_cache = NoiseCache::default();
        let starts = [0, 1, 13, 48, 16, 500, 7, 3, 2].map(|beam: u32| beam.wrapping_sub(6));
        let places = starts.into_iter().zip([1, 3, 3, 3, 128, 128, 1, 3, 40]);
        for (beam, stride) in places {
            for correlation in [0.0, 0.3, 0.7].map(|one| Correlation::new(one, 0.2, 0.1)) {
                let first = BeamAddress {
                    seed: 5,
                    sensor: 1,
                    sweep: 2,
                    beam,
                    stride,
                };
                // Temporal noise, of sixteen beams and of one.
                let temporal = noise_cache.temporal::<16>(&first, &correlation);
                assert_eq!(temporal, plain(&first, correlation.temporal_weights()));
                let [[range], [drop]] = noise_cache.temporal::<1>(&first, &correlation);
                assert_eq!([range, drop], [temporal[0][0], temporal[1][0]]);
                // Fixed-pattern noise, rounded to 24 bits.
                let fixed_pattern = noise_cache.fixed_pattern::<16>(&first, &correlation);
                let fixed_pattern = fixed_pattern.map(|all| all.map(f64::from));
                let every_sweep = BeamAddress {
                    sweep: FIXED_PATTERN_SWEEP,
                    ..first
                };
                let expected = plain(&every_sweep, correlation.fixed_pattern_weights());
                let expected = to_24_bits(&expected).map(|all| all.map(f64::from));
                assert_eq!(fixed_pattern, expected);
            }
        }
    }

    /// The same numbers drawn beam by beam.
    fn plain(first: &BeamAddress, weights: &MovingAverage) -> [[f64; 16]; 2] {
        let draws = Draws {
            seed: first.seed,
            sensor: first.sensor,
            sweep: first.sweep,
            purpose: Purpose::ProfileNoise,
        };
        let mut sums = [[0.0; 16]; 2];
        for (i, offset) in (0..16).enumerate() {
            for (back, weight) in (0..).zip(weights.weights()) {
                let number = first.beam.wrapping_add(offset);
                let neighbour = number.wrapping_sub(back * first.stride);
                let [range, drop] = draws.stream(neighbour).normal_pair();
                sums[0][i] += weight * range;
                sums[1][i] += weight * drop;
            }
        }
        sums
    }
}
