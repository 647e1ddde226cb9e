//! The generator of random bits: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
//! as 1, 2, 3", doi:10.1145/2063384.2063405).
#![expect(clippy::inline_always, reason = "rounds of a loop over many lanes")]

/// Mask of the lower 32 bits of a product.
const LOW: u64 = 0xffff_ffff;

/// One round of Philox on 32-bit words, stored in 64 bits.
#[inline(always)]
fn philox_round([c0, c1, c2, c3]: [u64; 4], key: [u32; 2]) -> [u64; 4] {
    let first = c0 * 0xD251_1F53;
    let second = c2 * 0xCD9E_8D57;
    [
        (second >> 32) ^ c1 ^ u64::from(key[0]),
        second & LOW,
        (first >> 32) ^ c3 ^ u64::from(key[1]),
        first & LOW,
    ]
}

/// The key of the next round.
#[inline(always)]
fn next_key(key: [u32; 2]) -> [u32; 2] {
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])]
}

/// Philox4x32-10: four random 32-bit words from a counter and a key. Each word is stored in 64 bits, the
/// operand size of vector multiplication.
#[inline(always)]
pub(super) fn philox4x32_10(counter: [u32; 4], mut key: [u32; 2]) -> [u64; 4] {
    let mut words = counter.map(u64::from);
    for _ in 0..10 {
        words = philox_round(words, key);
        key = next_key(key);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
    #[test]
    fn philox_passes_the_known_answer_test() {
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
