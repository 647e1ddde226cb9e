//! HTML page of a comparison.

use super::beams::BeamsReport;
use super::report::{Report, intensities, ranges};
use crate::failure::Failure;
use crate::output::write_file;
use etendue::io::points::PointCloud;
use etendue_plot::{Axis, Drawing, Figure, Plot, palette, svg};
use std::fmt::Write;
use std::path::Path;

/// Writes a self-contained page.
pub fn write(path: &Path, report: &Report, clouds: &[PointCloud; 2]) -> Result<(), Failure> {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");

    // Tables
    let mut rows = String::new();
    for (name, value) in &report.rows() {
        let cells = [name, value].map(|cell| escaped(cell)).join("</td><td>");
        writeln!(rows, "<tr><td>{cells}</td></tr>").expect("writing to a string does not fail");
    }
    let mut tables = String::new();
    for (title, lines) in report.beams.iter().flat_map(BeamsReport::tables) {
        writeln!(tables, "<h2>By {title}</h2>\n<table>").expect("writing does not fail");
        for line in &lines {
            let cells: Vec<String> = line.iter().map(|cell| escaped(cell)).collect();
            let cells = cells.join("</td><td>");
            writeln!(tables, "<tr><td>{cells}</td></tr>").expect("writing does not fail");
        }
        tables += "</table>\n";
    }

    // Figures
    let mut figures = String::new();
    for drawing in report.beams.iter().flat_map(BeamsReport::figures) {
        figures += &svg::write(&drawing);
    }
    for (title, label, of) in [
        ("Range", "range, m", ranges as fn(&PointCloud) -> Vec<f64>),
        ("Intensity", "intensity", intensities),
    ] {
        let real = of(&clouds[0]);
        let simulated = of(&clouds[1]);
        if !real.is_empty() && !simulated.is_empty() {
            let samples = [("real", &real[..]), ("simulated", &simulated[..])];
            figures += &svg::write(&distribution_chart(title, label, &samples));
        }
    }

    // Page
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>etendue compare</title>\n\
         <style>body{{font:16px sans-serif;margin:2em}}td{{padding:.2em 1em .2em 0}}svg{{display:block}}</style>\n\
         <h1>{} and {}</h1>\n<p>{} and {} points.</p>\n<table>\n{rows}</table>\n{tables}{figures}\n</html>\n",
        escaped(&report.real),
        escaped(&report.simulated),
        report.real_points,
        report.simulated_points,
    );
    write_file(path, page.as_bytes())
}

/// Largest number of points of a distribution function.
const MOST_POINTS: usize = 400;

/// Empirical distribution functions of samples.
fn distribution_chart(title: &str, label: &str, samples: &[(&str, &[f64])]) -> Drawing {
    let y = Axis::new("cumulative fraction").with_limits([0.0, 1.0]);
    let mut plot = Plot::new(Axis::new(label), y);
    for (index, (name, sample)) in samples.iter().enumerate() {
        let mut sorted: Vec<f64> = sample.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let step = sorted.len().div_ceil(MOST_POINTS).max(1);
        let point = |i: usize| [sorted[i], (i + 1) as f64 / sorted.len() as f64];
        let points = (0..sorted.len()).step_by(step).map(point).collect();
        plot.add_curve(*name, points, palette::category(index, 2.2));
    }
    Figure::new(title).with_plot(plot).draw()
}
