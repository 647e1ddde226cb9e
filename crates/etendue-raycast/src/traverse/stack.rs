//! The stack of a depth-first traversal.

/// A box that is still to be visited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StackEntry {
    /// The child behind the box, encoded like [`Node::child`](crate::bvh::node::Node::child).
    pub child: u32,
    /// Where the box is stored, `8 * node + slot`, or [`NO_BOX`].
    pub location: u32,
    /// The bits of the least depth of the box: entries are then copied through integer registers.
    pub depth_bits: u32,
}

/// The location of a box that is too wide to be worth testing against each ray.
pub(crate) const NO_BOX: u32 = u32::MAX;

impl StackEntry {
    /// The least depth of the box.
    #[inline(always)]
    pub fn depth(&self) -> f32 {
        f32::from_bits(self.depth_bits)
    }
}
