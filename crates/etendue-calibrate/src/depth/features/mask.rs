//! Which neighbourhoods to trust.

use std::ops::RangeInclusive;

/// Thresholds of the neighbourhoods that are used (equations 10 to 13).
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    /// Least number of points, the centre with them (equation 11).
    pub neighbours: usize,
    /// Greatest $\lambda_1/\lambda_2$ (equation 12).
    pub flatness: f64,
    /// $\lambda_2/\lambda_3$ (equation 12).
    pub roundness: RangeInclusive<f64>,
    /// Least $\operatorname{tr}\Sigma_p$ of the places that the points were seen from, **m²**: a
    /// variance (equation 13).
    pub viewpoint_variance: f64,
}

impl Mask {
    /// The thresholds of the authors' programs: 5 points, 0.25, 0.25 to 1, 0.36 m². Of the
    /// neighbourhoods that straddle an edge they keep every fifth, which costs some mm of bias.
    pub fn published() -> Self {
        Self {
            neighbours: 5,
            flatness: 0.25,
            roundness: 0.25..=1.0,
            viewpoint_variance: 0.36,
        }
    }

    /// Flat to a fiftieth and ten points: leaves edges out.
    pub fn strict() -> Self {
        Self {
            neighbours: 10,
            flatness: 0.02,
            ..Self::published()
        }
    }

    /// The first test that a neighbourhood fails.
    pub(in crate::depth) fn verdict(&self, shape: &Shape) -> Verdict {
        let [l1, l2, l3] = shape.values;
        if shape.count < self.neighbours.max(3) {
            Verdict::Few
        } else if l1 > self.flatness * l2 {
            Verdict::Thick
        } else if !self.roundness.contains(&(l2 / l3)) {
            Verdict::Long
        } else if shape.viewpoint_variance < self.viewpoint_variance {
            Verdict::OneSided
        } else {
            Verdict::Kept
        }
    }
}

/// What became of a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::depth) enum Verdict {
    Kept,
    Few,
    Thick,
    Long,
    OneSided,
}

impl MaskReport {
    pub(in crate::depth) fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Kept => self.kept += 1,
            Verdict::Few => self.few += 1,
            Verdict::Thick => self.thick += 1,
            Verdict::Long => self.long += 1,
            Verdict::OneSided => self.one_sided += 1,
        }
    }
}

/// What a neighbourhood is judged by.
pub(in crate::depth) struct Shape {
    pub count: usize,
    pub values: [f64; 3],
    pub viewpoint_variance: f64,
}

/// How many neighbourhoods passed, and which test the others failed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskReport {
    /// Passed.
    pub kept: usize,
    /// Too few points.
    pub few: usize,
    /// Not flat.
    pub thick: usize,
    /// Flat but long: a line.
    pub long: usize,
    /// Seen from about one place.
    pub one_sided: usize,
}
