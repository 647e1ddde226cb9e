//! Search for the segment of a piecewise function.

/// Upper limit of the number of buckets.
const MOST_BUCKETS: usize = 4096;

/// Search for the segment between ascending nodes that contains a number: a grid of equal buckets holds
/// the first candidate of each, from which a linear search continues.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    start: f64,
    /// Buckets per unit of the argument.
    scale: f64,
    /// Index of the last bucket.
    last: f64,
    /// First candidate segment of each bucket.
    firsts: Vec<u32>,
    /// End of each segment; infinity for the last.
    ends: Vec<f64>,
    /// Largest number of segments that begin in one bucket.
    most: usize,
}

impl Lookup {
    /// Precomputes the grid for at least two ascending nodes.
    pub fn new(nodes: &[f64]) -> Self {
        // Choose buckets of at most the width of the narrowest segment.
        let start = nodes[0];
        let last = nodes[nodes.len() - 1];
        let widths = nodes.windows(2).map(|two| two[1] - two[0]);
        let narrowest = widths.fold(f64::INFINITY, f64::min);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let buckets = (((last - start) / narrowest).floor() + 1.0) as usize;
        let buckets = buckets.clamp(1, MOST_BUCKETS);
        let mut ends = nodes[1..].to_vec();
        ends[nodes.len() - 2] = f64::INFINITY;
        let mut found = Self {
            start,
            scale: buckets as f64 / (last - start),
            last: buckets as f64,
            firsts: vec![0; buckets + 1],
            ends,
            most: 0,
        };
        // Store the first candidate of each bucket, and count the segments that begin there.
        let mut begin = vec![0; buckets + 1];
        for (segment, node) in (0..).zip(&nodes[..nodes.len() - 1]) {
            let bucket = found.bucket(*node);
            begin[bucket] += 1;
            for first in &mut found.firsts[bucket + 1..] {
                *first = segment;
            }
        }
        found.most = begin.into_iter().max().unwrap_or(0);
        found
    }

    /// Index of the nearest bucket boundary.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
    #[inline(always)]
    fn bucket(&self, x: f64) -> usize {
        // Adding 2^52 rounds to an integer and leaves it in the lowest mantissa bits.
        const ROUNDER: f64 = (1_u64 << 52) as f64;
        let place = ((x - self.start) * self.scale).max(0.0).min(self.last);
        ((place + ROUNDER).to_bits() as u32) as usize
    }

    /// Index of the last segment that begins before `x`, or of the first segment.
    #[expect(clippy::inline_always, reason = "body of a loop over a batch")]
    #[inline(always)]
    pub fn segment(&self, x: f64) -> usize {
        let mut segment = self.firsts[self.bucket(x)] as usize;
        for _ in 0..self.most {
            segment += usize::from(self.ends[segment] < x);
        }
        segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_equal_those_of_a_binary_search() {
        let uneven = vec![-0.3, 0.0, 0.001, 0.0012, 0.5, 0.50001, 1.2];
        let even: Vec<f64> = (0..77).map(|i| 0.017_464 * f64::from(i)).collect();
        for nodes in [uneven, even, vec![0.0, 1.0]] {
            let lookup = Lookup::new(&nodes);
            let grid = (-500..1500).map(|i| 1e-3 * f64::from(i));
            for x in grid.chain(nodes.iter().copied()) {
                let before = nodes.partition_point(|node| *node < x);
                let expected = before.clamp(1, nodes.len() - 1) - 1;
                assert_eq!(lookup.segment(x), expected, "{x} in {nodes:?}");
            }
        }
    }
}
