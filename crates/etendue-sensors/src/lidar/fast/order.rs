//! The order in which rays are cast.

use crate::lidar::shot::Shot;
use etendue_scene::tile_order;

/// Rays in a tile.
const TILE: usize = 16;

/// The order in which the rays of some shots are cast: neighbours together, whatever the order of
/// firing.
#[derive(Clone, Default)]
pub(in crate::lidar) struct CastOrder {
    /// The shots in that order.
    shots: Vec<usize>,
    /// The place of each shot in it.
    places: Vec<usize>,
    /// Whether each four that are cast after each other are fired after each other, too.
    by_fours: bool,
}

/// [`CastOrder`] of a batch.
#[derive(Clone, Copy)]
pub(in crate::lidar) struct Order<'a> {
    pub shots: &'a [usize],
    pub places: &'a [usize],
    pub by_fours: bool,
}

impl CastOrder {
    pub fn new(shots: &[Shot]) -> Self {
        let directions: Vec<_> = shots.iter().map(Shot::direction).collect();
        Self::of(tile_order(&directions))
    }

    fn of(shots: Vec<usize>) -> Self {
        let mut places = vec![0; shots.len()];
        for (place, shot) in shots.iter().enumerate() {
            places[*shot] = place;
        }
        let in_turn =
            |four: &[usize]| four.len() == 4 && (four[0]..four[0] + 4).eq(four.iter().copied());
        Self {
            by_fours: shots.chunks(4).all(in_turn),
            shots,
            places,
        }
    }

    /// The order of `times` copies of the shots, tile by tile: the copies of a tile follow each other,
    /// because they are neighbours.
    pub fn repeated(&self, times: usize) -> Self {
        let count = self.shots.len();
        let mut shots = Vec::with_capacity(times * count);
        for tile in self.shots.chunks(TILE) {
            for turn in 0..times {
                shots.extend(tile.iter().map(|shot| turn * count + shot));
            }
        }
        Self::of(shots)
    }

    pub fn shots(&self) -> &[usize] {
        &self.shots
    }

    pub fn all(&self) -> Order<'_> {
        Order {
            shots: &self.shots,
            places: &self.places,
            by_fours: self.by_fours,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copies_of_a_tile_follow_each_other() {
        let once = CastOrder::of((0..32).rev().collect());
        let twice = once.repeated(2);
        let order = twice.all();
        assert!(order.shots[..16].iter().eq(&once.shots[..16]));
        assert!(order.shots[16..32].iter().copied().eq((48..64).rev()));
        let placed = order.places.iter().map(|place| order.shots[*place]);
        assert!(placed.eq(0..64));
    }
}
