//! Cast order: a permutation of shots that makes the rays of a tile coherent.

use crate::lidar::shot::Shot;
use etendue_scene::tile_order;

/// Rays in a tile.
const TILE: usize = 16;

/// The order in which the rays of a batch of shots are cast: shots of similar direction are adjacent,
/// regardless of their firing order.
#[derive(Clone, Default)]
pub(in crate::lidar) struct CastOrder {
    /// Indices of the shots, in cast order.
    shots: Vec<usize>,
    /// Position of each shot in the cast order: the inverse permutation.
    places: Vec<usize>,
    /// Whether each group of four in cast order is four consecutive shots.
    has_runs_of_four: bool,
}

/// A borrowed [`CastOrder`].
#[derive(Clone, Copy)]
pub(in crate::lidar) struct Order<'a> {
    pub shots: &'a [usize],
    pub places: &'a [usize],
    pub has_runs_of_four: bool,
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
        let is_run_of_four =
            |four: &[usize]| four.len() == 4 && (four[0]..four[0] + 4).eq(four.iter().copied());
        Self {
            has_runs_of_four: shots.chunks(4).all(is_run_of_four),
            shots,
            places,
        }
    }

    /// The order of `times` rotated copies of the shots. The copies of a tile are adjacent, because their
    /// directions are similar.
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
            has_runs_of_four: self.has_runs_of_four,
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
