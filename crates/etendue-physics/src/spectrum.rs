//! Quantities as functions of wavelength.

use thiserror::Error;

/// A quantity as a function of wavelength.
///
/// ```
/// use etendue_physics::Spectrum;
/// // N-BK7 (SCHOTT 2017).
/// let bk7 = Spectrum::Sellmeier {
///     terms: vec![
///         (1.03961212, 0.00600069867e-12),
///         (0.231792344, 0.0200179144e-12),
///         (1.01046945, 103.560653e-12),
///     ],
///     range: (300e-9, 2500e-9),
/// };
/// assert!((bk7.at(785e-9)? - 1.51108).abs() < 1e-5);
/// assert!((bk7.clone().group_index().at(785e-9)? - 1.52726).abs() < 1e-5);
/// # Ok::<(), etendue_physics::OutsideTable>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Spectrum {
    /// Constant over wavelength.
    Constant(f64),
    /// Pairs of wavelength (m) and value, wavelengths strictly ascending; linear interpolation.
    Table(Vec<(f64, f64)>),
    /// Refractive index by the Sellmeier equation (1871): $n^2 = 1 + \sum_i B_i
    /// \lambda^2/(\lambda^2 - C_i)$.
    Sellmeier {
        /// Pairs of $B_i$ and $C_i$ (m²).
        terms: Vec<(f64, f64)>,
        /// First and last wavelength of the fit's validity, m.
        range: (f64, f64),
    },
    /// Sum of powers (Cauchy's equation): $\sum_i c_i (\lambda / 1\\,\mathrm{\mu m})^{p_i}$.
    Powers {
        /// Pairs of $c_i$ and $p_i$.
        terms: Vec<(f64, i32)>,
        /// First and last wavelength of the fit's validity, m.
        range: (f64, f64),
    },
    /// Group index $n - \lambda\\,\mathrm{d}n/\mathrm{d}\lambda$ of a phase index.
    GroupIndex(Box<Spectrum>),
}

/// A wavelength outside the range of a spectrum.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("no value at {:.1} nm: the data cover {:.1} to {:.1} nm", wavelength * 1e9, covered.0 * 1e9, covered.1 * 1e9)]
pub struct OutsideTable {
    /// The requested wavelength, m.
    pub wavelength: f64,
    /// First and last wavelength of the table, m.
    pub covered: (f64, f64),
}

/// Relative distance outside the range at which a wavelength counts as the end of the range: covers
/// only rounding of nanometres to metres.
const END_TOLERANCE: f64 = 1e-12;

impl Spectrum {
    /// Value at `wavelength` (m).
    ///
    /// # Errors
    /// If the data do not cover the wavelength. There is no extrapolation.
    pub fn at(&self, wavelength: f64) -> Result<f64, OutsideTable> {
        self.covers(wavelength)?;
        Ok(match self {
            Self::Constant(value) => *value,
            Self::Table(points) => match points.last() {
                // The last segment reaches its end up to rounding only
                Some((last, value)) if wavelength >= *last => *value,
                _ => {
                    let (slope, (start, value)) = segment(points, wavelength, false);
                    value + slope * (wavelength - start)
                }
            },
            Self::Sellmeier { terms, .. } => sellmeier(terms, wavelength).0,
            Self::Powers { terms, .. } => powers(terms, wavelength).0,
            Self::GroupIndex(phase) => {
                phase.at(wavelength)? - wavelength * phase.slope(wavelength)?
            }
        })
    }

    /// Spectrum of the group index of this phase index, $n_g = n -
    /// \lambda\\,\mathrm{d}n/\mathrm{d}\lambda$.
    ///
    /// The derivative is analytic except for tables, where it is the slope of the segment around
    /// the wavelength (at a table point the mean of both sides). Where ranges through glass matter,
    /// describe the index by a fit instead of a table.
    #[must_use]
    pub fn group_index(self) -> Self {
        match self {
            Self::Constant(index) => Self::Constant(index),
            phase => Self::GroupIndex(Box::new(phase)),
        }
    }

    /// First and last wavelength covered, m.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Constant(_) => (0.0, f64::INFINITY),
            Self::Table(points) => match (points.first(), points.last()) {
                (Some(first), Some(last)) => (first.0, last.0),
                _ => (f64::INFINITY, 0.0),
            },
            Self::Sellmeier { range, .. } | Self::Powers { range, .. } => *range,
            Self::GroupIndex(phase) => phase.range(),
        }
    }

    fn covers(&self, wavelength: f64) -> Result<(), OutsideTable> {
        let covered = self.range();
        let slack = END_TOLERANCE * wavelength;
        if wavelength >= covered.0 - slack && wavelength <= covered.1 + slack {
            Ok(())
        } else {
            Err(OutsideTable {
                wavelength,
                covered,
            })
        }
    }

    /// Derivative with respect to wavelength, 1/m.
    fn slope(&self, wavelength: f64) -> Result<f64, OutsideTable> {
        self.covers(wavelength)?;
        Ok(match self {
            Self::Constant(_) => 0.0,
            Self::Table(points) => {
                let (below, above) = (
                    segment(points, wavelength, true),
                    segment(points, wavelength, false),
                );
                0.5 * (below.0 + above.0)
            }
            Self::Sellmeier { terms, .. } => sellmeier(terms, wavelength).1,
            Self::Powers { terms, .. } => powers(terms, wavelength).1,
            Self::GroupIndex(phase) => return phase.slope(wavelength),
        })
    }
}

