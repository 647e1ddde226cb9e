//! Tables of the occupied cells of a grid, by blocks.

use super::VoxelTable;

/// Values of the occupied blocks of cells of a cubic grid.
pub(crate) struct BlockTable<T> {
    /// Occupied blocks.
    blocks: VoxelTable,
    values: Vec<T>,
}

/// Occupied cells of a cubic grid, numbered in the order of their insertion. Blocks of cells are in a hash table: the 27 cells
/// around one are in at most eight blocks.
#[derive(Default)]
pub(crate) struct CellTable {
    /// Cells of each block.
    blocks: BlockTable<BlockCells>,
    /// Integer coordinates of the cells.
    keys: Vec<[i32; 3]>,
}

/// Cells of a block.
struct BlockCells {
    /// Bit of each occupied place.
    occupied: u64,
    /// Number of the cell at each occupied place.
    numbers: [u32; CELLS],
}

/// Number of positions without a cell.
pub(super) const NO_CELL: u32 = u32::MAX;

/// Binary logarithm of the number of cells along the side of a block.
const SIDE_BITS: u32 = 2;

/// Number of cells along the side of a block.
pub(crate) const CELLS_PER_SIDE: i32 = 1 << SIDE_BITS;

/// Part of a coordinate that is the place in a block.
const SIDE_MASK: i32 = (1 << SIDE_BITS) - 1;

/// Number of cells of a block.
pub(crate) const CELLS: usize = 1 << (3 * SIDE_BITS);

impl<T> Default for BlockTable<T> {
    fn default() -> Self {
        Self {
            blocks: VoxelTable::default(),
            values: Vec::new(),
        }
    }
}

impl<T> BlockTable<T> {
    /// Value of the block of a cell, which is added if it is new.
    #[inline]
    pub fn insert(&mut self, key: [i32; 3], new: impl FnOnce() -> T) -> &mut T {
        let number = self.blocks.insert(block_of(key)) as usize;
        if number == self.values.len() {
            self.values.push(new());
        }
        &mut self.values[number]
    }

    /// Value of a block.
    fn find(&self, block: [i32; 3]) -> Option<&T> {
        Some(&self.values[self.blocks.find(block)?])
    }
}

impl CellTable {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Integer coordinates of the cells, in the order of their numbers.
    pub fn keys(&self) -> &[[i32; 3]] {
        &self.keys
    }

    /// Number of the cell with a key, which is added if it is new.
    pub fn insert(&mut self, key: [i32; 3]) -> u32 {
        let block = self.blocks.insert(key, || BlockCells {
            occupied: 0,
            numbers: [NO_CELL; CELLS],
        });
        let place = place_of(key);
        if block.occupied >> place & 1 == 0 {
            #[expect(clippy::cast_possible_truncation, reason = "cells are numbered by u32")]
            let next = self.keys.len() as u32;
            block.occupied |= 1 << place;
            block.numbers[place] = next;
            self.keys.push(key);
        }
        block.numbers[place]
    }

    /// Number of the cell with a key.
    pub fn find(&self, key: [i32; 3]) -> Option<usize> {
        let block = self.blocks.find(block_of(key))?;
        let place = place_of(key);
        (block.occupied >> place & 1 == 1).then(|| block.numbers[place] as usize)
    }

    /// Calls a function for the numbers of the cells of a block.
    pub fn visit_block(&self, block: [i32; 3], function: impl FnMut(usize)) {
        if let Some(found) = self.blocks.find(block) {
            found.visit(u64::MAX, function);
        }
    }

    /// Calls a function for the numbers of the occupied cells of a box, which contains its least and its largest key.
    pub fn visit_box(&self, least: [i32; 3], largest: [i32; 3], mut function: impl FnMut(usize)) {
        let [first, last] = [least, largest].map(block_of);
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in first[0]..=last[0] {
                    let block = [x, y, z];
                    if let Some(found) = self.blocks.find(block) {
                        found.visit(places_in(block, least, largest), &mut function);
                    }
                }
            }
        }
    }

    /// Calls a function for the numbers of the occupied cells among one and its 26 neighbours, by blocks.
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    pub fn visit_around(&self, key: [i32; 3], mut function: impl FnMut(usize)) {
        let block = block_of(key);
        let towards = key.map(|k| if k & SIDE_MASK == 0 { -1 } else { 1 });
        // Blocks of the cell and of its neighbours: bit i of their number is set where the block along axis i is another one
        for (bits, near) in (0..).zip(&AROUND[place_of(key)]) {
            if *near == 0 {
                continue;
            }
            let step = |axis: usize| (bits >> axis & 1) * towards[axis];
            let Some(found) = self.blocks.find([0, 1, 2].map(|i| block[i] + step(i))) else {
                continue;
            };
            found.visit(*near, &mut function);
        }
    }
}

