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

    /// Calls a function for the occupied cells among one and its 26 neighbours, with their steps from it, x first.
    pub fn visit_around(&self, key: [i32; 3], mut function: impl FnMut(usize, [i32; 3])) {
        // Blocks of the cell and of its neighbours: bit i of their number is set where the block along axis i is another one
        let block = block_of(key);
        let towards = key.map(|k| match k & ((1 << SIDE_BITS) - 1) {
            0 => -1,
            3 => 1,
            _ => 0,
        });
        let blocks: [Option<&[u32; CELLS]>; 8] = std::array::from_fn(|bits| {
            let is_other = |axis: usize| bits >> axis & 1 == 1;
            if (0..3).any(|axis| is_other(axis) && towards[axis] == 0) {
                return None;
            }
            let step = |axis: usize| if is_other(axis) { towards[axis] } else { 0 };
            let found = self.blocks.find([0, 1, 2].map(|i| block[i] + step(i)));
            found.map(|number| &self.numbers[number])
        });
        // Cells
        for number in 0..27 {
            let by = [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1];
            let near: [i32; 3] = std::array::from_fn(|i| key[i].saturating_add(by[i]));
            let of_near = block_of(near);
            let bits = (0..3).fold(0, |bits, i| bits | usize::from(of_near[i] != block[i]) << i);
            if let Some(numbers) = blocks[bits] {
                let cell = numbers[place_of(near)];
                if cell != NO_CELL {
                    function(cell as usize, by);
                }
            }
        }
    }
}

/// Integer coordinates of the block of a cell.
fn block_of(key: [i32; 3]) -> [i32; 3] {
    key.map(|k| k >> SIDE_BITS)
}

/// Number of a cell in its block.
fn place_of(key: [i32; 3]) -> usize {
    let [x, y, z] = key.map(|k| k.cast_unsigned() & ((1 << SIDE_BITS) - 1));
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
            table.visit_around(*key, |cell, by| {
                assert_eq!(table.keys()[cell], [0, 1, 2].map(|i| key[i] + by[i]));
                found.push(cell);
            });
            found.sort_unstable();
            let is_near = |other: &[i32; 3]| (0..3).all(|i| other[i].abs_diff(key[i]) <= 1);
            let all = (0..table.len()).filter(|&i| is_near(&table.keys()[i]));
            assert_eq!(found, all.collect::<Vec<_>>());
            total += found.len();
        }
        assert!(total > 2 * table.len(), "{total}");
    }
}
