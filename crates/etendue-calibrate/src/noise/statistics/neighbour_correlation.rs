//! Correlation of neighbouring beams.

use crate::noise::beams::{BeamOutcome, PanelBeams};
use etendue_physics::profile::Aspect;
use std::collections::BTreeMap;

/// Correlation of the errors of neighbouring beams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeighbourCorrelation {
    /// Correlation of normalised errors of beams that are 1, 2, ... directions apart, in one scan.
    pub lags: Vec<f64>,
    /// Correlation of neighbours: of the temporal noise and of the fixed-pattern noise.
    pub neighbours: [f64; 2],
    /// Fraction of returned beams whose range equals that of the next direction: two bins of one sample.
    pub copies: f64,
    /// Number of pairs of neighbours.
    pub pairs: usize,
}

/// Number of lags.
const LAGS: usize = 8;

/// Relative rounding of ranges from coordinates of points.
const ROUNDING: f64 = 1e-6;

/// One returned beam of a scan: its direction, normalised error and range (m).
struct NormalisedBeam {
    cell: u32,
    error: f64,
    range: f64,
}

/// Correlation of the errors of neighbouring beams. `normalise` converts the error of a beam (m) at an
/// aspect to standard deviations from the mean.
pub fn neighbour_correlation(
    beams: &PanelBeams,
    normalise: impl Fn(f64, Aspect) -> f64,
) -> NeighbourCorrelation {
    // Normalise the errors and sort them by direction
    let mut scans: BTreeMap<u32, Vec<NormalisedBeam>> = BTreeMap::new();
    for beam in &beams.beams {
        if let (BeamOutcome::Range(range), Some(error)) = (beam.outcome, beam.error()) {
            scans.entry(beam.scan).or_default().push(NormalisedBeam {
                cell: beam.cell,
                error: normalise(error, beam.aspect()).clamp(-5.0, 5.0),
                range,
            });
        }
    }
    for beams in scans.values_mut() {
        beams.sort_by_key(|beam| beam.cell);
    }

    // Correlate beams of one scan; separate temporal and fixed-pattern noise
    let mut sums = LagSums::default();
    for beams in scans.values() {
        sums.add(beams);
    }
    let total = sums.correlation();
    let first = total.lags[0];
    NeighbourCorrelation {
        neighbours: separate_neighbours(&scans).unwrap_or([first; 2]),
        ..total
    }
}

/// Least fixed-pattern fraction of the variance at which its correlation is estimated.
const MIN_FIXED_PATTERN: f64 = 0.05;

/// Correlations of neighbours of temporal and fixed-pattern noise; `None` if there is too little
/// fixed-pattern noise.
///
/// The mean of a direction over $n$ scans contains the fixed pattern $f$ and $1/n$ of the variance of the
/// temporal noise $t$: with $\\bar x$ the means of neighbours,
/// $\\overline{\\bar x\\bar x'} = \\rho_f F + \\rho_t T/n$.
fn separate_neighbours(scans: &BTreeMap<u32, Vec<NormalisedBeam>>) -> Option<[f64; 2]> {
    // Mean error of each direction
    let mut sums: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for beam in scans.values().flatten() {
        let [sum, count] = sums.entry(beam.cell).or_default();
        *sum += beam.error;
        *count += 1.0;
    }
    let mean = |cell: u32| sums.get(&cell).map(|[sum, count]| sum / count);

    // Variance and covariance of the temporal noise: deviations from the means
    let mut square = 0.0;
    let mut product = 0.0;
    let mut pairs = 0.0;
    for beams in scans.values() {
        for (at, beam) in beams.iter().enumerate() {
            let deviation = beam.error - mean(beam.cell)?;
            square += deviation * deviation;
            let next = beams.get(at + 1);
            if let Some(next) = next.filter(|next| next.cell == beam.cell + 1) {
                product += deviation * (next.error - mean(next.cell)?);
                pairs += 1.0;
            }
        }
    }
    let cells = sums.len() as f64;
    let samples = sums.values().map(|[_, n]| n).sum::<f64>();
    let temporal = square / (samples - cells).max(1.0);
    let temporal_product = product / f64::max(pairs, 1.0) * samples / (samples - cells).max(1.0);

    // Variance and covariance of the fixed pattern: of the means, less the temporal noise in them
    let scans = samples / cells.max(1.0);
    let fixed = sums.values().map(|[sum, n]| (sum / n).powi(2)).sum::<f64>() / cells.max(1.0)
        - temporal / scans;
    let neighbours: Vec<f64> = sums
        .keys()
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

/// Sums of products of the errors of beams that are some directions apart.
#[derive(Default)]
struct LagSums {
    products: [f64; LAGS],
    pairs: [usize; LAGS],
    squares: f64,
    count: usize,
    copies: usize,
}

impl LagSums {
    /// Adds the beams of one scan, sorted by direction.
    fn add(&mut self, beams: &[NormalisedBeam]) {
        for (number, beam) in beams.iter().enumerate() {
            self.squares += beam.error * beam.error;
            self.count += 1;
            for other in beams[number + 1..].iter().take(LAGS) {
                let lag = (other.cell - beam.cell) as usize;
                if lag == 0 || lag > LAGS {
                    continue;
                }
                self.products[lag - 1] += beam.error * other.error;
                self.pairs[lag - 1] += 1;
                let is_copy = (beam.range - other.range).abs() <= ROUNDING * beam.range;
                self.copies += usize::from(lag == 1 && is_copy);
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
