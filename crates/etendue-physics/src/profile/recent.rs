//! Random numbers that neighbours share.

use super::Address;
use crate::{Purpose, Stream};

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

/// Beams that share numbers.
const REACH: u32 = 4;
const _: () = assert!(REACH as usize == super::correlation::REACH);

impl Recent {
    /// A memory for beams that are drawn by ascending number and whose neighbours lie `stride`
    /// beams before them.
    pub fn new(stride: u32) -> Self {
        // One half for what changes from sweep to sweep, one for what stands still.
        let places = 2 * (REACH * stride.max(1)).next_power_of_two();
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

    /// Two independent normal numbers of a beam in a sweep.
    pub(super) fn pair(&mut self, address: &Address, sweep: u32, beam: u32) -> [f64; 2] {
        let draw = || {
            let (seed, sensor) = (address.seed, address.sensor);
            Stream::new(seed, sensor, sweep, beam, Purpose::ProfileNoise).normal_pair()
        };
        if self.places.is_empty() {
            return draw();
        }
        let half = self.places.len() / 2;
        let at = beam as usize % half + if sweep == address.sweep { 0 } else { half };
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
