//! Masks of sixteen lanes of 64 bits.

/// A mask of sixteen lanes, each with all bits set or none.
///
/// The compiler vectorises bitwise selection; an `if` per lane often becomes sixteen branches.
#[derive(Clone, Copy)]
pub(crate) struct LaneMask([u64; 16]);

impl LaneMask {
    /// The lanes whose number equals `number`.
    #[inline(always)]
    pub fn equal(numbers: &[u32; 16], number: u32) -> Self {
        let mut mask = [0; 16];
        for lane in 0..16 {
            mask[lane] = u64::from(numbers[lane] == number).wrapping_neg();
        }
        Self(mask)
    }

    /// The lanes that are `true`.
    #[inline(always)]
    pub fn of(lanes: &[bool; 16]) -> Self {
        let mut mask = [0; 16];
        for lane in 0..16 {
            mask[lane] = u64::from(lanes[lane]).wrapping_neg();
        }
        Self(mask)
    }

    /// The mask as an integer: lane `i` in bit `i`.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        let mut bits = 0;
        for lane in 0..16 {
            bits |= (self.0[lane] & 1) << lane;
        }
        bits as u32
    }

    /// Replaces the numbers of the masked lanes.
    #[inline(always)]
    pub fn assign(&self, to: &mut [f64; 16], from: &[f64; 16]) {
        for lane in 0..16 {
            let mask = self.0[lane];
            let old = to[lane].to_bits();
            to[lane] = f64::from_bits(old ^ ((old ^ from[lane].to_bits()) & mask));
        }
    }

    /// Replaces the integers of the masked lanes.
    #[inline(always)]
    pub fn assign_u32(&self, to: &mut [u32; 16], from: &[u32; 16]) {
        for lane in 0..16 {
            let mask = self.0[lane] as u32;
            to[lane] ^= (to[lane] ^ from[lane]) & mask;
        }
    }
}
