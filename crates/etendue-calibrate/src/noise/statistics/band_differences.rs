//! Test of whether a quantity changes from one band of incidence to the next.

use crate::noise::beams::{PanelBeam, PanelBeams};
use etendue_physics::normal;
use std::collections::BTreeMap;

/// A quantity of the beams of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandQuantity {
    /// Mean range error.
    Bias,
    /// Standard deviation of the range error.
    Spread,
    /// Probability of a drop-out.
    DropOut,
    /// Mean intensity of returned beams.
    Intensity,
}

/// Difference of two adjacent bands of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandDifference {
    /// Middle between the mean incidences of the bands, rad.
    pub incidence: f64,
    /// Two-sided probability of a difference as large as this without a change.
    pub p: f64,
    /// Whether the difference is significant among all of the quantity.
    pub is_significant: bool,
}

/// Probability that any difference of a quantity is called significant where nothing changes.
const LEVEL: f64 = 0.05;

/// Least number of beams of a direction, and of directions of a band.
const LEAST: usize = 3;

/// Differences of adjacent bands of incidence, `width` (rad) wide, in one quantity, by ascending incidence. A band
/// contains both sides of the normal.
///
/// The samples are the directions: the quantity of each direction over all scans. So a fixed pattern, and the
/// correlation of one direction from scan to scan, do not make differences significant. The samples of adjacent bands
/// are compared by the test of Welch (1947, doi:10.1093/biomet/34.1-2.28): $t = (\bar y_2 - \bar y_1)/\sqrt{s_1^2/n_1 +
/// s_2^2/n_2}$. Significance is decided by the method of Holm (1979, "A simple sequentially rejective multiple test
/// procedure"), at a level of 5 % for all differences of the quantity.
///
/// Directions with fewer than three values and bands with fewer than three directions are left out. Not modelled:
/// correlation of neighbouring directions.
pub fn band_differences(
    beams: &PanelBeams,
    width: f64,
    quantity: BandQuantity,
) -> Vec<BandDifference> {
    // Compare each band with the next
    let bands = bands(beams, width, quantity);
    let differences = bands.windows(2).map(|pair| BandDifference {
        incidence: 0.5 * (pair[0].incidence + pair[1].incidence),
        p: pair[0].probability_of_difference(&pair[1]),
        is_significant: false,
    });
    let mut differences: Vec<BandDifference> = differences.collect();

    // Decide, beginning with the least probable one
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|a, b| differences[*a].p.total_cmp(&differences[*b].p));
    for (rank, number) in order.iter().enumerate() {
        let others = (order.len() - rank) as f64;
        if differences[*number].p > LEVEL / others {
            break;
        }
        differences[*number].is_significant = true;
    }
    differences
}

/// Directions of a band.
struct Band {
    /// Mean incidence, rad.
    incidence: f64,
    directions: f64,
    mean: f64,
    /// Variance of the mean.
    variance: f64,
}

/// The bands with enough directions, by ascending incidence.
fn bands(beams: &PanelBeams, width: f64, quantity: BandQuantity) -> Vec<Band> {
    // Group the beams by direction, and the directions by band
    let mut by_direction: BTreeMap<u32, Vec<&PanelBeam>> = BTreeMap::new();
    for beam in &beams.beams {
        by_direction.entry(beam.cell).or_default().push(beam);
    }
    let mut by_band: BTreeMap<i64, Vec<[f64; 2]>> = BTreeMap::new();
    for beams in by_direction.values() {
        let incidences = beams.iter().map(|beam| beam.incidence);
        let incidence = incidences.sum::<f64>() / beams.len() as f64;
        if let Some(value) = quantity.of_direction(beams) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a quarter turn has few bands"
            )]
            let number = (incidence / width).floor() as i64;
            by_band.entry(number).or_default().push([incidence, value]);
        }
    }

    // Mean and variance of each band
    let enough = by_band.values().filter(|samples| samples.len() >= LEAST);
    let band = |samples: &Vec<[f64; 2]>| {
        let values: Vec<f64> = samples.iter().map(|[_, value]| *value).collect();
        let [mean, sd] = mean_and_deviation(&values);
        let directions = samples.len() as f64;
        Band {
            incidence: samples.iter().map(|[incidence, _]| incidence).sum::<f64>() / directions,
            directions,
            mean,
            variance: sd * sd / directions,
        }
    };
    enough.map(band).collect()
}

impl BandQuantity {
    /// The quantity of one direction; `None` for too few values.
    fn of_direction(self, beams: &[&PanelBeam]) -> Option<f64> {
        let errors = || beams.iter().filter_map(|beam| beam.error());
        let values: Vec<f64> = match self {
            Self::Bias | Self::Spread => errors().collect(),
            Self::DropOut => {
                let dropped = beams.iter().map(|beam| !beam.returned());
                dropped
                    .map(|dropped| f64::from(u8::from(dropped)))
                    .collect()
            }
            Self::Intensity => {
                let returned = beams.iter().filter(|beam| beam.returned());
                returned.map(|beam| f64::from(beam.intensity)).collect()
            }
        };
        let [mean, deviation] = mean_and_deviation(&values);
        let value = if self == Self::Spread {
            deviation
        } else {
            mean
        };
        (values.len() >= LEAST).then_some(value)
    }
}

/// Mean, and standard deviation with one degree of freedom less than values.
fn mean_and_deviation(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0)).sqrt()]
}

impl Band {
    /// Two-sided probability of the difference of two bands without a change.
    fn probability_of_difference(&self, next: &Self) -> f64 {
        let difference = next.mean - self.mean;
        let variance = self.variance + next.variance;
        if difference == 0.0 {
            return 1.0;
        }
        if variance == 0.0 {
            return 0.0;
        }
        let squares = |band: &Self| band.variance.powi(2) / (band.directions - 1.0);
        let freedom = variance.powi(2) / (squares(self) + squares(next));
        // Student's t to a normal deviate (Wallace 1959, doi:10.1214/aoms/1177706096)
        let t_squared = difference * difference / variance;
        let normal_deviate = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
            * (freedom * (t_squared / freedom).ln_1p()).sqrt();
        2.0 * normal::probability(-normal_deviate)
    }
}
