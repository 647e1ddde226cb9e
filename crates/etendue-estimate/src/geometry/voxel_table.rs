//! Hash table of voxels.

use etendue_simd::{Isa, Vectorized};
use nalgebra::Vector3;

/// Occupied voxels of a cubic grid, numbered in the order of their insertion: a hash table with open
/// addressing.
///
/// ```
/// use etendue_estimate::geometry::{VoxelTable, voxel_key};
/// use nalgebra::Vector3;
/// let mut table = VoxelTable::default();
/// let key = voxel_key(&Vector3::new(-0.1, 0.3, 0.0), 0.25);
/// assert_eq!(key, [-1, 1, 0]);
/// assert_eq!(table.insert(key), 0);
/// assert_eq!(table.insert([4, 5, 6]), 1);
/// assert_eq!(table.find(key), Some(0));
/// assert_eq!(table.find([0, 0, 0]), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct VoxelTable {
    /// A power of two of slots.
    slots: Vec<Slot>,
    /// Integer coordinates of the voxels.
    keys: Vec<[i32; 3]>,
}

/// Slot of the table: beside the number of its voxel is the key, so that a search reads one place.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: [i32; 3],
    /// Number of the voxel, or [`FREE`].
    number: u32,
}

/// Number in a free slot.
const FREE: u32 = u32::MAX;

const FREE_SLOT: Slot = Slot {
    key: [0; 3],
    number: FREE,
};

/// Multipliers of the hash function by axis, odd: the fractions of the golden ratio and of the square roots of 2 and 3 times 2^64
/// (multiplicative hashing, Knuth 1998, section 6.4).
const MIX: [u64; 3] = [
    0x9E37_79B9_7F4A_7C15,
    0x6A09_E667_F3BC_C909,
    0xBB67_AE85_84CA_A73B,
];

/// Integer coordinates of the voxel of side `size` (m) that contains a point.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated voxel is a voxel"
)]
pub fn voxel_key(point: &Vector3<f64>, size: f64) -> [i32; 3] {
    // The cast rounds towards zero; a call of `floor` costs more than the rest.
    let per_metre = 1.0 / size;
    [0, 1, 2].map(|i| {
        let at = point[i] * per_metre;
        let whole = at as i32;
        whole.saturating_sub(i32::from(f64::from(whole) > at))
    })
}

/// Number of points whose voxels are computed together.
pub(crate) const KEY_CHUNK: usize = 64;

/// The voxels of points, computed with vector instructions.
pub(crate) struct VoxelKeys {
    size: f64,
    isa: Isa,
    /// Coordinates of the points by axis, m.
    points: [[f64; KEY_CHUNK]; 3],
    keys: [[i32; KEY_CHUNK]; 3],
}

impl VoxelKeys {
    /// Voxels of side `size`, m.
    pub fn new(size: f64) -> Self {
        Self {
            size,
            isa: Isa::detect(),
            points: [[0.0; KEY_CHUNK]; 3],
            keys: [[0; KEY_CHUNK]; 3],
        }
    }

    /// Computes the voxels of at most [`KEY_CHUNK`] points.
    #[inline]
    pub fn compute(&mut self, points: impl Iterator<Item = Vector3<f64>>) {
        for (i, point) in points.enumerate() {
            for axis in 0..3 {
                self.points[axis][i] = point[axis];
            }
        }
        self.isa.run(Keys(self));
    }

    /// The point with a number, m.
    #[inline]
    pub fn point(&self, number: usize) -> Vector3<f64> {
        Vector3::from([0, 1, 2].map(|axis| self.points[axis][number]))
    }

    /// The voxel of the point with a number: its [`voxel_key`].
    #[inline]
    pub fn key(&self, number: usize) -> [i32; 3] {
        [0, 1, 2].map(|axis| self.keys[axis][number])
    }
}

/// Computation of the voxels of all points.
struct Keys<'k>(&'k mut VoxelKeys);

impl Vectorized for Keys<'_> {
    type Output = ();

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated voxel is a voxel"
    )]
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) {
        let per_metre = 1.0 / self.0.size;
        for (keys, points) in self.0.keys.iter_mut().zip(&self.0.points) {
            for (key, point) in keys.iter_mut().zip(points) {
                *key = (point * per_metre).floor() as i32;
            }
        }
    }
}

