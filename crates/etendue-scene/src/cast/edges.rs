//! The edges of eight triangles as seen from a packet's centre.

use super::block::Block;
use super::lanes::{Float, Lanes, Mask};
use super::packet::Packet;
use super::sixteen::EDGE_ERROR;
use super::wedge::Wedge;

/// Axes are the packet's: two lateral ones, then the major one (its sign folded into the normal).
///
/// With $A, B, C$ the vertices from the centre, a ray $\\Delta + z d$ passes the edge $C - B$ at
/// $d \cdot ((C - B) \times B) - (\\Delta \times d) \cdot (C - B)$, the edge function $U$ of
/// Woop's test; $V$ and $W$ follow by turning the letters.
#[repr(C, align(32))]
pub(crate) struct Edges {
    pub normal: [[[f32; 8]; 3]; 3],
    /// Left as it was where all rays start at the centre.
    pub edge: [[[f32; 8]; 3]; 3],
    /// The first vertex from the centre.
    pub start: [[f32; 8]; 3],
    pub plane: Planes,
}

/// The planes of eight triangles.
#[repr(C, align(32))]
pub(crate) struct Planes {
    /// $n = (C - A) \times (B - A)$.
    pub normal: [[f32; 8]; 3],
    /// Of the plane from the centre, times the normal's length.
    pub height: [f32; 8],
    /// The sum of the normal's components, and the size squared.
    pub area: [f32; 8],
}

impl Planes {
    const NONE: Self = Self {
        normal: [[0.0; 8]; 3],
        height: [0.0; 8],
        area: [0.0; 8],
    };

    #[inline(always)]
    fn take<L: Lanes>(&mut self, [a, b, c]: [[L::F8; 3]; 3], size: &[f32; 8]) {
        let [u, v] = [sides(c, a), sides(b, a)];
        let normal = [
            minor(u[1], v[2], u[2], v[1]),
            minor(u[2], v[0], u[0], v[2]),
            minor(u[0], v[1], u[1], v[0]),
        ];
        let [x, y, k] = normal;
        let height = x.mul_add(a[0], y.mul_add(a[1], k.mul(a[2])));
        let size = L::F8::load(size);
        let area = size.mul_add(size, x.abs().add(y.abs()).add(k.abs()));
        x.store(&mut self.normal[0]);
        y.store(&mut self.normal[1]);
        k.store(&mut self.normal[2]);
        height.store(&mut self.height);
        area.store(&mut self.area);
    }
}

/// From one corner to another.
#[inline(always)]
fn sides<F: Float<8>>(to: [F; 3], from: [F; 3]) -> [F; 3] {
    [to[0].sub(from[0]), to[1].sub(from[1]), to[2].sub(from[2])]
}

impl Edges {
    pub const NONE: Self = Self {
        normal: [[[0.0; 8]; 3]; 3],
        edge: [[[0.0; 8]; 3]; 3],
        start: [[0.0; 8]; 3],
        plane: Planes::NONE,
    };

    /// Takes those of a block.
    #[inline(always)]
    pub fn take<L: Lanes>(&mut self, wedge: &Wedge, block: &Block) {
        let [a, b, c] = [
            from_centre::<L>(wedge, block, 0),
            from_centre::<L>(wedge, block, 1),
            from_centre::<L>(wedge, block, 2),
        ];
        for (own, along) in self.start.iter_mut().zip(a) {
            along.store(own);
        }
        self.plane.take::<L>([a, b, c], &block.size);
        self.set::<L>(0, wedge, c, b);
        self.set::<L>(1, wedge, a, c);
        self.set::<L>(2, wedge, b, a);
    }

