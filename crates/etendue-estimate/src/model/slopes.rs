//! Derivatives of the measurements of batches of beams, in the factors in which they are computed.
//!
//! The derivatives of a beam of one ray from a sensor at one pose are products of those by the motion of the sensor, six
//! numbers per quantity, with those of the motion, which all beams share. They are kept apart, sixteen beams at a time: no
//! rows of a Jacobian are written and read again.

use super::jacobian::ScanBatches;
use super::simulate::WriteMeasurements;
use crate::sensor::{BeamMeasurement, QUANTITIES};
use etendue_physics::Dual;
use etendue_sensors::lidar::{MotionSlopes, ReturnTile};
use etendue_simd::{Isa, Vectorized, prefetch};
use rayon::prelude::*;

/// Greatest number of components of a block.
pub(super) const WIDTH: usize = 6;

/// Why the memory of a scan exists.
pub(super) const OF_ALL: &str = "there is memory for all scans";

/// Derivatives of the quantities by up to [`WIDTH`] components, which are differentiated together.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// Indices of the components in the tangent.
    pub components: Vec<usize>,
    batches: Vec<BatchSlopes>,
}

/// Derivatives of the quantities of a batch of beams by the components of a block; zeros beyond the last component.
#[derive(Clone, Debug, Default)]
struct BatchSlopes {
    /// Number of the first quantity.
    first: usize,
    /// Derivatives of translation (m) and rotation vector (rad) of the sensor.
    motion: [[f64; WIDTH]; 6],
    /// Derivatives by that motion; those beyond the first [`BatchSlopes::used`] are memory.
    tiles: Vec<MotionTile>,
    used: usize,
    /// Derivatives of single quantities, with the number of each in the batch.
    rows: Vec<(usize, [f64; WIDTH])>,
}

/// Derivatives of the quantities of up to sixteen beams by the motion of the sensor.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct MotionTile {
    slopes: MotionSlopes,
    /// Place of the beam of each lane in the batch.
    places: [u16; 16],
    /// Lanes with a return.
    exist: [bool; 16],
}

impl MotionTile {
    /// No beams.
    const EMPTY: Self = Self {
        slopes: [[[0.0; 16]; 6]; QUANTITIES],
        places: [0; 16],
        exist: [false; 16],
    };
}

/// The memory of the measurements of a batch of beams with their derivatives.
pub(super) struct BlockBatch<'r> {
    /// Quantities; not a number where there is none.
    values: &'r mut [f64],
    /// Whether a quantity exists.
    valid: &'r mut [bool],
    slopes: &'r mut BatchSlopes,
    /// Whether quantities are written, and not only derivatives.
    is_first: bool,
    /// Whether there are components.
    has_derivatives: bool,
}

impl Block {
    /// Removes all derivatives, for those of the quantities of scans by some components. Keeps the memory.
    pub fn reset(&mut self, components: &[usize], scans: &[ScanBatches]) {
        self.components.clear();
        self.components.extend_from_slice(components);
        let (mut count, mut of_scan) = (0, 0);
        for scan in scans {
            let end = of_scan + scan.quantities;
            for first in (of_scan..end).step_by(scan.per_batch) {
                if count == self.batches.len() {
                    self.batches.push(BatchSlopes::default());
                }
                self.batches[count].reset(first);
                count += 1;
            }
            of_scan = end;
        }
        self.batches.truncate(count);
    }

