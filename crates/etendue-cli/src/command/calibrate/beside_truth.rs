//! A calibrated profile beside the known profile of a simulated panel.

use etendue::calibrate::noise::NoiseCalibration;
use etendue::calibrate::noise::truth::{Figure, Quantity, Truth};
use serde::Serialize;
use std::fmt::{self, Write};

/// Incidences of the compared figures, degrees.
const INCIDENCES: [f64; 10] = [8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 72.0, 80.0];

/// Half width of a 95 % interval in standard errors.
const HALF_95: f64 = 1.96;

/// Bias, spread and drop-out of a calibration beside the known ones.
#[derive(Serialize)]
pub struct TruthReport {
    profile: String,
    rows: Vec<IncidenceRow>,
    figures: usize,
    within_95_percent_interval: usize,
    largest: LargestDeviation,
}

/// Figures at one incidence.
#[derive(Serialize)]
struct IncidenceRow {
    incidence_deg: f64,
    bias_mm: Compared,
    spread_mm: Compared,
    /// `null` where the recordings do not contain the beams without a return.
    drop_out: Option<Compared>,
}

/// A figure and its true value.
#[derive(Clone, Copy, Serialize)]
struct Compared {
    found: f64,
    truth: f64,
    /// Error in stated standard errors.
    deviation: f64,
}

/// The figure with the largest error in stated standard errors.
#[derive(Serialize)]
struct LargestDeviation {
    quantity: &'static str,
    incidence_deg: f64,
    deviation: f64,
}

impl TruthReport {
    /// Compares a calibration with the profile of a name; `None` if no figure is determined.
    pub fn of(name: &str, truth: &Truth, found: &NoiseCalibration) -> Option<Self> {
        let figures = truth.figures(found, &INCIDENCES);
        let deviation = |figure: &&Figure| figure.normalised().abs();
        let largest = (figures.iter()).max_by(|a, b| deviation(a).total_cmp(&deviation(b)))?;
        let rows = figures.chunk_by(|a, b| a.incidence_deg == b.incidence_deg);
        let rows = rows.filter_map(IncidenceRow::of);
        let within = figures.iter().filter(|one| deviation(one) <= HALF_95);
        Some(Self {
            profile: name.into(),
            rows: rows.collect(),
            figures: figures.len(),
            within_95_percent_interval: within.count(),
            largest: LargestDeviation {
                quantity: match largest.quantity {
                    Quantity::Distance => "distance",
                    Quantity::Bias => "bias",
                    Quantity::Spread => "spread",
                    Quantity::DropOut => "drop-out",
                },
                incidence_deg: largest.incidence_deg,
                deviation: largest.normalised(),
            },
        })
    }

    /// Writes the table and the largest deviation.
    pub fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(
            out,
            "  beside the true profile {}:\n  incidence, deg   bias, mm (true)  spread, mm (true)   drop-out, % (true)",
            self.profile
        )?;
        for row in &self.rows {
            let pair = |one: &Compared, factor: f64, decimals: usize| {
                let [found, truth] = [one.found, one.truth].map(|value| factor * value);
                format!("{found:.decimals$} ({truth:.decimals$})")
            };
            writeln!(
                out,
                "  {:>14.0} {:>17} {:>18} {:>20}",
                row.incidence_deg,
                pair(&row.bias_mm, 1.0, 2),
                pair(&row.spread_mm, 1.0, 2),
                row.drop_out.map_or("-".into(), |one| pair(&one, 1e2, 1))
            )?;
        }
        writeln!(
            out,
            "  largest deviation from it: {:.1} standard errors ({} at {:.0} degrees); {} of {} figures within their 95 % \
             interval",
            self.largest.deviation.abs(),
            self.largest.quantity,
            self.largest.incidence_deg,
            self.within_95_percent_interval,
            self.figures
        )
    }
}

impl IncidenceRow {
    /// The row of the figures at one incidence; `None` without bias and spread.
    fn of(figures: &[Figure]) -> Option<Self> {
        let compared = |quantity: Quantity, factor: f64| {
            let figure = figures.iter().find(|figure| figure.quantity == quantity)?;
            Some(Compared {
                found: factor * figure.found,
                truth: factor * figure.truth,
                deviation: figure.normalised(),
            })
        };
        Some(Self {
            incidence_deg: figures.first()?.incidence_deg,
            bias_mm: compared(Quantity::Bias, 1e3)?,
            spread_mm: compared(Quantity::Spread, 1e3)?,
            drop_out: compared(Quantity::DropOut, 1.0),
        })
    }
}