impl VoxelTable {
    /// Empty table that does not grow before it has a number of voxels.
    pub fn with_capacity(voxels: usize) -> Self {
        Self {
            slots: vec![FREE_SLOT; slots_for(voxels)],
            keys: Vec::with_capacity(voxels),
        }
    }

    /// Number of voxels.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no voxel.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Integer coordinates of the voxels, in the order of their numbers.
    pub fn keys(&self) -> &[[i32; 3]] {
        &self.keys
    }

    /// Number of the voxel with a key, which is added if it is new.
    #[inline]
    pub fn insert(&mut self, key: [i32; 3]) -> u32 {
        match self.find(key) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "voxels are numbered by u32"
            )]
            Some(number) => number as u32,
            None => self.add(key),
        }
    }

    /// Adds a voxel that is not in the table. Returns its number.
    #[cold]
    fn add(&mut self, key: [i32; 3]) -> u32 {
        if 4 * self.keys.len() >= self.slots.len() {
            self.grow();
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "voxels are numbered by u32"
        )]
        let number = self.keys.len() as u32;
        let at = self.slot(key);
        self.slots[at] = Slot { key, number };
        self.keys.push(key);
        number
    }

    /// Number of the voxel with a key.
    #[inline]
    pub fn find(&self, key: [i32; 3]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let number = self.slots[self.slot(key)].number;
        (number != FREE).then_some(number as usize)
    }

    /// Doubles the number of slots.
    fn grow(&mut self) {
        let slots = slots_for(2 * self.keys.len());
        self.slots.clear();
        self.slots.resize(slots, FREE_SLOT);
        for (number, key) in (0..).zip(&self.keys) {
            let at = self.slot(*key);
            self.slots[at] = Slot { key: *key, number };
        }
    }

    /// Slot of a key: occupied by it, or the first free one of its probe sequence.
    #[inline]
    fn slot(&self, key: [i32; 3]) -> usize {
        let mask = self.slots.len() - 1;
        let [x, y, z] = [0, 1, 2].map(|i| u64::from(key[i].cast_unsigned()).wrapping_mul(MIX[i]));
        let hash = x.wrapping_add(y).wrapping_add(z);
        let mut at = (hash >> 40) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.key == key || slot.number == FREE {
                return at;
            }
            at = (at + 1) & mask;
        }
    }
}

/// Number of slots for a number of voxels: at most a quarter are occupied, so that most searches read one.
fn slots_for(voxels: usize) -> usize {
    (4 * voxels + 2).next_power_of_two().max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voxels_of_many_points_are_those_of_each() {
        let coordinate = |i: usize| match i % 8 {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => 1e30,
            3 => -0.75,
            4 => 0.75,
            _ => 0.1 * i as f64 - 3.0,
        };
        let point = |i| Vector3::new(coordinate(i), coordinate(i / 2), coordinate(i / 3));
        for isa in Isa::available() {
            let mut keys = VoxelKeys::new(0.25);
            keys.isa = isa;
            for count in [KEY_CHUNK, 5] {
                keys.compute((0..count).map(point));
                for i in 0..count {
                    assert_eq!(keys.key(i), voxel_key(&point(i), 0.25), "{isa}");
                    assert_eq!(keys.point(i).x.to_bits(), point(i).x.to_bits());
                }
            }
        }
    }

    #[test]
    fn numbers_follow_the_order_of_insertion_while_the_table_grows() {
        let key = |i: i32| [i % 17 - 8, i / 17 - 40, -i];
        let mut table = VoxelTable::default();
        for number in 0..3000 {
            assert_eq!(table.insert(key(number)).cast_signed(), number);
        }
        for number in 0..3000 {
            assert_eq!(table.insert(key(number)).cast_signed(), number);
            assert_eq!(table.find(key(number)), usize::try_from(number).ok());
        }
        assert_eq!(table.len(), 3000);
        assert_eq!(table.find([0, 0, 1]), None);
    }
}
