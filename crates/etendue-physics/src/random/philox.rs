//! The generator of random bits: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
//! as 1, 2, 3", doi:10.1145/2063384.2063405).
#![expect(clippy::inline_always, reason = "rounds of a loop over many lanes")]

use super::draws::TOGETHER;

/// One round of Philox.
#[inline(always)]
fn philox_round([c0, c1, c2, c3]: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    let (low0, high0) = c0.widening(MULTIPLIERS[0]);
    let (low1, high1) = c2.widening(MULTIPLIERS[1]);
    [high1 ^ c1 ^ key[0], low1, high0 ^ c3 ^ key[1], low0]
}

/// The key of the next round.
#[inline(always)]
fn next_key(key: [u32; 2]) -> [u32; 2] {
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])]
}

/// [`philox4x32_10`] of several counters, word by word.
#[inline(always)]
pub(super) fn philox_together(counters: &mut [[u32; TOGETHER]; 4], mut key: [u32; 2]) {
    for _ in 0..10 {
        for i in 0..TOGETHER {
            let counter = [
                counters[0][i],
                counters[1][i],
                counters[2][i],
                counters[3][i],
            ];
            let next = philox_round(counter, key);
            for (word, next) in counters.iter_mut().zip(next) {
                word[i] = next;
            }
        }
        key = next_key(key);
    }
}

pub(super) fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        counter = philox_round(counter, key);
        key = next_key(key);
    }
    counter
}

trait Widening {
    fn widening(self, by: u32) -> (u32, u32);
}

impl Widening for u32 {
    /// The low and the high half of the 64-bit product.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the product"
    )]
    fn widening(self, by: u32) -> (u32, u32) {
        let product = u64::from(self) * u64::from(by);
        (product as u32, (product >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
    #[test]
    fn philox_gives_the_known_answers() {
        assert_eq!(
            philox4x32_10([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox4x32_10(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
