//! Random numbers that neighbours share.

use super::Address;
use super::correlation::REACH;
use super::draw::EVERY_SWEEP;
use crate::{Draws, Purpose};

/// The normal numbers of the last beams, and of what stands still those of all beams of a sweep, 131072 at
/// most. Neighbours' noise is made of the same numbers, and that of the next sweep of those that stand
/// still: with a memory of them each is drawn once. The results are the same whatever is in it.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// What changes from sweep to sweep.
    moving: Ring,
    /// What stands still.
    standing: Ring,
}

/// Beams whose numbers are drawn together, those of a block: four times as many as are wanted at once,
/// for each number takes long and many are made in the same time.
const TOGETHER: u32 = 64;

/// Neighbours that a beam shares numbers with.
const NEIGHBOURS: u32 = 3;
const _: () = assert!(NEIGHBOURS as usize + 1 == REACH);

/// Beams of a sweep whose standing numbers are kept, at most: two megabytes.
const MOST_KEPT: u32 = 1 << 17;

/// The numbers of the beam $i$ are at $i$ modulo the number of places.
#[derive(Clone, Debug, Default)]
struct Ring {
    /// What is in each block of places.
    blocks: Vec<Option<Block>>,
    /// Of the range, and of the drop-out.
    numbers: [Vec<f64>; 2],
}

/// Beams of one sweep that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    seed: u64,
    sensor: u32,
    sweep: u32,
    number: u32,
}

impl Recent {
    /// Two independent normal numbers of each of N beams, at most 64, from `first` on: of a sweep, or of
    /// every sweep.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub(super) fn pairs<const N: usize>(
        &mut self,
        address: &Address,
        sweep: u32,
        first: u32,
    ) -> [[f64; N]; 2] {
        const { assert!(N <= TOGETHER as usize) };
        let (ring, kept) = if sweep == EVERY_SWEEP {
            (
                &mut self.standing,
                address.beam.min(MOST_KEPT - 2 * TOGETHER),
            )
        } else {
            (&mut self.moving, 0)
        };
        ring.make_room(kept.max(NEIGHBOURS * address.stride) + TOGETHER);
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let lanes = N as u32;
        let number = first / TOGETHER;
        ring.fill(address, sweep, number);
        let last = first.wrapping_add(lanes - 1) / TOGETHER;
        if last != number {
            ring.fill(address, sweep, last);
        }
        ring.read(first)
    }
}

impl Ring {
    /// Room for the blocks of so many beams.
    #[inline]
    fn make_room(&mut self, beams: u32) {
        let blocks = (beams.div_ceil(TOGETHER) + 1).next_power_of_two();
        if self.blocks.len() < blocks as usize {
            self.blocks = vec![None; blocks as usize];
            let places = (blocks * TOGETHER) as usize;
            self.numbers = [vec![0.0; places], vec![0.0; places]];
        }
    }

    /// Draws the numbers of a block, if they are not there.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn fill(&mut self, address: &Address, sweep: u32, number: u32) {
        let block = Block {
            seed: address.seed,
            sensor: address.sensor,
            sweep,
            number,
        };
        let place = number as usize % self.blocks.len();
        if self.blocks[place] == Some(block) {
            return;
        }
        self.blocks[place] = Some(block);
        let mut beams = [number * TOGETHER; TOGETHER as usize];
        for (beam, lane) in beams.iter_mut().zip(0..) {
            *beam += lane;
        }
        let draws = Draws {
            seed: address.seed,
            sensor: address.sensor,
            sweep,
            purpose: Purpose::ProfileNoise,
        };
        let pairs = draws.normal_pairs(&beams);
        let from = place * TOGETHER as usize;
        for (numbers, drawn) in self.numbers.iter_mut().zip(&pairs) {
            numbers[from..from + TOGETHER as usize].copy_from_slice(drawn);
        }
    }

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn read<const N: usize>(&self, first: u32) -> [[f64; N]; 2] {
        let mut read = [[0.0; N]; 2];
        let places = self.numbers[0].len();
        let from = first as usize % places;
        for (read, numbers) in read.iter_mut().zip(&self.numbers) {
            if from + N <= places {
                read.copy_from_slice(&numbers[from..from + N]);
            } else {
                for (i, read) in read.iter_mut().enumerate() {
                    *read = numbers[(from + i) % places];
                }
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is in the memory, the numbers are those of the beam's own stream, also where the
    /// numbers of neighbours wrap round below zero.
    #[test]
    fn a_memory_changes_nothing() {
        let mut recent = Recent::default();
        let starts = [0, 1, 13, 48, 16, 500, 7, 3, 2].map(|beam: u32| beam.wrapping_sub(6));
        for (beam, stride) in starts.into_iter().zip([1, 3, 3, 3, 128, 128, 1, 3, 40]) {
            for sweep in [2, 3, EVERY_SWEEP] {
                let address = Address {
                    seed: 5,
                    sensor: 1,
                    sweep: 2,
                    beam,
                    stride,
                };
                let draws = Draws {
                    seed: 5,
                    sensor: 1,
                    sweep,
                    purpose: Purpose::ProfileNoise,
                };
                let found: [[f64; 16]; 2] = recent.pairs(&address, sweep, beam);
                let alone: [[f64; 1]; 2] = recent.pairs(&address, sweep, beam);
                assert_eq!([found[0][0], found[1][0]], alone.map(|one| one[0]));
                for (i, lane) in (0..16).enumerate() {
                    let plain = draws.stream(beam.wrapping_add(lane)).normal_pair();
                    assert_eq!([found[0][i], found[1][i]], plain);
                }
            }
        }
    }
}