    /// The edge from `b` to `head`.
    #[inline(always)]
    fn set<L: Lanes>(&mut self, turn: usize, wedge: &Wedge, head: [L::F8; 3], b: [L::F8; 3]) {
        let e = sides(head, b);
        let [x, y, k] = &mut self.normal[turn];
        minor(e[1], b[2], e[2], b[1]).store(x);
        minor(e[2], b[0], e[0], b[2]).store(y);
        let along = minor(e[0], b[1], e[1], b[0]);
        along.mul(L::F8::splat(wedge.sign)).store(k);
        if wedge.moment_size == 0.0 {
            return;
        }
        for (run, e) in self.edge[turn].iter_mut().zip(e) {
            e.store(run);
        }
    }

    /// The triangles (by bit) that a ray of a wedge may meet, with `error` the unit round-off
    /// times what occurs here.
    #[inline(always)]
    pub fn near<L: Lanes>(&self, wedge: &Wedge, block: &Block, error: f32) -> u32 {
        let doubt =
            L::F8::load(&block.size).mul(L::F8::splat(EDGE_ERROR * error + wedge.moment_size));
        let first = self.bounds::<L>(0, wedge, doubt);
        let second = self.bounds::<L>(1, wedge, doubt);
        let third = self.bounds::<L>(2, wedge, doubt);
        let zero = L::F8::splat(0.0);
        let all_left = zero.le(first[1].min(second[1]).min(third[1]));
        let all_right = first[0].max(second[0]).max(third[0]).le(zero);
        all_left.or(all_right).bits()
    }

    /// The least and the greatest that an edge function may be for any ray of a wedge.
    #[inline(always)]
    fn bounds<L: Lanes>(&self, turn: usize, wedge: &Wedge, doubt: L::F8) -> [L::F8; 2] {
        let [x, y, k] = &self.normal[turn];
        let [x, y, k] = [L::F8::load(x), L::F8::load(y), L::F8::load(k)];
        let [middle, half] = [&wedge.slope_middle, &wedge.slope_half];
        let along = y.mul_add(L::F8::splat(middle[1]), k);
        let along = x.mul_add(L::F8::splat(middle[0]), along);
        let spread = y.abs().mul_add(L::F8::splat(half[1]), doubt);
        let spread = x.abs().mul_add(L::F8::splat(half[0]), spread);
        [along.sub(spread), along.add(spread)]
    }

    /// One edge function of the triangle at this place, for sixteen rays.
    #[inline(always)]
    pub fn values<L: Lanes>(&self, packet: &Packet, turn: usize, at: usize) -> L::F16 {
        let [x, y, k] = &self.normal[turn];
        let along =
            L::F16::splat(y[at]).mul_add(L::F16::load(&packet.slope[1]), L::F16::splat(k[at]));
        let along = L::F16::splat(x[at]).mul_add(L::F16::load(&packet.slope[0]), along);
        if packet.wedge.moment_size == 0.0 {
            return along;
        }
        let [x, y, k] = &self.edge[turn];
        let beside = L::F16::splat(x[at]).neg_mul_add(L::F16::load(&packet.moment[0]), along);
        let beside = L::F16::splat(y[at]).neg_mul_add(L::F16::load(&packet.moment[1]), beside);
        L::F16::splat(k[at]).neg_mul_add(L::F16::load(&packet.moment[2]), beside)
    }
}

/// `a * d - c * b`, as in `minor(a, d, c, b)`.
#[inline(always)]
fn minor<F: Float<8>>(a: F, d: F, c: F, b: F) -> F {
    c.neg_mul_add(b, a.mul(d))
}

/// A vertex of eight triangles from the packet's centre, along the packet's axes.
#[inline(always)]
fn from_centre<L: Lanes>(wedge: &Wedge, block: &Block, vertex: usize) -> [L::F8; 3] {
    let [x, y, k] = wedge.axes;
    let corner = &block.corner[vertex];
    [
        L::F8::load(&corner[x]).sub(L::F8::splat(wedge.centre[x])),
        L::F8::load(&corner[y]).sub(L::F8::splat(wedge.centre[y])),
        L::F8::load(&corner[k]).sub(L::F8::splat(wedge.centre[k])),
    ]
}
