//! Variances and covariances of the ranges of a standing sensor over time.

use super::recording::{Cell, StandingRecording};
use etendue_physics::MovingAverage;
use etendue_physics::statistics::median;

/// Greatest distance of directions whose products count as those of neighbours, columns.
const NEAR: usize = 8;

/// Slope of flat directions before the azimuth jitter is known, m/rad.
const FLAT: f64 = 0.5;

/// Slope of directions from which the azimuth jitter is estimated, m/rad.
const STEEP: f64 = 1.5;

/// Least number of steep directions.
const LEAST_STEEP: usize = 10;

/// Deviation of a range from the mean of its direction, in robust standard deviations, that is a change of the
/// scene or a hop at an edge.
const HOP: f64 = 6.0;

/// Ratio of the variance of a direction to the median variance above which its noise is of another kind.
const MOST_VARIANCE: f64 = 9.0;

/// Noise of a standing sensor that changes with time, as variances.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemporalNoise {
    /// Variance of a range of a flat direction, m².
    pub total: f64,
    /// Variance of the independent noise, m².
    pub independent: f64,
    /// Variance of the azimuth jitter, rad²; `None` without steep directions.
    pub jitter: Option<f64>,
    /// Noise of neighbours.
    pub neighbour: AveragedNoise,
    /// Variance of the noise common to a scan, m².
    pub scan: f64,
    /// Number of flat directions.
    pub directions: usize,
}

/// Noise that is a moving average over neighbouring beams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AveragedNoise {
    /// Variance, m².
    pub variance: f64,
    /// Correlation of neighbours.
    pub correlation: f64,
}

/// Deviations of the ranges of a direction from their mean, times $\sqrt{n/(n-1)}$ for $n$ ranges, so that the
/// mean of products is unbiased; 0 for scans without a return.
struct Deviations {
    index: usize,
    slope: f64,
    values: Vec<f64>,
    variance: f64,
}

impl AveragedNoise {
    /// The noise whose covariances one, two and three columns apart fit best, by least squares; none if the
    /// first is not above `least` (m²). `most` is its greatest variance, m². Covariances that are zero from two
    /// columns on determine only the product of variance and correlation: of fits that are equal within 0.3 % of the
    /// first covariance, that with the least variance is taken.
    pub fn fit(covariances: [f64; 3], least: f64, most: f64) -> Self {
        if covariances[0] <= least || most <= 0.0 {
            return Self::default();
        }
        // The best variance for a correlation, with its cost.
        let fit = |correlation: f64| {
            let average = MovingAverage::of(correlation);
            let shape = [1, 2, 3].map(|apart| average.correlation(apart));
            let pairs = || covariances.iter().zip(&shape);
            let product: f64 = pairs().map(|(c, s)| c * s).sum();
            let square: f64 = shape.iter().map(|s| s * s).sum();
            let variance = (product / square).clamp(0.0, most);
            let cost: f64 = pairs().map(|(c, s)| (c - variance * s).powi(2)).sum();
            (cost, variance, correlation)
        };
        let correlations = (10..=150).map(|step| f64::from(step) * 0.005);
        let fits: Vec<(f64, f64, f64)> = correlations.map(fit).collect();
        let best = fits.iter().map(|fit| fit.0).fold(f64::INFINITY, f64::min);
        let equal = (0.003 * covariances[0]).powi(2);
        let simplest = fits.iter().rev().find(|fit| fit.0 <= best + equal);
        simplest.map_or_else(Self::default, |(_, variance, correlation)| Self {
            variance: *variance,
            correlation: *correlation,
        })
    }
}

impl TemporalNoise {
    /// The noise of the directions in the columns that `keep` selects; `None` without flat directions.
    /// `rounding` is the variance of the rounding of ranges, m².
    pub fn of(
        recording: &StandingRecording,
        rounding: f64,
        keep: impl Fn(&StandingRecording, usize) -> bool,
    ) -> Option<Self> {
        // Select steady directions; estimate the jitter from the steep ones.
        let blocks = recording.repeated();
        let steady_in = |block: &StandingRecording| -> Vec<Deviations> {
            (block.cells.iter().enumerate())
                .filter(|(index, _)| keep(block, index % block.columns))
                .filter_map(|(index, cell)| Deviations::of(index, cell))
                .collect()
        };
        let steady: Vec<Vec<Deviations>> = blocks.iter().map(steady_in).collect();
        let all = || steady.iter().flatten();
        let jitter = jitter(all());
        // Select flat directions of typical variance.
        let typical = median_variance(all(), |one| one.slope.abs() < FLAT)?;
        let by_jitter = jitter.unwrap_or(0.0);
        let is_flat = |one: &&Deviations| {
            let steep = one.slope.powi(2) * by_jitter > 0.1 * typical;
            !steep && one.slope.abs() < STEEP && one.variance < MOST_VARIANCE * typical
        };
        let flat = |block: &'_ Vec<Deviations>| block.iter().filter(is_flat).count();
        let directions: usize = steady.iter().map(flat).sum();
        let variances = all().filter(is_flat).map(|one| one.variance);
        let total = variances.sum::<f64>() / directions as f64;
        // Separate the products of near and far directions.
        let mut products = Products::default();
        for (block, steady) in blocks.iter().zip(&steady) {
            products.add(block, &steady.iter().filter(is_flat).collect::<Vec<_>>());
        }
        let scan = products.far();
        let scans: usize = blocks.iter().map(|block| block.scans).sum();
        let samples = (directions * scans) as f64 / blocks.len() as f64;
        let least = 4.0 * total / samples.sqrt();
        let neighbour = AveragedNoise::fit(
            products.near().map(|near| near - scan),
            least,
            total - scan - rounding,
        );
        Some(Self {
            total,
            independent: (total - scan.max(0.0) - neighbour.variance - rounding).max(0.0),
            jitter,
            neighbour,
            scan: scan.max(0.0),
            directions: directions / blocks.len(),
        })
    }
}