    /// The batches of each scan, for the quantities of all scans.
    pub fn batches<'r>(
        &'r mut self,
        values: &'r mut [f64],
        valid: &'r mut [bool],
        scans: &[ScanBatches],
        is_first: bool,
    ) -> impl Iterator<Item: IndexedParallelIterator<Item = BlockBatch<'r>>> {
        let has_derivatives = !self.components.is_empty();
        let mut rest = (values, valid, &mut self.batches[..]);
        scans.iter().map(move |scan| {
            let count = scan.quantities.div_ceil(scan.per_batch);
            let values = rest.0.split_off_mut(..scan.quantities);
            let valid = rest.1.split_off_mut(..scan.quantities);
            let own = rest.2.split_off_mut(..count);
            let values = values.expect(OF_ALL).par_chunks_mut(scan.per_batch);
            let valid = valid.expect(OF_ALL).par_chunks_mut(scan.per_batch);
            let batches = values.zip(valid).zip(own.expect(OF_ALL));
            batches.map(move |((values, valid), slopes)| BlockBatch {
                values,
                valid,
                slopes,
                is_first,
                has_derivatives,
            })
        })
    }

    /// Divides the derivatives by the unit of each component of the tangent.
    pub fn divide(&mut self, unit: impl Fn(usize) -> f64) {
        let units: Vec<f64> = self.components.iter().map(|own| unit(*own)).collect();
        if units.iter().all(|unit| *unit == 1.0) {
            return;
        }
        for batch in &mut self.batches {
            let motion = batch.motion.iter_mut();
            let rows = batch.rows.iter_mut().map(|(_, row)| row);
            for row in motion.chain(rows) {
                for (slope, unit) in row.iter_mut().zip(&units) {
                    *slope /= unit;
                }
            }
        }
    }

    /// Calls `visit` with the number of each quantity that has derivatives, and these by the components.
    pub fn for_each_row(&self, mut visit: impl FnMut(usize, &[f64])) {
        let width = self.components.len();
        for batch in &self.batches {
            for tile in batch.tiles() {
                for lane in (0..16).filter(|lane| tile.exist[*lane]) {
                    for (kind, slopes) in tile.slopes.iter().enumerate() {
                        let mut row = [0.0; WIDTH];
                        for (by, motion) in slopes.iter().zip(&batch.motion) {
                            for (sum, part) in row.iter_mut().zip(motion) {
                                *sum += by[lane] * part;
                            }
                        }
                        let number = usize::from(tile.places[lane]) * QUANTITIES + kind;
                        visit(batch.first + number, &row[..width]);
                    }
                }
            }
            for (number, row) in &batch.rows {
                visit(batch.first + number, &row[..width]);
            }
        }
    }

    /// Gradient of a function by the components, from its derivatives by all quantities. Those by quantities without
    /// derivatives have no effect.
    pub fn pulled_back(&self, by_values: &[f64]) -> [f64; WIDTH] {
        let isa = Isa::detect();
        let mut gradient = [0.0; WIDTH];
        for batch in &self.batches {
            let by = &by_values[batch.first..];
            // Multiply by the derivatives by the motion, then by those of the motion.
            let by_motion = isa.run(PulledBack {
                tiles: batch.tiles(),
                by,
            });
            for (sum, motion) in by_motion.iter().zip(&batch.motion) {
                add(&mut gradient, motion, *sum);
            }
            for (number, row) in &batch.rows {
                add(&mut gradient, row, by[*number]);
            }
        }
        gradient
    }
}

impl BatchSlopes {
    /// Removes all derivatives, for those of quantities from a number on. Keeps the memory.
    fn reset(&mut self, first: usize) {
        self.first = first;
        self.used = 0;
        self.rows.clear();
    }

    /// The derivatives by the motion.
    fn tiles(&self) -> &[MotionTile] {
        &self.tiles[..self.used]
    }

    /// Memory for the derivatives of one more tile.
    #[inline]
    fn next_tile(&mut self) -> &mut MotionTile {
        if self.used == self.tiles.len() {
            self.tiles.push(MotionTile::EMPTY);
        }
        self.used += 1;
        // The tile after it is on its way meanwhile.
        if let Some(next) = self.tiles.get(self.used) {
            prefetch(next);
        }
        &mut self.tiles[self.used - 1]
    }
}

/// Adds a row, multiplied by a number.
fn add(sum: &mut [f64; WIDTH], row: &[f64; WIDTH], by: f64) {
    for (sum, slope) in sum.iter_mut().zip(row) {
        *sum += slope * by;
    }
}

