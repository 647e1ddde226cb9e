//! Covariance of an estimate from range errors that are not independent.
//!
//! The weights of a fit are those of independent errors, with the whole variance of each range. The estimate
//! is then unbiased, but errors that beams share ([`CorrelatedNoise`]) do not average out, and the inverse of
//! the normal matrix would understate its covariance. With the Jacobian $J$ of the residuals in standard
//! deviations and the correlation matrix $R$ of the errors, it is
//!
//! $$\Sigma = H^{-1} (J^\top R\,J)\, H^{-1} = H^{-1} + H^{-1} E H^{-1}, \quad
//!   H = J^\top J, \quad E = J^\top (R - I)\, J$$
//!
//! The excess $E$ is a sum over groups of beams. For errors with the standard deviation $\sigma$ that all
//! beams $i$ of a group share, with $a_i$ the row of $J$ divided by the standard deviation of the range,
//!
//! $$E = \sigma^2 \Big(\sum_i a_i\Big)\Big(\sum_i a_i\Big)^\top - \sigma^2 \sum_i a_i a_i^\top$$
//!
//! A lidar that reports reflectivities computes them from measured ranges. An error of the range is then also one of the
//! intensity of its beam: $a_i$ is the sum of the row of the range and that of the intensity times the change of the intensity per
//! metre, each divided by its standard deviation. The covariance of range and intensity of one beam adds to $E$.
//!
//! Groups are scans, channels (over all scans) and directions (over all scans). Beams a few columns apart share
//! the errors of moving averages. A fixed-pattern error counts as the same in all scans, and for neighbouring
//! beams of one channel, on whatever surface: for beams on different objects this overstates the covariance.

use super::problem::FitProblem;
use crate::manifold::Variable;
use crate::model::QUANTITIES;
use etendue_sensors::lidar::{CorrelatedNoise, MeasurementNoise};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// Greatest distance of neighbouring beams with correlated errors, columns.
const REACH: u32 = 3;

/// Errors of the ranges of a problem that are not independent.
#[derive(Clone, Debug)]
pub(super) struct RangeCorrelation {
    noise: CorrelatedNoise,
    /// Correlations of the errors of neighbouring beams, and of their fixed-pattern errors, one to three
    /// columns apart.
    neighbour: [f64; REACH as usize],
    beam: [f64; REACH as usize],
    /// Change of each range by one standard deviation of the azimuth jitter, by scan and beam, m.
    pointing: Vec<f64>,
    /// Variance of the error of each range that its intensity shares, by scan and beam, m².
    range_variance: Vec<f64>,
    /// Change of each intensity by an error of its range, by scan and beam, counts per metre.
    intensity_by_range: Vec<f64>,
}

/// The residuals of a beam in a linearised problem, per metre of an error of its range.
struct BeamRow {
    /// Index of the beam in all scans.
    beam: usize,
    place: Place,
    /// Row of the Jacobian of the range; zero without a range residual.
    of_range: DVector<f64>,
    /// That of the intensity.
    of_intensity: DVector<f64>,
}

impl BeamRow {
    /// Change of the gradient by an error of the range.
    fn sum(&self) -> DVector<f64> {
        &self.of_range + &self.of_intensity
    }
}

/// Place of a beam in the scans.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    channel: u16,
    column: u32,
    scan: usize,
}

/// The place without what a shared error does not depend on.
type KeyOf = fn(&Place) -> Place;

impl RangeCorrelation {
    /// The correlation of the errors of all ranges; `None` if they are independent.
    pub fn new(noise: &CorrelatedNoise, of_beams: &[Option<MeasurementNoise>]) -> Option<Self> {
        let pointing = |noise: &Option<MeasurementNoise>| noise.map_or(0.0, |one| one.pointing);
        let pointing: Vec<f64> = of_beams.iter().map(pointing).collect();
        let variance = |noise: &Option<MeasurementNoise>| {
            noise.map_or(0.0, |one| one.receiver + one.correlated)
        };
        let by_range =
            |noise: &Option<MeasurementNoise>| noise.map_or(0.0, |one| one.intensity_by_range);
        let averages = [noise.neighbour_average(), noise.beam_average()];
        let [neighbour, beam] =
            averages.map(|average| [1, 2, 3].map(|apart| average.correlation(apart)));
        let has_jitter = neighbour[0] > 0.0 && pointing.iter().any(|shift| *shift != 0.0);
        (has_jitter || !noise.is_none()).then_some(Self {
            noise: *noise,
            neighbour,
            beam,
            pointing,
            range_variance: of_beams.iter().map(variance).collect(),
            intensity_by_range: of_beams.iter().map(by_range).collect(),
        })
    }

    /// Variance of a range by the errors of its scan and channel, m².
    pub fn common(&self) -> f64 {
        self.of_scan_and_channel().iter().sum()
    }

    /// Covariance of the ranges of two neighbouring beams of one scan and channel, without that of
    /// [`RangeCorrelation::common`], m².
    pub fn of_neighbours(&self, beams: [usize; 2]) -> f64 {
        self.of_moving_averages(1) + self.by_pointing(beams, 1)
    }

    /// Covariance of the errors of the ranges of two beams of one scan and channel, `apart` columns apart, by moving
    /// averages of range errors within the scan, m².
    fn of_moving_averages(&self, apart: u32) -> f64 {
        let place = apart as usize - 1;
        self.noise.neighbour.powi(2) * self.neighbour[place]
            + self.noise.beam.powi(2) * self.beam[place]
    }

