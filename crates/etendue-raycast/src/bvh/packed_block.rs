//! Packed leaves of very large meshes, in 58 % of the memory.
//!
//! A corner's coordinates are quantised to 65,535ths of the block's box. This only enlarges the error
//! bound of `f32`: candidates within the bound are resolved in `f64` with the mesh's own vertices,
//! as everywhere, so that no result changes.

#![expect(
    clippy::cast_sign_loss,
    reason = "steps are counted from the low corner up"
)]

use super::leaf_block::{LeafBlock, NO_TRIANGLE};
use super::rounding::{ROUND_OFF, above};

/// Steps along the longest side of a block's box.
const STEPS: f32 = 65535.0;

/// A block is worth packing where its smallest triangle spans at least this number of steps: about
/// one ray in a hundred is then resolved in `f64`.
const STEPS_OF_SMALLEST: f32 = 2048.0;

/// The size of an unused slot: a NaN, with which every comparison is false.
const UNUSED: u16 = 0x7fc0;

/// A [`LeafBlock`] in 224 bytes instead of 384.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct PackedBlock {
    /// Positions by vertex and axis, in steps from the low corner.
    step_count: [[[u16; 8]; 3]; 3],
    /// The upper half of each size's bits.
    size: [u16; 8],
    triangle: [u32; 8],
    low: [f32; 3],
    step: [f32; 3],
    reach: f32,
    slack: f32,
}

impl PackedBlock {
    /// Whether a packed block costs traversals no time.
    pub fn pays_for(block: &LeafBlock) -> bool {
        let (low, high) = extent(block);
        let longest = (0..3).map(|i| high[i] - low[i]).fold(0.0, f32::max);
        let used = (0..8).filter(|&at| block.triangle[at] != NO_TRIANGLE);
        let smallest = used.map(|at| block.size[at]).fold(f32::INFINITY, f32::min);
        smallest * (STEPS / STEPS_OF_SMALLEST) >= longest
    }

    /// Packs a block.
    ///
    /// Quantisation moves a corner by up to $\delta = s/2 + 2\epsilon R$ along each axis, $s$ the longest step,
    /// $R$ the reach and $\epsilon$ the unit round-off. Slopes are below 1.52, so that a corner's position
    /// across a ray moves by up to $2.52\\,\delta$, and an edge function of a ray that passes within four sizes
    /// by up to $66\\,\delta$ times the size. Edge functions are trusted beyond 384 units times the
    /// size: a slack of $s/4 + \epsilon R$ units covers that 2.9 times. Sizes grow by a step, which covers
    /// the product of two displacements. The depth of a hit moves by up to $\delta$ times the
    /// normal over the cosine, of which 64 units are allowed.
    pub fn new(block: &LeafBlock) -> Self {
        let (low, high) = extent(block);
        let step = [0, 1, 2].map(|i| above(f64::from((high[i] - low[i]) / STEPS)));
        let longest = step.into_iter().fold(0.0, f32::max);
        let mut packed = Self {
            step_count: [[[0; 8]; 3]; 3],
            size: [UNUSED; 8],
            triangle: block.triangle,
            low,
            step,
            reach: block.reach,
            slack: 0.25 * longest + ROUND_OFF * block.reach,
        };
        for at in (0..8).filter(|&at| block.triangle[at] != NO_TRIANGLE) {
            packed.size[at] = upper_half(block.size[at] + longest);
            for vertex in 0..3 {
                for axis in 0..3 {
                    let over = block.corner[vertex][axis][at] - low[axis];
                    packed.step_count[vertex][axis][at] = (over / step[axis]).round() as u16;
                }
            }
        }
        packed
    }

    /// Writes the unpacked block, with corners within its slack of the original ones.
    #[inline(always)]
    pub fn unpack_into(&self, block: &mut LeafBlock) {
        for vertex in 0..3 {
            for axis in 0..3 {
                for at in 0..8 {
                    let steps = f32::from(self.step_count[vertex][axis][at]);
                    block.corner[vertex][axis][at] = steps * self.step[axis] + self.low[axis];
                }
            }
        }
        for at in 0..8 {
            block.size[at] = f32::from_bits(u32::from(self.size[at]) << 16);
        }
        block.triangle = self.triangle;
        block.reach = self.reach;
        block.slack = self.slack;
    }

    /// The triangle numbers of all slots.
    pub fn triangles(&self) -> &[u32; 8] {
        &self.triangle
    }
}

/// The box of a block's corners.
fn extent(block: &LeafBlock) -> ([f32; 3], [f32; 3]) {
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for corner in &block.corner {
        for axis in 0..3 {
            for &x in corner[axis].iter().filter(|x| !x.is_nan()) {
                low[axis] = low[axis].min(x);
                high[axis] = high[axis].max(x);
            }
        }
    }
    (low, high)
}

/// The upper half of a positive number's bits, rounded up.
fn upper_half(value: f32) -> u16 {
    (value.to_bits().saturating_add(0xffff) >> 16) as u16
}
