//! Random numbers that neighbours share.

use super::Address;
use super::draw::EVERY_SWEEP;
use crate::{Draws, Purpose, Stream};

/// The normal numbers of the last beams. Neighbours' noise is made of the same numbers: with a
/// memory of them each is drawn once a beam, and the results are the same as without.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    seed: u64,
    sensor: u32,
    sweep: u32,
    beam: u32,
    pair: [f64; 2],
}

/// Beams whose numbers are drawn together.
const TOGETHER: u32 = 16;

/// Beams that share numbers.
const REACH: u32 = 4;
const _: () = assert!(REACH as usize == super::correlation::REACH);

impl Recent {
    /// A memory for beams that are drawn by ascending number and whose neighbours lie `stride`
    /// beams before them.
    pub fn new(stride: u32) -> Self {
        // One half for what changes from sweep to sweep, one for what stands still.
        let places = 2 * (REACH * stride.max(1) + TOGETHER).next_power_of_two();
        let nothing = Place {
            seed: 0,
            sensor: u32::MAX,
            sweep: 0,
            beam: 0,
            pair: [0.0; 2],
        };
        Self {
            places: vec![nothing; places as usize],
        }
    }

    /// Draws the numbers of sixteen beams at once, the first of which is that of `address`: sooner
    /// than one by one where all are wanted. Loops for the vector instructions of the caller.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn foresee(&mut self, address: &Address, standing: bool) {
        if self.places.is_empty() {
            return;
        }
        let sweeps = [address.sweep, EVERY_SWEEP];
        for &sweep in &sweeps[..=usize::from(standing)] {
            let draws = Draws {
                seed: address.seed,
                sensor: address.sensor,
                sweep,
                purpose: Purpose::ProfileNoise,
            };
            let mut beams = [address.beam; TOGETHER as usize];
            for (beam, lane) in beams.iter_mut().zip(0..) {
                *beam = beam.wrapping_add(lane);
            }
            let [first, second] = draws.normal_pairs(&beams);
            for (lane, beam) in beams.into_iter().enumerate() {
                let at = self.index(beam, sweep == address.sweep);
                self.places[at] = Place {
                    seed: address.seed,
                    sensor: address.sensor,
                    sweep,
                    beam,
                    pair: [first[lane], second[lane]],
                };
            }
        }
    }

    /// Where the numbers of a beam are: in one half what changes from sweep to sweep.
    fn index(&self, beam: u32, changes: bool) -> usize {
        let half = self.places.len() / 2;
        beam as usize % half + if changes { 0 } else { half }
    }

    /// Two independent normal numbers of a beam in a sweep.
    pub(super) fn pair(&mut self, address: &Address, sweep: u32, beam: u32) -> [f64; 2] {
        let draw = || {
            let (seed, sensor) = (address.seed, address.sensor);
            Stream::new(seed, sensor, sweep, beam, Purpose::ProfileNoise).normal_pair()
        };
        if self.places.is_empty() {
            return draw();
        }
        let at = self.index(beam, sweep == address.sweep);
        let place = &mut self.places[at];
        let is_it = place.beam == beam
            && place.sweep == sweep
            && place.seed == address.seed
            && place.sensor == address.sensor;
        if !is_it {
            *place = Place {
                seed: address.seed,
                sensor: address.sensor,
                sweep,
                beam,
                pair: draw(),
            };
        }
        place.pair
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_drawn_together_are_those_drawn_one_by_one() {
        let mut recent = Recent::new(3);
        let address = Address {
            seed: 5,
            sensor: 1,
            sweep: 2,
            beam: 48,
            stride: 3,
        };
        recent.foresee(&address, true);
        for sweep in [2, EVERY_SWEEP] {
            for beam in 48..64 {
                let place = recent.places[recent.index(beam, sweep == 2)];
                let plain = Recent::default().pair(&address, sweep, beam);
                assert_eq!((place.beam, place.sweep, place.pair), (beam, sweep, plain));
            }
        }
    }

    #[test]
    fn a_memory_changes_nothing() {
        let mut recent = Recent::new(3);
        for beam in (0..40).chain(7..20) {
            for sweep in [2, u32::MAX] {
                let address = Address {
                    seed: 5,
                    sensor: 1,
                    sweep: 2,
                    beam,
                    stride: 3,
                };
                for back in 0..4 {
                    let neighbour = beam.wrapping_sub(3 * back);
                    let plain = Recent::default().pair(&address, sweep, neighbour);
                    assert_eq!(recent.pair(&address, sweep, neighbour), plain);
                }
            }
        }
    }
}
