//! Report of a comparison.

use super::beams::BeamsReport;
use etendue::estimate::compare::{CloudComparison, DistributionComparison, compare_distributions};
use etendue::io::points::PointCloud;
use serde::Serialize;
use std::fmt::Write;

/// Differences of two clouds, with units in the names.
#[derive(Serialize)]
pub struct Report {
    /// Name of the real cloud.
    pub real: String,
    /// Name of the simulated cloud.
    pub simulated: String,
    /// Number of points of the real cloud.
    pub real_points: usize,
    /// Number of points of the simulated cloud.
    pub simulated_points: usize,
    tolerance_m: f64,
    chamfer_m: f64,
    density_aware_chamfer: f64,
    real_to_simulated_mean_m: f64,
    simulated_to_real_mean_m: f64,
    median_m: f64,
    hausdorff_m: f64,
    precision: f64,
    recall: f64,
    f_score: f64,
    range: Option<Distance>,
    intensity: Option<Distance>,
    /// Differences beam by beam.
    pub beams: Option<BeamsReport>,
}

/// Differences of two distributions.
#[derive(Serialize)]
struct Distance {
    kolmogorov_smirnov: f64,
    jensen_shannon: f64,
    median_shift: f64,
}

impl From<DistributionComparison> for Distance {
    fn from(found: DistributionComparison) -> Self {
        Self {
            kolmogorov_smirnov: found.kolmogorov_smirnov,
            jensen_shannon: found.jensen_shannon,
            median_shift: found.median_shift,
        }
    }
}

/// Ranges of the points, m.
pub fn ranges(cloud: &PointCloud) -> Vec<f64> {
    cloud
        .points
        .iter()
        .map(|point| point.coords.norm())
        .collect()
}

/// Intensities of the points.
pub fn intensities(cloud: &PointCloud) -> Vec<f64> {
    cloud
        .intensities
        .iter()
        .map(|value| f64::from(*value))
        .collect()
}

impl Report {
    /// Report of the comparison of two clouds by name.
    pub fn new(
        [real_name, simulated_name]: [String; 2],
        tolerance: f64,
        clouds: &[PointCloud; 2],
        found: &CloudComparison,
        beams: Option<BeamsReport>,
    ) -> Self {
        let [real, simulated] = clouds;
        Self {
            real: real_name,
            simulated: simulated_name,
            real_points: real.points.len(),
            simulated_points: simulated.points.len(),
            tolerance_m: tolerance,
            chamfer_m: found.chamfer,
            density_aware_chamfer: found.density_aware_chamfer,
            real_to_simulated_mean_m: found.first_to_second,
            simulated_to_real_mean_m: found.second_to_first,
            median_m: found.median,
            hausdorff_m: found.largest,
            precision: found.precision,
            recall: found.recall,
            f_score: found.f_score,
            range: compare_distributions(&ranges(real), &ranges(simulated)).map(Into::into),
            intensity: compare_distributions(&intensities(real), &intensities(simulated))
                .map(Into::into),
            beams,
        }
    }

    /// The report as rows of a name and a value.
    pub fn rows(&self) -> Vec<(String, String)> {
        let metres = |value: f64| format!("{value:.4} m");
        let share = |value: f64| format!("{:.2} %", 100.0 * value);

        // Distances between the clouds
        let mut rows = vec![
            ("Chamfer distance".to_owned(), metres(self.chamfer_m)),
            (
                "density-aware Chamfer distance".to_owned(),
                format!("{:.4}", self.density_aware_chamfer),
            ),
            (
                "mean distance, real to simulated".to_owned(),
                metres(self.real_to_simulated_mean_m),
            ),
            (
                "mean distance, simulated to real".to_owned(),
                metres(self.simulated_to_real_mean_m),
            ),
            (
                "median distance, real to simulated".to_owned(),
                metres(self.median_m),
            ),
            (
                "largest distance (Hausdorff)".to_owned(),
                metres(self.hausdorff_m),
            ),
            (
                format!("precision within {} m", self.tolerance_m),
                share(self.precision),
            ),
            (
                format!("recall within {} m", self.tolerance_m),
                share(self.recall),
            ),
            ("F-score".to_owned(), share(self.f_score)),
        ];

        // Differences of the distributions
        for (name, distance) in [("range", &self.range), ("intensity", &self.intensity)] {
            if let Some(distance) = distance {
                let text = format!(
                    "Kolmogorov-Smirnov {:.4}, Jensen-Shannon {:.4}, median shifted by {:.4}",
                    distance.kolmogorov_smirnov, distance.jensen_shannon, distance.median_shift
                );
                rows.push((format!("distribution of {name}"), text));
            }
        }

        // Differences beam by beam
        rows.extend(self.beams.iter().flat_map(BeamsReport::rows));
        rows
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} ({} points) and {} ({} points)\n",
            self.real, self.real_points, self.simulated, self.simulated_points
        );
        for (name, value) in self.rows() {
            writeln!(text, "  {name}: {value}").expect("writing to a string does not fail");
        }
        for (title, lines) in self.beams.iter().flat_map(BeamsReport::tables) {
            writeln!(text, "  by {title}:").expect("writing to a string does not fail");
            for line in lines {
                writeln!(text, "    {}", line.join(", ")).expect("writing does not fail");
            }
        }
        text
    }
}
