//! Cases and table of the coverage experiments.

use super::case::{CaseCoverage, CoverageCase, Start};

/// Range of the mean coverage of the components of a case that is met.
const MET: [f64; 2] = [0.92, 0.98];

/// Smallest coverage of a component of a case that is met: 3.2 standard errors of 200 scans below 95 %.
const LEAST: f64 = 0.9;

/// Share of the failed fits that must be called doubtful where a case is not met.
const DOUBTFUL: f64 = 0.95;

/// Receivers of planar scanners.
const PLANAR: [&str; 3] = ["phase", "pulsed", "triangulation"];

/// Scenes of planar scanners.
const SCENES: [&str; 6] = [
    "plain room",
    "mirror",
    "edges and poles",
    "mirror, glass and box",
    "wrong reflectance",
    "unknown box",
];

/// All cases of the campaign.
pub fn all_cases() -> Vec<CoverageCase> {
    let mut cases = Vec::new();
    let mut add = |receiver, scene, unknowns, change: fn(CoverageCase) -> CoverageCase| {
        cases.extend(CoverageCase::new(receiver, scene, unknowns).map(change));
    };
    // Receivers and scenes
    for receiver in PLANAR {
        for scene in SCENES {
            add(receiver, scene, "pose, plane", |case| case);
        }
    }
    // Starts and losses
    for receiver in PLANAR {
        for scene in ["plain room", "edges and poles"] {
            add(
                receiver,
                scene,
                "pose, plane",
                CoverageCase::with_squared_loss,
            );
            add(receiver, scene, "pose, plane", |case| {
                case.from_start("truth", Start::Truth)
            });
            add(receiver, scene, "pose, plane", |case| {
                case.from_start("0.1 m", Start::Near(0.1))
            });
        }
    }
    // Unknowns
    add("phase", "plain room", "pose, bias", |case| case);
    for receiver in PLANAR {
        add(receiver, "mirror", "mirror", |case| case);
    }
    for unknowns in ["pose, space", "pose, reflectance"] {
        add("pulsed, 16 channels", "hall", unknowns, |case| case);
    }
    add(
        "pulsed, 16 channels",
        "hall",
        "pose, space",
        CoverageCase::with_squared_loss,
    );
    // Thin posts metres before the walls
    for receiver in ["URG-04LX", "phase", "pulsed", "triangulation"] {
        add(receiver, "posts", "pose, plane", |case| case);
        add(receiver, "posts", "pose, plane", |case| {
            case.from_start("0.14 m", Start::Near(0.14))
        });
    }
    // Noise that is not independent from shot to shot
    for receiver in ["phase, correlated", "pulsed, correlated"] {
        add(receiver, "plain room", "pose, plane", |case| case);
        add(receiver, "edges and poles", "pose, plane", |case| case);
    }
    add("16 channels, correlated", "hall", "pose, space", |case| {
        case
    });
    cases
}

impl CaseCoverage {
    /// Conclusion: met, wide, doubtful, or not met, as [`coverage_page`] defines them.
    pub fn conclusion(&self) -> &'static str {
        let [failed, unnoticed] = self.failures();
        let coverage = self.coverage();
        let mean = coverage.iter().sum::<f64>() / coverage.len().max(1) as f64;
        let is_covered = mean >= MET[0] && coverage.iter().all(|share| *share >= LEAST);
        let is_doubtful = self.good() <= 1.0 - DOUBTFUL
            || failed > 0 && unnoticed as f64 <= (1.0 - DOUBTFUL) * failed as f64;
        match (is_covered && self.unsolved == 0, is_doubtful) {
            (true, _) if mean <= MET[1] => "met",
            (true, _) => "wide",
            (false, true) => "doubtful",
            (false, false) => "not met",
        }
    }
}

/// A result as a row of the table.
pub fn coverage_row(case: &CaseCoverage) -> String {
    let list = |values: Vec<f64>, write: fn(f64) -> String| {
        values.into_iter().map(write).collect::<Vec<_>>().join(" ")
    };
    let [failed, unnoticed] = case.failures();
    format!(
        "| {} | {} | {} | {failed} | {unnoticed} | {:.0} % | {} |",
        case.labels.join(" | "),
        list(case.coverage(), |share| format!("{:.1}", 100.0 * share)),
        list(case.error_ratios(), |ratio| format!("{ratio:.2}")),
        100.0 * case.good(),
        case.conclusion()
    )
}

/// The results as a page in Markdown.
pub fn coverage_page(results: &[CaseCoverage], scans: u32) -> String {
    let mut text = format!(
        "# Coverage of the stated uncertainty of fits\n\n\
         Written by `just coverage`: {scans} simulated scans a case, each with the noise of the lidar and from another \
         pose of the sensor.\n\n\
         - *coverage*: share of the scans, in percent, whose interval of 1.96 stated standard deviations contains \
         the truth, by component of the unknown (position, then angle, then others). The standard error is 1.5 for \
         200 scans.\n\
         - *error / stated*: root mean square of the errors in stated standard deviations.\n\
         - *failed*: scans with an error above four standard deviations in a component; *unnoticed*: those among \
         them with the verdict good.\n\
         - *good*: share of the scans with the verdict good.\n\
         - *conclusion*: **met** if the mean coverage of the components is 92 to 98 % and that of each at least 90 % \
         (3.2 standard errors below 95 %); **wide** if it is above 98 %; else **doubtful** if at least 95 % of the failed \
         scans, or of all scans, are called doubtful or of a wrong model; else **not met**.\n\n\
         | receiver | scene | unknown | start | loss | coverage | error / stated | failed | unnoticed | good | \
         conclusion |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for case in results {
        text += &coverage_row(case);
        text.push('\n');
    }
    text
}
