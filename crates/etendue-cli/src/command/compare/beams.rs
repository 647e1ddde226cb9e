//! Comparison of two scans beam by beam.

use crate::output::counted;
use etendue::estimate::compare::{BeamReturn, DropOuts, ErrorSpan, ErrorStatistics, compare_beams};
use etendue::io::table::PointTable;
use etendue_plot::{Axis, Drawing, Figure, Plot};
use serde::Serialize;

/// Differences of two scans beam by beam, with units in the names.
#[derive(Serialize)]
pub struct BeamsReport {
    cell_deg: f64,
    /// Whether a row of cells is a ring; otherwise it is an interval of elevation.
    by_ring: bool,
    cells: usize,
    range_m: Option<ErrorsReport>,
    intensity: Option<ErrorsReport>,
    drop_outs: DropOutsReport,
    by_range_m: Vec<SpanReport>,
    by_incidence_deg: Vec<SpanReport>,
}

#[derive(Serialize)]
struct ErrorsReport {
    cells: usize,
    mean: f64,
    root_mean_square: f64,
    median_absolute: f64,
}

#[derive(Serialize)]
struct DropOutsReport {
    real: usize,
    simulated: usize,
    both: usize,
    /// `None` where the simulated scan has no drop-outs.
    precision: Option<f64>,
    /// `None` where the real scan has no drop-outs.
    recall: Option<f64>,
    f1: Option<f64>,
}

#[derive(Serialize)]
struct SpanReport {
    from: f64,
    to: f64,
    range_m: Option<ErrorsReport>,
    intensity: Option<ErrorsReport>,
    missed: f64,
}

/// Compares two clouds around the origin in cells of `cell_deg` degrees.
pub fn compare(real: &PointTable, simulated: &PointTable, cell_deg: f64) -> Option<BeamsReport> {
    let by_ring = [real, simulated]
        .iter()
        .all(|table| table.column("ring").is_some());
    let [first, second] = [real, simulated].map(|table| returns(table, by_ring, cell_deg));
    let found = compare_beams(&first, &second, cell_deg.to_radians())?;
    let spans =
        |spans: &[ErrorSpan], unit: f64| spans.iter().map(|s| SpanReport::of(s, unit)).collect();
    Some(BeamsReport {
        cell_deg,
        by_ring,
        cells: found.cells,
        range_m: found.range.map(ErrorsReport::of),
        intensity: found.intensity.map(ErrorsReport::of),
        drop_outs: DropOutsReport::of(found.drop_outs),
        by_range_m: spans(&found.by_range, 1.0),
        by_incidence_deg: spans(&found.by_incidence, 1_f64.to_degrees()),
    })
}

/// Returns of a table, without points at the origin.
#[expect(clippy::cast_possible_truncation, reason = "rings are few")]
fn returns(table: &PointTable, by_ring: bool, cell_deg: f64) -> Vec<BeamReturn> {
    let field = |name: &str, point| table.number(name, point);
    let finite = |name: &str, point| field(name, point).filter(|value| value.is_finite());
    let one = |point: usize| {
        let x = finite("x", point)?;
        let y = finite("y", point)?;
        let z = finite("z", point)?;
        let range = (x * x + y * y + z * z).sqrt();
        let elevation = z.atan2(x.hypot(y)).to_degrees();
        let ring = if by_ring {
            field("ring", point)?
        } else {
            (elevation / cell_deg).floor()
        };
        (range > 0.0).then(|| BeamReturn {
            ring: ring as i64,
            azimuth: y.atan2(x),
            range,
            intensity: finite("intensity", point),
            incidence: finite("incidence", point),
        })
    };
    (0..table.points).filter_map(one).collect()
}

impl ErrorsReport {
    fn of(errors: ErrorStatistics) -> Self {
        Self {
            cells: errors.count,
            mean: errors.mean,
            root_mean_square: errors.root_mean_square,
            median_absolute: errors.median_absolute,
        }
    }
}

impl DropOutsReport {
    fn of(found: DropOuts) -> Self {
        Self {
            real: found.first,
            simulated: found.second,
            both: found.both,
            precision: found.precision,
            recall: found.recall,
            f1: found.f1,
        }
    }
}

