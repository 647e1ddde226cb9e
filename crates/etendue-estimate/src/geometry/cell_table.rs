//! Table of the occupied cells of a grid, by blocks.

use super::VoxelTable;

/// Occupied cells of a cubic grid, numbered in the order of their insertion. Blocks of cells are in a hash table: the 27 cells
/// around one are in at most eight blocks.
#[derive(Default)]
pub(super) struct CellTable {
    /// Occupied blocks.
    blocks: VoxelTable,
    /// Number of each cell of a block, or [`NO_CELL`].
    numbers: Vec<[u32; CELLS]>,
    /// Integer coordinates of the cells.
    keys: Vec<[i32; 3]>,
}

/// Number of positions without a cell.
pub(super) const NO_CELL: u32 = u32::MAX;

/// Binary logarithm of the number of cells along the side of a block.
const SIDE_BITS: u32 = 2;

/// Part of a coordinate that is the place in a block.
const SIDE_MASK: i32 = (1 << SIDE_BITS) - 1;

/// Number of cells of a block.
const CELLS: usize = 1 << (3 * SIDE_BITS);

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
        let block = self.blocks.insert(block_of(key)) as usize;
        if block == self.numbers.len() {
            self.numbers.push([NO_CELL; CELLS]);
        }
        let number = &mut self.numbers[block][place_of(key)];
        if *number == NO_CELL {
            #[expect(clippy::cast_possible_truncation, reason = "cells are numbered by u32")]
            let next = self.keys.len() as u32;
            *number = next;
            self.keys.push(key);
        }
        *number
    }

    /// Calls a function for the numbers of the occupied cells among one and its 26 neighbours, x first.
    pub fn visit_around(&self, key: [i32; 3], mut function: impl FnMut(usize)) {
        // Blocks of the cell and of its neighbours: bit i of their number is set where the block along axis i is another one
        let block = block_of(key);
        let towards = key.map(|k| match k & SIDE_MASK {
            0 => -1,
            SIDE_MASK => 1,
            _ => 0,
        });
        let blocks: [&[u32; CELLS]; 8] = std::array::from_fn(|bits| {
            let is_other = |axis: usize| bits >> axis & 1 == 1;
            if (0..3).any(|axis| is_other(axis) && towards[axis] == 0) {
                return &EMPTY;
            }
            let step = |axis: usize| if is_other(axis) { towards[axis] } else { 0 };
            let found = self.blocks.find([0, 1, 2].map(|i| block[i] + step(i)));
            found.map_or(&EMPTY, |number| &self.numbers[number])
        });
        // Cells
        for near in &AROUND[place_of(key)] {
            let cell = blocks[usize::from(near.block)][usize::from(near.place)];
            if cell != NO_CELL {
                function(cell as usize);
            }
        }
    }
}

/// Block without cells.
static EMPTY: [u32; CELLS] = [NO_CELL; CELLS];

/// Cell near another.
#[derive(Clone, Copy)]
struct Near {
    /// Number of its block, as in [`CellTable::visit_around`].
    block: u8,
    /// Its number there.
    place: u8,
}

/// A cell at each place and its neighbours.
static AROUND: [[Near; 27]; CELLS] = near_cells();

/// [`AROUND`].
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "places and numbers of blocks are below 64"
)]
const fn near_cells() -> [[Near; 27]; CELLS] {
    let mut around = [[Near { block: 0, place: 0 }; 27]; CELLS];
    let mut place = 0;
    while place < CELLS {
        let mut number = 0;
        while number < 27 {
            let by = step_of(number as i32);
            let mut axis = 0;
            while axis < 3 {
                let shift = SIDE_BITS * axis as u32;
                let at = (place >> shift) as i32 & SIDE_MASK;
                let near = at + by[axis];
                let near_place = ((near & SIDE_MASK) as u8) << shift;
                around[place][number].place |= near_place;
                if near != near & SIDE_MASK {
                    around[place][number].block |= 1 << axis;
                }
                axis += 1;
            }
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

/// Integer coordinates of the block of a cell.
fn block_of(key: [i32; 3]) -> [i32; 3] {
    key.map(|k| k >> SIDE_BITS)
}

/// Number of a cell in its block.
fn place_of(key: [i32; 3]) -> usize {
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
            found.sort_unstable();
            let is_near = |other: &[i32; 3]| (0..3).all(|i| other[i].abs_diff(key[i]) <= 1);
            let all = (0..table.len()).filter(|&i| is_near(&table.keys()[i]));
            assert_eq!(found, all.collect::<Vec<_>>());
            total += found.len();
        }
        assert!(total > 2 * table.len(), "{total}");
    }
}
