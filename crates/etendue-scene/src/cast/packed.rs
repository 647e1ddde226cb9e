//! Leaves of very large meshes, in 58 % of the memory.
//!
//! A corner's coordinates are counted in 65,535ths of the block's box. That only adds to what
//! `f32` may be wrong by: where it can no longer tell, the mesh's own vertices in `f64` decide,
//! as ever, and no answer changes.

#![expect(
    clippy::cast_sign_loss,
    reason = "places are counted from the low corner up"
)]

use super::best::ROUND_OFF;
use super::block::Block;
use super::outwards::above;
use super::tree::NO_TRIANGLE;

/// Steps along the longest side of a block's box.
const STEPS: f32 = 65535.0;

/// A block is worth packing where its smallest triangle spans this many steps: `f64` then decides
/// on one ray in a hundred or so.
const STEPS_OF_SMALLEST: f32 = 2048.0;

/// The size of an unused place: a NaN, with which nothing compares.
const UNUSED: u16 = 0x7fc0;

/// A [`Block`] in 224 bytes instead of 384.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Packed {
    /// Positions by vertex and axis, in steps from the low corner.
    place: [[[u16; 8]; 3]; 3],
    /// The upper half of each size's bits.
    size: [u16; 8],
    triangle: [u32; 8],
    low: [f32; 3],
    step: [f32; 3],
    reach: f32,
    slack: f32,
}

impl Packed {
    /// Whether searches lose nothing if this block is packed.
    pub fn pays(block: &Block) -> bool {
        let (low, high) = extent(block);
        let longest = (0..3).map(|i| high[i] - low[i]).fold(0.0, f32::max);
        let used = (0..8).filter(|&at| block.triangle[at] != NO_TRIANGLE);
        let smallest = used.map(|at| block.size[at]).fold(f32::INFINITY, f32::min);
        smallest * (STEPS / STEPS_OF_SMALLEST) >= longest
    }

    /// Packs a block.
    ///
    /// A corner moves by up to $\\delta = s/2 + 2\\epsilon R$ along each axis, $s$ the longest step,
    /// $R$ the reach and $\\epsilon$ the unit round-off. Slopes are below 1.52, so that a corner's place
    /// across a ray moves by up to $2.52\\,\\delta$, and an edge function of a ray that passes within four sizes
    /// by up to $66\\,\\delta$ times the size. Edge functions are trusted beyond 384 units times the
    /// size: a slack of $s/4 + \\epsilon R$ units covers that 2.9 times. Sizes grow by a step, which covers
    /// the product of two displacements. The depth of a ray's meeting moves by up to $\\delta$ times the
    /// normal over the cosine, of which 64 units are allowed.
    pub fn new(block: &Block) -> Self {
        let (low, high) = extent(block);
        let step = [0, 1, 2].map(|i| above(f64::from((high[i] - low[i]) / STEPS)));
        let longest = step.into_iter().fold(0.0, f32::max);
        let mut packed = Self {
            place: [[[0; 8]; 3]; 3],
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
                    packed.place[vertex][axis][at] = (over / step[axis]).round() as u16;
                }
            }
        }
        packed
    }

    /// Writes the block it was made of, corners moved by its slack.
    #[inline(always)]
    pub fn open(&self, block: &mut Block) {
        for vertex in 0..3 {
            for axis in 0..3 {
                for at in 0..8 {
                    let steps = f32::from(self.place[vertex][axis][at]);
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

    /// The numbers of its triangles.
    pub fn triangles(&self) -> Vec<u32> {
        let used = |triangle: &u32| *triangle != NO_TRIANGLE;
        self.triangle.into_iter().filter(used).collect()
    }
}

/// The box of a block's corners.
fn extent(block: &Block) -> ([f32; 3], [f32; 3]) {
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for corner in &block.corner {
        for axis in 0..3 {
            for &place in corner[axis].iter().filter(|place| !place.is_nan()) {
                low[axis] = low[axis].min(place);
                high[axis] = high[axis].max(place);
            }
        }
    }
    (low, high)
}

/// The upper half of a positive number's bits, rounded up.
fn upper_half(value: f32) -> u16 {
    (value.to_bits().saturating_add(0xffff) >> 16) as u16
}