impl SpanReport {
    fn of(span: &ErrorSpan, unit: f64) -> Self {
        Self {
            from: span.from * unit,
            to: span.to * unit,
            range_m: span.range.map(ErrorsReport::of),
            intensity: span.intensity.map(ErrorsReport::of),
            missed: span.missed,
        }
    }

    fn line(&self, unit: &str, missed: &str) -> Vec<String> {
        let mut line = vec![format!("{:.0} to {:.0} {unit}", self.from, self.to)];
        if let Some(range) = &self.range_m {
            line.push(counted(range.cells, "cell"));
            line.push(format!("range RMSE {:.3} m", range.root_mean_square));
            line.push(format!("MedAE {:.3} m", range.median_absolute));
        }
        if let Some(intensity) = &self.intensity {
            line.push(format!("intensity MedAE {:.1}", intensity.median_absolute));
        }
        line.push(format!("{:.1} % {missed}", 100.0 * self.missed));
        line
    }
}

impl BeamsReport {
    /// Rows of a name and a value.
    pub fn rows(&self) -> Vec<(String, String)> {
        // Cells of the comparison
        let row_of_cells = if self.by_ring { "ring" } else { "elevation" };
        let cells = format!(
            "{} of one {row_of_cells} and {} degrees",
            counted(self.cells, "cell"),
            self.cell_deg
        );
        let mut rows = vec![("beams".to_owned(), cells)];

        // Errors of beams that returned in both scans
        for (name, unit, errors) in [
            ("range per beam", " m", &self.range_m),
            ("intensity per beam", "", &self.intensity),
        ] {
            if let Some(errors) = errors {
                let text = format!(
                    "RMSE {:.4}{unit}, MedAE {:.4}{unit}, mean {:+.4}{unit}",
                    errors.root_mean_square, errors.median_absolute, errors.mean
                );
                rows.push((name.to_owned(), text));
            }
        }

        // Agreement of the drop-outs
        let found = &self.drop_outs;
        let counts = format!(
            "{} real, {} simulated, {} both",
            found.real, found.simulated, found.both
        );
        let text = match (found.precision, found.recall, found.f1) {
            (Some(precision), Some(recall), Some(f1)) => format!(
                "precision {:.2} %, recall {:.2} %, F1 {:.2} % ({counts})",
                100.0 * precision,
                100.0 * recall,
                100.0 * f1
            ),
            (None, Some(_), _) => format!("no prediction ({counts})"),
            (Some(_), None, _) => format!("only false ones ({counts})"),
            _ => "none".to_owned(),
        };
        rows.push(("drop-outs".to_owned(), text));
        rows
    }

    /// Tables, each with the quantity of its rows and the cells of each row.
    pub fn tables(&self) -> Vec<(&'static str, Vec<Vec<String>>)> {
        let lines = |spans: &[SpanReport], unit, missed| {
            spans.iter().map(|span| span.line(unit, missed)).collect()
        };
        let by_range = lines(&self.by_range_m, "m", "missing in the simulated");
        let by_incidence = lines(&self.by_incidence_deg, "degrees", "missing in the real");
        let tables = [("range", by_range), ("incidence", by_incidence)];
        let tables = tables.into_iter();
        tables
            .filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty())
            .collect()
    }

    /// Charts of the tables.
    pub fn figures(&self) -> Vec<Drawing> {
        let charts = [
            ("Range error by range", "range, m", &self.by_range_m),
            (
                "Range error by incidence",
                "incidence, degrees",
                &self.by_incidence_deg,
            ),
        ];
        let drawn = charts.into_iter().filter(|chart| chart.2.len() > 1);
        drawn
            .map(|(title, x, spans)| chart(title, x, spans))
            .collect()
    }
}

fn chart(title: &str, x: &str, spans: &[SpanReport]) -> Drawing {
    let line = |of: fn(&ErrorsReport) -> f64| {
        let point = |span: &SpanReport| {
            let middle = 0.5 * (span.from + span.to);
            Some([middle, of(span.range_m.as_ref()?)])
        };
        spans.iter().filter_map(point).collect()
    };
    let mut plot = Plot::new(Axis::new(x), Axis::new("error, m"));
    plot.add_marked_curves([
        ("root mean square", line(|errors| errors.root_mean_square)),
        ("median absolute", line(|errors| errors.median_absolute)),
    ]);
    Figure::new(title).with_plot(plot).draw()
}
