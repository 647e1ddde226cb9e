//! Spread of the ranges of a standing sensor by range, and second differences of neighbouring ranges.

use super::patterns::fitted_windows;
use super::recording::StandingRecording;
use etendue_physics::statistics::median;
use std::ops::Range;

/// Spread over time of the directions on planes in a range band.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadBand {
    /// The band, m.
    pub band: Range<f64>,
    /// Number of directions.
    pub directions: usize,
    /// Median standard deviation over the scans, m.
    pub deviation: f64,
}

/// Least number of directions of a band.
const LEAST: usize = 20;

/// Columns from one triple of neighbours to the next, so that triples are independent.
const STRIDE: usize = 7;

impl StandingRecording {
    /// Median standard deviation over the scans of the directions on planes, in bands between ascending `edges`
    /// (m); bands with fewer than 20 directions are left out.
    pub fn spread_by_range(&self, edges: &[f64]) -> Vec<SpreadBand> {
        let (windows, _) = fitted_windows(self, |_| true);
        let spreads: Vec<[f64; 2]> = (windows.iter().flatten())
            .filter(|one| one.on_plane)
            .map(|one| [one.range, self.deviation(one.index)])
            .collect();
        let band = |edges: &[f64]| {
            let band = edges[0]..edges[1];
            let inside = spreads.iter().filter(|[range, _]| band.contains(range));
            let mut deviations: Vec<f64> = inside.map(|[_, deviation]| *deviation).collect();
            let directions = deviations.len();
            let deviation = median(&mut deviations).filter(|_| directions >= LEAST)?;
            Some(SpreadBand {
                band,
                directions,
                deviation,
            })
        };
        edges.windows(2).filter_map(band).collect()
    }

    /// Second differences $e_{i-1} - 2 e_i + e_{i+1}$ of the deviations $e$ from planes of neighbours in one scan
    /// of a channel, m, of independent triples.
    pub fn second_differences(&self, scan: usize) -> Vec<f64> {
        let (windows, _) = fitted_windows(self, |_| true);
        // The deviation of the mean, plus that of the scan from the mean.
        let mut deviations = vec![None; self.cells.len()];
        for one in windows.iter().flatten().filter(|one| one.on_plane) {
            let range = self.cells[one.index].ranges[scan];
            deviations[one.index] = range.map(|range| one.deviation + range - one.range);
        }
        let triples = deviations.chunks(self.columns.max(1)).flat_map(|channel| {
            let triples = channel.windows(3).step_by(STRIDE);
            triples.filter_map(|e| Some(e[0]? - 2.0 * e[1]? + e[2]?))
        });
        triples.collect()
    }

    /// Standard deviation of the ranges of a cell over the scans, m.
    fn deviation(&self, index: usize) -> f64 {
        let ranges: Vec<f64> = self.cells[index].ranges.iter().flatten().copied().collect();
        let count = ranges.len() as f64;
        let mean = ranges.iter().sum::<f64>() / count;
        let squares: f64 = ranges.iter().map(|range| (range - mean).powi(2)).sum();
        (squares / (count - 1.0).max(1.0)).sqrt()
    }
}