impl Deviations {
    /// The deviations of a direction; `None` at an edge, or if it returned in less than 80 % of the scans or
    /// hops.
    fn of(index: usize, cell: &Cell) -> Option<Self> {
        let slope = cell.slope?;
        let ranges: Vec<f64> = cell.ranges.iter().flatten().copied().collect();
        let n = ranges.len();
        if n < 3 || 5 * n < 4 * cell.ranges.len() {
            return None;
        }
        let mean = ranges.iter().sum::<f64>() / n as f64;
        let unbiased = (n as f64 / (n as f64 - 1.0)).sqrt();
        let deviation = |range: &Option<f64>| range.map_or(0.0, |range| (range - mean) * unbiased);
        let values: Vec<f64> = cell.ranges.iter().map(deviation).collect();
        let variance = values.iter().map(|value| value * value).sum::<f64>() / n as f64;
        let mut sizes: Vec<f64> = ranges.iter().map(|range| (range - mean).abs()).collect();
        let robust = 1.4826 * median(&mut sizes)?;
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let hops = largest > HOP * robust.max(1e-3);
        (!hops).then_some(Self {
            index,
            slope,
            values,
            variance,
        })
    }
}

/// Median variance of the directions that `is` selects, m².
fn median_variance<'a>(
    directions: impl Iterator<Item = &'a Deviations>,
    is: impl Fn(&Deviations) -> bool,
) -> Option<f64> {
    let chosen = directions.filter(|one| is(one));
    let mut variances: Vec<f64> = chosen.map(|one| one.variance).collect();
    median(&mut variances)
}

/// Variance of the azimuth jitter, rad²: the median increase of the variance per squared slope.
fn jitter<'a>(directions: impl Iterator<Item = &'a Deviations> + Clone) -> Option<f64> {
    let flat = median_variance(directions.clone(), |one| one.slope.abs() < FLAT)?;
    let steep = directions.filter(|one| one.slope.abs() > STEEP);
    let increase = |one: &Deviations| (one.variance - flat) / one.slope.powi(2);
    let mut increases: Vec<f64> = steep.map(increase).collect();
    if increases.len() < LEAST_STEEP {
        return None;
    }
    median(&mut increases).map(|variance| variance.max(0.0))
}

/// Products of the deviations of two directions in one scan, m², summed over blocks of scans.
#[derive(Default)]
struct Products {
    /// Sums and numbers of the pairs of one channel, by their distance in columns; distance 0 is the direction itself.
    near: [(f64, usize); NEAR + 1],
    /// The same of all pairs, each in both orders.
    all: (f64, usize),
}

impl Products {
    /// Adds those of a block.
    fn add(&mut self, block: &StandingRecording, flat: &[&Deviations]) {
        // Near pairs
        let mut by_index = vec![None; block.cells.len()];
        for one in flat {
            by_index[one.index] = Some(one);
        }
        for one in flat {
            let column = one.index % block.columns;
            for apart in 0..=NEAR.min(block.columns - 1 - column) {
                if let Some(other) = by_index[one.index + apart] {
                    let products = one.values.iter().zip(&other.values);
                    self.near[apart].0 += products.map(|(a, b)| a * b).sum::<f64>();
                    self.near[apart].1 += block.scans;
                }
            }
        }
        // All pairs
        let of_scan = |scan: usize| flat.iter().map(|one| one.values[scan]).sum::<f64>();
        self.all.0 += { 0..block.scans }
            .map(|scan| of_scan(scan).powi(2))
            .sum::<f64>();
        self.all.1 += block.scans * flat.len() * flat.len();
    }

    /// Means of one channel, one to three columns apart.
    fn near(&self) -> [f64; 3] {
        [1, 2, 3].map(|apart| {
            let (sum, pairs) = self.near[apart];
            sum / pairs.max(1) as f64
        })
    }

    /// Mean of pairs more than [`NEAR`] columns apart, or of different channels.
    fn far(&self) -> f64 {
        let [own, others] = [&self.near[..1], &self.near[1..]];
        let sum = |part: &[(f64, usize)]| part.iter().map(|one| one.0).sum::<f64>();
        let pairs = |part: &[(f64, usize)]| part.iter().map(|one| one.1).sum::<usize>();
        let near_pairs = pairs(own) + 2 * pairs(others);
        let far_pairs = self.all.1.saturating_sub(near_pairs).max(1);
        (self.all.0 - sum(own) - 2.0 * sum(others)) / far_pairs as f64
    }
}