impl From<f64> for Spectrum {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

/// Slope and starting point of the table segment that contains `wavelength`; at a table point the
/// segment before it if `below`, otherwise the one after.
fn segment(points: &[(f64, f64)], wavelength: f64, below: bool) -> (f64, (f64, f64)) {
    let past = |point: &(f64, f64)| point.0 < wavelength || (!below && point.0 == wavelength);
    let end = points
        .partition_point(past)
        .clamp(1, points.len().max(2) - 1);
    let start = points[end - 1];
    let slope = points
        .get(end)
        .map_or(0.0, |next| (next.1 - start.1) / (next.0 - start.0));
    (slope, start)
}

/// $n$ and $\mathrm{d}n/\mathrm{d}\lambda = -\frac{\lambda}{n}\sum_i B_i C_i/(\lambda^2 - C_i)^2$.
fn sellmeier(terms: &[(f64, f64)], wavelength: f64) -> (f64, f64) {
    let squared = wavelength * wavelength;
    let index = terms
        .iter()
        .map(|(b, c)| b * squared / (squared - c))
        .sum::<f64>();
    let index = (1.0 + index).sqrt();
    let sum = terms
        .iter()
        .map(|(b, c)| b * c / (squared - c).powi(2))
        .sum::<f64>();
    (index, -wavelength / index * sum)
}

/// Sum of powers and its derivative with respect to wavelength.
fn powers(terms: &[(f64, i32)], wavelength: f64) -> (f64, f64) {
    let micrometres = wavelength * 1e6;
    let value = terms
        .iter()
        .map(|(c, p)| c * micrometres.powi(*p))
        .sum::<f64>();
    let slope = terms
        .iter()
        .map(|(c, p)| c * f64::from(*p) * micrometres.powi(p - 1))
        .sum::<f64>();
    (value, slope * 1e6)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_interpolated_linearly_and_not_extrapolated() {
        let table = Spectrum::Table(vec![(800e-9, 1.0), (900e-9, 3.0), (1000e-9, 2.0)]);
        assert_eq!(table.at(800e-9), Ok(1.0));
        assert!((table.at(850e-9).unwrap() - 2.0).abs() < 1e-12);
        assert!((table.at(1000e-9).unwrap() - 2.0).abs() < 1e-12);
        let outside = table.at(1550e-9).unwrap_err();
        assert_eq!(
            outside.to_string(),
            "no value at 1550.0 nm: the data cover 800.0 to 1000.0 nm"
        );
        assert!(Spectrum::Table(vec![]).at(900e-9).is_err());
        assert_eq!(Spectrum::Table(vec![(900e-9, 5.0)]).at(900e-9), Ok(5.0));
    }

    #[test]
    fn a_table_has_its_own_values_at_its_wavelengths() {
        let table = vec![(785e-9, 0.83), (865e-9, 0.81), (1550e-9, 0.0)];
        for (wavelength, value) in table.clone() {
            assert_eq!(Spectrum::Table(table.clone()).at(wavelength), Ok(value));
        }
    }

    #[test]
    fn the_group_index_is_the_phase_index_less_wavelength_times_its_slope() {
        let spectra = [
            Spectrum::Sellmeier {
                terms: vec![(1.1819, 0.011313e-12)],
                range: (400e-9, 1100e-9),
            },
            Spectrum::Powers {
                terms: vec![(1.513, 0), (-0.003169, 2), (0.003962, -2)],
                range: (310e-9, 4600e-9),
            },
            Spectrum::Table(vec![(500e-9, 1.52), (1000e-9, 1.50)]),
        ];
        for phase in spectra {
            let at = 905e-9;
            let step = 1e-10;
            let slope =
                (phase.at(at + step).unwrap() - phase.at(at - step).unwrap()) / (2.0 * step);
            let expected = phase.at(at).unwrap() - at * slope;
            // Measured: 3e-10 at most (rounding of the finite differences).
            let group = phase.group_index().at(at).unwrap();
            assert!((group - expected).abs() < 1e-9, "{group} {expected}");
        }
        assert_eq!(
            Spectrum::Constant(1.5).group_index(),
            Spectrum::Constant(1.5)
        );
    }

    #[test]
    fn the_slope_at_a_table_point_is_the_mean_of_both_sides() {
        let table = Spectrum::Table(vec![(1e-6, 0.0), (2e-6, 1.0), (3e-6, 4.0)]);
        assert!((table.slope(2e-6).unwrap() - 2e6).abs() < 1e-3);
        assert!((table.slope(1e-6).unwrap() - 1e6).abs() < 1e-3);
        assert!((table.slope(3e-6).unwrap() - 3e6).abs() < 1e-3);
    }
}