/// Gradient of a function by the motion of the sensor, from its derivatives by the quantities of a batch.
struct PulledBack<'t> {
    tiles: &'t [MotionTile],
    by: &'t [f64],
}

impl Vectorized for PulledBack<'_> {
    type Output = [f64; 6];

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> [f64; 6] {
        let mut sums = [[0.0; 16]; 6];
        for (number, tile) in self.tiles.iter().enumerate() {
            if let Some(next) = self.tiles.get(number + 1) {
                prefetch(next);
            }
            // Gather the derivatives of the lanes.
            let mut by = [[0.0; 16]; QUANTITIES];
            for lane in 0..16 {
                let first = usize::from(tile.places[lane]) * QUANTITIES;
                for (kind, by) in by.iter_mut().enumerate() {
                    by[lane] = if tile.exist[lane] {
                        self.by[first + kind]
                    } else {
                        0.0
                    };
                }
            }
            // Add the products.
            for (by, slopes) in by.iter().zip(&tile.slopes) {
                for (sum, slopes) in sums.iter_mut().zip(slopes) {
                    for lane in 0..16 {
                        sum[lane] += by[lane] * slopes[lane];
                    }
                }
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }
}

impl BlockBatch<'_> {
    /// Writes a quantity of a number in the batch.
    #[inline]
    fn put(&mut self, number: usize, value: f64) {
        if self.is_first {
            self.values[number] = value;
            self.valid[number] = true;
        }
    }
}

impl<const N: usize> WriteMeasurements<Dual<N>> for BlockBatch<'_> {
    fn clear(&mut self) {
        if self.is_first {
            self.values.fill(f64::NAN);
            self.valid.fill(false);
        }
    }

    #[expect(clippy::inline_always, reason = "a measurement is not copied")]
    #[inline(always)]
    fn write(&mut self, place: usize, measured: BeamMeasurement<Dual<N>>) {
        for (kind, value) in measured.quantities().into_iter().enumerate() {
            let number = place * QUANTITIES + kind;
            if let Some(value) = value {
                self.put(number, value.re);
                if self.has_derivatives {
                    self.slopes.rows.push((number, widened(&value.eps)));
                }
            }
        }
    }

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn write_tile(&mut self, places: &[u16], returns: &ReturnTile<Dual<N>>) {
        // Write the quantities.
        for (lane, &place) in places.iter().enumerate() {
            if let Some(values) = returns.values(lane) {
                for (kind, value) in values.into_iter().enumerate() {
                    self.put(usize::from(place) * QUANTITIES + kind, value);
                }
            }
        }
        if !self.has_derivatives {
            return;
        }
        // Write the derivatives.
        let motion = returns.motion_gradients();
        if returns.is_by_motion() {
            self.slopes.motion = motion.of::<N>().map(|own| widened(&own));
            let tile = self.slopes.next_tile();
            returns.motion_slopes(&mut tile.slopes);
            for lane in 0..16 {
                tile.places[lane] = places.get(lane).copied().unwrap_or_default();
                tile.exist[lane] = returns.values(lane).is_some();
            }
            return;
        }
        let mut slopes = MotionTile::EMPTY.slopes;
        returns.motion_slopes(&mut slopes);
        for (lane, &place) in places.iter().enumerate() {
            if returns.values(lane).is_some() {
                for kind in 0..QUANTITIES {
                    let row = returns.gradient(kind, lane, &slopes, &motion);
                    let number = usize::from(place) * QUANTITIES + kind;
                    self.slopes.rows.push((number, widened(&row)));
                }
            }
        }
    }
}

/// A row with zeros up to the width of a block.
fn widened<const N: usize>(row: &[f64; N]) -> [f64; WIDTH] {
    const { assert!(N <= WIDTH, "components of a block") };
    let mut wide = [0.0; WIDTH];
    wide[..N].copy_from_slice(row);
    wide
}
