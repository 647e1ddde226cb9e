//! The edges of eight triangles as seen from a packet's centre.

use super::block::Block;
use super::lanes::{Float, Lanes, Mask};
use super::packet::Packet;
use super::sixteen::EDGE_ERROR;

/// Axes are the packet's: two lateral ones, then the major one (its sign folded into the normal).
///
/// With $A, B, C$ the vertices from the centre, a ray $\\Delta + z d$ passes the edge $C - B$ at
/// $d \cdot ((C - B) \times B) - (\\Delta \times d) \cdot (C - B)$, the edge function $U$ of
/// Woop's test; $V$ and $W$ follow by turning the letters.
#[repr(C, align(32))]
pub(crate) struct Edges {
    pub normal: [[[f32; 8]; 3]; 3],
    pub edge: [[[f32; 8]; 3]; 3],
}

impl Edges {
    /// The edges, and with `error` the unit round-off times what occurs here, the triangles (by bit) that a ray of the packet may meet.
    #[inline(always)]
    pub fn new<L: Lanes>(packet: &Packet, block: &Block, error: f32) -> (Self, u32) {
        let corners = [
            from_centre::<L>(packet, block, 0),
            from_centre::<L>(packet, block, 1),
            from_centre::<L>(packet, block, 2),
        ];
        let doubt =
            L::F8::load(&block.size).mul(L::F8::splat(EDGE_ERROR * error + packet.moment_size));
        let [a, b, c] = corners;
        let first = Edge::new::<L>(packet, c, b, doubt);
        let second = Edge::new::<L>(packet, a, c, doubt);
        let third = Edge::new::<L>(packet, b, a, doubt);
        let zero = L::F8::splat(0.0);
        let all_left = zero.le(first.greatest.min(second.greatest).min(third.greatest));
        let all_right = first.least.max(second.least).max(third.least).le(zero);
        let near = all_left.or(all_right);
        let edges = Self {
            normal: [first.normal, second.normal, third.normal],
            edge: [first.run, second.run, third.run],
        };
        (edges, near.bits())
    }

    /// One edge function of the triangle at this place, for sixteen rays.
    #[inline(always)]
    pub fn values<L: Lanes>(&self, packet: &Packet, turn: usize, at: usize) -> L::F16 {
        let [x, y, k] = &self.normal[turn];
        let along =
            L::F16::splat(y[at]).mul_add(L::F16::load(&packet.slope[1]), L::F16::splat(k[at]));
        let along = L::F16::splat(x[at]).mul_add(L::F16::load(&packet.slope[0]), along);
        if packet.moment_size == 0.0 {
            return along;
        }
        let [x, y, k] = &self.edge[turn];
        let beside = L::F16::splat(x[at]).neg_mul_add(L::F16::load(&packet.moment[0]), along);
        let beside = L::F16::splat(y[at]).neg_mul_add(L::F16::load(&packet.moment[1]), beside);
        L::F16::splat(k[at]).neg_mul_add(L::F16::load(&packet.moment[2]), beside)
    }
}

/// One edge of eight triangles.
struct Edge<F> {
    normal: [[f32; 8]; 3],
    run: [[f32; 8]; 3],
    /// Bounds on the edge function over all rays of the packet.
    least: F,
    greatest: F,
}

impl<F: Float<8>> Edge<F> {
    #[inline(always)]
    fn new<L: Lanes<F8 = F>>(packet: &Packet, head: [F; 3], b: [F; 3], doubt: F) -> Self {
        let e = [head[0].sub(b[0]), head[1].sub(b[1]), head[2].sub(b[2])];
        let n = [
            minor(e[1], b[2], e[2], b[1]),
            minor(e[2], b[0], e[0], b[2]),
            minor(e[0], b[1], e[1], b[0]).mul(F::splat(packet.sign)),
        ];
        let middle = n[0].mul_add(
            F::splat(packet.slope_middle[0]),
            n[1].mul_add(F::splat(packet.slope_middle[1]), n[2]),
        );
        let spread = n[0].abs().mul_add(
            F::splat(packet.slope_half[0]),
            n[1].abs().mul_add(F::splat(packet.slope_half[1]), doubt),
        );
        Self {
            normal: [n[0].array(), n[1].array(), n[2].array()],
            run: [e[0].array(), e[1].array(), e[2].array()],
            least: middle.sub(spread),
            greatest: middle.add(spread),
        }
    }
}

/// `a * d - c * b`, as in `minor(a, d, c, b)`.
#[inline(always)]
fn minor<F: Float<8>>(a: F, d: F, c: F, b: F) -> F {
    c.neg_mul_add(b, a.mul(d))
}

/// A vertex of eight triangles from the packet's centre, along the packet's axes.
#[inline(always)]
fn from_centre<L: Lanes>(packet: &Packet, block: &Block, vertex: usize) -> [L::F8; 3] {
    let [x, y, k] = packet.axes;
    let corner = &block.corner[vertex];
    [
        L::F8::load(&corner[x]).sub(L::F8::splat(packet.centre[x])),
        L::F8::load(&corner[y]).sub(L::F8::splat(packet.centre[y])),
        L::F8::load(&corner[k]).sub(L::F8::splat(packet.centre[k])),
    ]
}
