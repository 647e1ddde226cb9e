//! Choices between numbers of sixteen lanes, without branches.

/// Sixteen truth values: all bits of a lane are set, or none.
///
/// The compiler makes vector instructions of choices by bits, of `if` often sixteen branches.
#[derive(Clone, Copy)]
pub(crate) struct Flags([u64; 16]);

impl Flags {
    /// The lanes that have this number.
    #[inline(always)]
    pub fn equal(numbers: &[u32; 16], number: u32) -> Self {
        let mut flags = [0; 16];
        for lane in 0..16 {
            flags[lane] = u64::from(numbers[lane] == number).wrapping_neg();
        }
        Self(flags)
    }

    #[inline(always)]
    pub fn of(lanes: &[bool; 16]) -> Self {
        let mut flags = [0; 16];
        for lane in 0..16 {
            flags[lane] = u64::from(lanes[lane]).wrapping_neg();
        }
        Self(flags)
    }

    /// Bit by lane.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        let mut bits = 0;
        for lane in 0..16 {
            bits |= (self.0[lane] & 1) << lane;
        }
        bits as u32
    }

    /// Puts new numbers in these lanes.
    #[inline(always)]
    pub fn keep(&self, own: &mut [f64; 16], new: &[f64; 16]) {
        for lane in 0..16 {
            let (flag, old) = (self.0[lane], own[lane].to_bits());
            own[lane] = f64::from_bits(old ^ ((old ^ new[lane].to_bits()) & flag));
        }
    }

    /// Puts new whole numbers in these lanes.
    #[inline(always)]
    pub fn keep_whole(&self, own: &mut [u32; 16], new: &[u32; 16]) {
        for lane in 0..16 {
            let flag = self.0[lane] as u32;
            own[lane] ^= (own[lane] ^ new[lane]) & flag;
        }
    }
}
