//! How alike neighbouring beams are.

use crate::noise::{PanelBeams, Seen};
use etendue_physics::profile::Aspect;
use std::collections::BTreeMap;

/// How alike the errors of neighbouring beams are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Likeness {
    /// Correlation of normalised errors of beams 1, 2, ... directions apart, in one scan.
    pub lags: Vec<f64>,
    /// Share of returned beams whose range equals that of the next direction to the digit: two bins
    /// of one sample.
    pub copies: f64,
    /// Pairs of neighbours that were looked at.
    pub pairs: usize,
}

/// Lags looked at.
const LAGS: usize = 8;

/// The likeness of neighbours; `normalise` turns a beam's error (m) and how it meets the panel
/// into standard deviations from the mean.
pub fn likeness(beams: &PanelBeams, normalise: impl Fn(f64, Aspect) -> f64) -> Likeness {
    let mut scans: BTreeMap<u32, Vec<(u32, f64, f64)>> = BTreeMap::new();
    for beam in &beams.beams {
        if let (Seen::Range(range), Some(error)) = (beam.seen, beam.error()) {
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
    sums.likeness()
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

    fn likeness(&self) -> Likeness {
        let variance = self.squares / self.count.max(1) as f64;
        let lag = |(product, pairs): (&f64, &usize)| {
            if *pairs == 0 || variance == 0.0 {
                return 0.0;
            }
            product / *pairs as f64 / variance
        };
        Likeness {
            lags: self.products.iter().zip(&self.pairs).map(lag).collect(),
            copies: self.copies as f64 / self.pairs[0].max(1) as f64,
            pairs: self.pairs[0],
        }
    }
}