    /// That by the jitter of their azimuths, which changes the distance of the surface, m².
    fn by_pointing(&self, beams: [usize; 2], apart: u32) -> f64 {
        let [a, b] = beams.map(|beam| self.pointing[beam]);
        a * b * self.neighbour[apart as usize - 1]
    }

    /// Variances of the errors that scans and channels share, m².
    pub fn of_scan_and_channel(&self) -> [f64; 2] {
        [self.noise.scan, self.noise.channel].map(|sd| sd * sd)
    }
}

impl FitProblem {
    /// The excess $E$ of the variance of the gradient over that of independent errors, at the state of a
    /// linearisation whose weighted Jacobian is given; `None` if errors are independent.
    pub(super) fn excess(
        &self,
        state: &[Variable],
        jacobian: &DMatrix<f64>,
    ) -> Option<DMatrix<f64>> {
        let correlation = self.correlation.as_deref()?;
        let rows = self.beam_rows(correlation, state, jacobian);
        let n = jacobian.ncols();
        let mut excess = DMatrix::zeros(n, n);
        // Add the covariance of range and intensity of each beam.
        for row in &rows {
            let variance = correlation.range_variance[row.beam];
            add_pair(&mut excess, variance, &row.of_range, &row.of_intensity);
        }
        // Add the errors that whole groups share.
        let [scan, channel] = correlation.of_scan_and_channel();
        let direction = correlation.noise.beam.powi(2);
        let groups: [(f64, KeyOf); 3] = [
            (scan, |place| Place {
                channel: 0,
                column: 0,
                ..*place
            }),
            (channel, |place| Place {
                column: 0,
                scan: 0,
                ..*place
            }),
            (direction, |place| Place { scan: 0, ..*place }),
        ];
        for (variance, group) in groups.into_iter().filter(|(variance, _)| *variance > 0.0) {
            let mut sums: BTreeMap<Place, DVector<f64>> = BTreeMap::new();
            for row in &rows {
                let own = row.sum();
                excess.ger(-variance, &own, &own, 1.0);
                *sums
                    .entry(group(&row.place))
                    .or_insert_with(|| DVector::zeros(n)) += own;
            }
            for sum in sums.values() {
                excess.ger(variance, sum, sum, 1.0);
            }
        }
        // Add those of neighbouring beams.
        self.add_neighbours(correlation, &rows, &mut excess);
        Some(excess)
    }

    /// Adds the covariance of neighbouring beams of one scan to an excess, and that of the fixed-pattern errors of
    /// neighbouring beams of different scans.
    fn add_neighbours(
        &self,
        correlation: &RangeCorrelation,
        rows: &[BeamRow],
        excess: &mut DMatrix<f64>,
    ) {
        let by_place: BTreeMap<Place, &BeamRow> = rows.iter().map(|row| (row.place, row)).collect();
        let scans = self.model.scans();
        for row in rows {
            let own = row.sum();
            for apart in 1..=REACH {
                for scan in 0..scans {
                    let column = row.place.column + apart;
                    let place = Place {
                        column,
                        scan,
                        ..row.place
                    };
                    let Some(other) = by_place.get(&place) else {
                        continue;
                    };
                    let covariance = if scan == row.place.scan {
                        let jitter = correlation.by_pointing([row.beam, other.beam], apart);
                        add_pair(excess, jitter, &row.of_range, &other.of_range);
                        correlation.of_moving_averages(apart)
                    } else {
                        correlation.noise.beam.powi(2) * correlation.beam[apart as usize - 1]
                    };
                    add_pair(excess, covariance, &own, &other.sum());
                }
            }
        }
    }

    /// The residuals of the linearisation at a state, by beam.
    fn beam_rows(
        &self,
        correlation: &RangeCorrelation,
        state: &[Variable],
        jacobian: &DMatrix<f64>,
    ) -> Vec<BeamRow> {
        let shots: Vec<_> = self.model.shots().collect();
        let mut rows: Vec<BeamRow> = Vec::new();
        for (row, number) in self.residual_numbers(state).into_iter().enumerate() {
            let beam = number / QUANTITIES;
            // Begin the next beam.
            if rows.last().is_none_or(|last| last.beam != beam) {
                let (scan, shot) = shots[beam];
                let place = Place {
                    channel: shot.channel,
                    column: shot.column,
                    scan,
                };
                let [of_range, of_intensity] = [0, 1].map(|_| DVector::zeros(jacobian.ncols()));
                rows.push(BeamRow {
                    beam,
                    place,
                    of_range,
                    of_intensity,
                });
            }
            // Add the residual to it.
            let own = jacobian.row(row).transpose() / self.unit(number);
            if let Some(last) = rows.last_mut() {
                if number.is_multiple_of(QUANTITIES) {
                    last.of_range = own;
                } else {
                    last.of_intensity = own * correlation.intensity_by_range[beam];
                }
            }
        }
        rows
    }
}

/// Adds the covariance of two errors with the rows `a` and `b` to an excess.
fn add_pair(excess: &mut DMatrix<f64>, covariance: f64, a: &DVector<f64>, b: &DVector<f64>) {
    if covariance != 0.0 {
        excess.ger(covariance, a, b, 1.0);
        excess.ger(covariance, b, a, 1.0);
    }
}
