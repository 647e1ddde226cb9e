//! Every operation with every instruction set of this processor. `just miri` runs these tests under Miri.

use super::{Float, Kernel, Lanes, Mask};
use crate::Isa;

/// Results of all operations on two vectors: the bits of numbers, and masks.
struct Operations<const N: usize> {
    left: [f32; N],
    right: [f32; N],
}

/// Applies all operations of a vector type.
fn apply<const N: usize, F: Float<N>>(input: &Operations<N>) -> Vec<u32> {
    let [left, right] = [&input.left, &input.right].map(F::load);
    let two = F::splat(2.0);
    let [le, lt] = [left.le(right), left.lt(right)];
    let vectors = [
        left.add(right),
        left.sub(right),
        left.mul(right),
        left.div(right),
        left.min(right),
        left.max(right),
        left.abs(),
        left.mul_add(two, right),
        left.neg_mul_add(two, right),
        left.select(le, right),
        right.select(lt, left),
    ];
    let lanes = vectors.into_iter().flat_map(F::to_array).map(f32::to_bits);
    let masks = [le, lt, le.and(lt), le.or(lt)].map(Mask::bits);
    let mut stored = [0.0; N];
    left.store(&mut stored);
    assert_eq!(stored, input.left);
    let reduced = [left.reduce_min(), left.reduce_max()].map(f32::to_bits);
    lanes.chain(masks).chain(reduced).collect()
}

impl Kernel for &Operations<8> {
    type Output = Vec<u32>;

    fn run<L: Lanes>(self) -> Vec<u32> {
        apply::<8, L::F8>(self)
    }
}

impl Kernel for &Operations<16> {
    type Output = Vec<u32>;

    fn run<L: Lanes>(self) -> Vec<u32> {
        apply::<16, L::F16>(self)
    }
}

/// Numbers whose products are exact, with both signs, zero and infinity.
const LEFT: [f32; 16] = [
    1.0,
    -2.0,
    3.5,
    0.25,
    -7.0,
    8.0,
    0.5,
    -0.125,
    64.0,
    -9.0,
    10.0,
    0.0,
    12.0,
    -13.0,
    f32::INFINITY,
    15.0,
];
const RIGHT: [f32; 16] = [
    2.0, -2.0, -1.0, 4.0, 0.5, 0.25, -8.0, 16.0, 1.0, 2.0, 10.0, 1.0, -12.0, 0.75, 4.0, -5.0,
];

fn first_eight(numbers: &[f32; 16]) -> [f32; 8] {
    *numbers.first_chunk().expect("sixteen numbers")
}

#[test]
fn every_operation_has_the_bits_of_plain_numbers() {
    let sixteen = Operations {
        left: LEFT,
        right: RIGHT,
    };
    let eight = Operations {
        left: first_eight(&LEFT),
        right: first_eight(&RIGHT),
    };
    let [wide, narrow] = [
        Isa::PLAIN.run_kernel(&sixteen),
        Isa::PLAIN.run_kernel(&eight),
    ];
    assert_eq!(wide.len(), 11 * 16 + 6);
    assert_eq!(
        narrow[..8],
        [3.0_f32, -4.0, 2.5, 4.25, -6.5, 8.25, -7.5, 15.875].map(f32::to_bits)
    );
    for isa in Isa::available() {
        assert_eq!(isa.run_kernel(&sixteen), wide, "{isa}");
        assert_eq!(isa.run_kernel(&eight), narrow, "{isa}");
    }
}

#[test]
fn a_comparison_with_nan_is_false_in_every_lane() {
    struct Nan([f32; 16]);
    impl Kernel for &Nan {
        type Output = [u32; 2];

        fn run<L: Lanes>(self) -> [u32; 2] {
            let [nan, one] = [L::F16::load(&self.0), L::F16::splat(1.0)];
            [nan.le(one).bits() | one.lt(nan).bits(), one.le(one).bits()]
        }
    }
    for isa in Isa::available() {
        assert_eq!(isa.run_kernel(&Nan([f32::NAN; 16])), [0, 0xffff], "{isa}");
    }
}