impl BlockCells {
    /// Calls a function for the numbers of the cells at the places of a set of bits.
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn visit(&self, places: u64, mut function: impl FnMut(usize)) {
        let mut places = places & self.occupied;
        while places != 0 {
            function(self.numbers[places.trailing_zeros() as usize] as usize);
            places &= places - 1;
        }
    }
}

/// A cell at each place and its neighbours: their places in the eight blocks of [`CellTable::visit_around`], as bits.
static AROUND: [[u64; 8]; CELLS] = near_cells();

/// [`AROUND`].
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "places and numbers of blocks are below 64"
)]
const fn near_cells() -> [[u64; 8]; CELLS] {
    let mut around = [[0; 8]; CELLS];
    let mut place = 0;
    while place < CELLS {
        let mut number = 0;
        while number < 27 {
            let by = step_of(number);
            let mut near_place = 0;
            let mut block = 0;
            let mut axis = 0;
            while axis < 3 {
                let shift = SIDE_BITS * axis as u32;
                let at = (place >> shift) as i32 & SIDE_MASK;
                let near = at + by[axis];
                near_place |= (near & SIDE_MASK) << shift;
                if near != near & SIDE_MASK {
                    block |= 1 << axis;
                }
                axis += 1;
            }
            around[place][block] |= 1 << near_place;
            number += 1;
        }
        place += 1;
    }
    around
}

/// Step from a cell to one of the 27 cells around it.
const fn step_of(number: i32) -> [i32; 3] {
    [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1]
}

/// Places in a block that meets a box, as bits.
fn places_in(block: [i32; 3], least: [i32; 3], largest: [i32; 3]) -> u64 {
    // Places with the coordinate 0 along each axis, and their distance from those with the coordinate 1
    const OF_ZERO: [u64; 3] = [0x1111_1111_1111_1111, 0x000F_000F_000F_000F, 0xFFFF];
    const STEPS: [u32; 3] = [1, 1 << SIDE_BITS, 1 << (2 * SIDE_BITS)];
    let along = |axis: usize| {
        let start = block[axis] << SIDE_BITS;
        let first = (least[axis] - start).max(0).cast_unsigned();
        let last = (largest[axis] - start).min(SIDE_MASK).cast_unsigned();
        (first..=last).fold(0, |places, k| places | OF_ZERO[axis] << (k * STEPS[axis]))
    };
    along(0) & along(1) & along(2)
}

/// Integer coordinates of the block of a cell.
pub(crate) fn block_of(key: [i32; 3]) -> [i32; 3] {
    key.map(|k| k >> SIDE_BITS)
}

/// Number of a cell in its block.
pub(crate) fn place_of(key: [i32; 3]) -> usize {
    let [x, y, z] = key.map(|k| (k & SIDE_MASK).cast_unsigned());
    (x | y << SIDE_BITS | z << (2 * SIDE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells on both sides of the borders of blocks, in all octants.
    #[test]
    fn the_cells_around_one_are_those_of_an_exhaustive_search() {
        let keys: Vec<[i32; 3]> = (0..400_i32)
            .map(|i| [i * 7 % 11 - 5, i * 5 % 13 - 6, i % 9 - 4])
            .collect();
        let mut table = CellTable::default();
        for key in &keys {
            let number = table.insert(*key);
            assert_eq!(table.insert(*key), number);
            assert_eq!(table.keys()[number as usize], *key);
        }
        let mut total = 0;
        for key in table.keys() {
            let mut found = Vec::new();
            table.visit_around(*key, |cell| found.push(cell));
            assert!(found.contains(&table.find(*key).expect("inserted")));
            found.sort_unstable();
            let is_near = |other: &[i32; 3]| (0..3).all(|i| other[i].abs_diff(key[i]) <= 1);
            let all = (0..table.len()).filter(|&i| is_near(&table.keys()[i]));
            assert_eq!(found, all.collect::<Vec<_>>());
            total += found.len();
        }
        assert!(total > 2 * table.len(), "{total}");
    }

    /// Boxes within a block, and across blocks.
    #[test]
    fn the_cells_of_a_box_are_those_of_an_exhaustive_search() {
        let mut table = CellTable::default();
        for i in 0..400_i32 {
            table.insert([i * 7 % 11 - 5, i * 5 % 13 - 6, i % 9 - 4]);
        }
        for i in 0..200_i32 {
            let least = [i % 9 - 6, i % 7 - 4, i % 5 - 3];
            let largest = [least[0] + i % 4, least[1] + i % 6, least[2] + i % 3];
            let mut found = Vec::new();
            table.visit_box(least, largest, |cell| found.push(cell));
            found.sort_unstable();
            let is_in = |key: &[i32; 3]| (0..3).all(|a| (least[a]..=largest[a]).contains(&key[a]));
            let all = (0..table.len()).filter(|&cell| is_in(&table.keys()[cell]));
            assert_eq!(found, all.collect::<Vec<_>>(), "{least:?} to {largest:?}");
        }
    }
}
