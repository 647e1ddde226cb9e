//! Correlation of neighbouring beams.

use crate::noise::{BeamOutcome, PanelBeams};
use etendue_physics::profile::Aspect;
use std::collections::BTreeMap;

/// Correlation of the errors of neighbouring beams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeighbourCorrelation {
    /// Correlation of normalised errors of beams 1, 2, ... directions apart, in one scan.
    pub lags: Vec<f64>,
    /// Correlation of neighbours of the temporal noise and of the fixed-pattern noise.
    pub neighbours: [f64; 2],
    /// Share of returned beams whose range equals that of the next direction to the digit: two bins
    /// of one sample.
    pub copies: f64,
    /// Number of pairs of neighbours.
    pub pairs: usize,
}

/// Number of lags.
const LAGS: usize = 8;

/// The neighbour_correlation of neighbours; `normalise` turns a beam's error (m) and how it meets the panel
/// into standard deviations from the mean.
pub fn neighbour_correlation(
    beams: &PanelBeams,
    normalise: impl Fn(f64, Aspect) -> f64,
) -> NeighbourCorrelation {
    let mut scans: BTreeMap<u32, Vec<(u32, f64, f64)>> = BTreeMap::new();
    for beam in &beams.beams {
        if let (BeamOutcome::Range(range), Some(error)) = (beam.outcome, beam.error()) {
            let normal = normalise(error, beam.aspect()).clamp(-5.0, 5.0);
            scans
                .entry(beam.scan)
                .or_default()
                .push((beam.cell, normal, range));
        }
    }
    let mut sums = Sums::default();
    for beams in scans.values_mut() {
        beams.sort_by_key(|beam| beam.0);
        sums.add(beams);
    }
    let found = sums.correlation();
    let first = found.lags[0];
    NeighbourCorrelation {
        neighbours: by_part(&scans).unwrap_or([first; 2]),
        ..found
    }
}

/// Least fixed-pattern share of the variance at which its correlation is estimated.
const MIN_FIXED_PATTERN: f64 = 0.05;

/// Correlations of neighbours of temporal and fixed-pattern noise; `None` where there is too little
/// fixed-pattern noise.
///
/// The mean of a direction over $n$ scans is the fixed pattern $f$ and $1/n$ of the variance of the
/// temporal noise $t$: with $\\bar x$ the means of neighbours, $\\overline{\\bar x\\bar x'} = \\rho_f F + \\rho_t T/n$.
fn by_part(scans: &BTreeMap<u32, Vec<(u32, f64, f64)>>) -> Option<[f64; 2]> {
    let mut sums: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for (cell, error, _) in scans.values().flatten() {
        let [sum, count] = sums.entry(*cell).or_default();
        *sum += error;
        *count += 1.0;
    }
    let mean = |cell: u32| sums.get(&cell).map(|[sum, count]| sum / count);
    let (mut square, mut product, mut pairs) = (0.0, 0.0, 0.0);
    for beams in scans.values() {
        for (at, (cell, error, _)) in beams.iter().enumerate() {
            let moved = error - mean(*cell)?;
            square += moved * moved;
            let next = beams.get(at + 1).filter(|next| next.0 == cell + 1);
            if let Some((next, other, _)) = next {
                product += moved * (other - mean(*next)?);
                pairs += 1.0;
            }
        }
    }
    let (cells, samples) = (
        sums.len() as f64,
        sums.values().map(|[_, n]| n).sum::<f64>(),
    );
    let temporal = square / (samples - cells).max(1.0);
    let temporal_product = product / f64::max(pairs, 1.0) * samples / (samples - cells).max(1.0);
    let scans = samples / cells.max(1.0);
    let fixed = sums.values().map(|[sum, n]| (sum / n).powi(2)).sum::<f64>() / cells.max(1.0)
        - temporal / scans;
    let neighbours: Vec<f64> = { sums.keys() }
        .filter_map(|cell| Some(mean(*cell)? * mean(cell + 1)?))
        .collect();
    let fixed_product = neighbours.iter().sum::<f64>() / (neighbours.len() as f64).max(1.0)
        - temporal_product / scans;
    if scans < 2.0
        || pairs == 0.0
        || fixed < MIN_FIXED_PATTERN * (fixed + temporal)
        || temporal <= 0.0
    {
        return None;
    }
    Some([temporal_product / temporal, fixed_product / fixed])
}

#[derive(Default)]
struct Sums {
    products: [f64; LAGS],
    pairs: [usize; LAGS],
    squares: f64,
    count: usize,
    copies: usize,
}

impl Sums {
    fn add(&mut self, beams: &[(u32, f64, f64)]) {
        for (number, (cell, error, range)) in beams.iter().enumerate() {
            self.squares += error * error;
            self.count += 1;
            for (other_cell, other, other_range) in beams[number + 1..].iter().take(LAGS) {
                let apart = (other_cell - cell) as usize;
                if apart == 0 || apart > LAGS {
                    continue;
                }
                self.products[apart - 1] += error * other;
                self.pairs[apart - 1] += 1;
                self.copies += usize::from(apart == 1 && range == other_range);
            }
        }
    }

    fn correlation(&self) -> NeighbourCorrelation {
        let variance = self.squares / self.count.max(1) as f64;
        let lag = |(product, pairs): (&f64, &usize)| {
            if *pairs == 0 || variance == 0.0 {
                return 0.0;
            }
            product / *pairs as f64 / variance
        };
        NeighbourCorrelation {
            neighbours: [0.0; 2],
            lags: self.products.iter().zip(&self.pairs).map(lag).collect(),
            copies: self.copies as f64 / self.pairs[0].max(1) as f64,
            pairs: self.pairs[0],
        }
    }
}
