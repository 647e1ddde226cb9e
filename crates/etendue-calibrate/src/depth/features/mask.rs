//! Selection of neighbourhoods.

use etendue_estimate::geometry::LocalSurface;
use std::f64::consts::PI;
use std::ops::RangeInclusive;

/// Criteria of the neighbourhoods that are used (equations 10 to 13). The eigenvalues of their sample
/// covariance are $\lambda_1 \le \lambda_2 \le \lambda_3$.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourhoodMask {
    /// Least number of points, including the centre (equation 11).
    pub neighbours: usize,
    /// Greatest $\lambda_1/\lambda_2$ (equation 12).
    pub flatness: f64,
    /// Allowed $\lambda_2/\lambda_3$ (equation 12).
    pub roundness: RangeInclusive<f64>,
    /// Least $\operatorname{tr}\Sigma_p$ of the viewpoints of the points, **m²**: a variance (equation 13).
    pub viewpoint_variance: f64,
    /// Greatest $\lambda_1/\lambda_2$ of the neighbours of a point in its own scan: at an edge, normal and
    /// incidence are undefined.
    pub own_flatness: f64,
    /// Least $\lambda_2/\lambda_3$ of the neighbours of a point in its own scan: a single scan line has no
    /// normal.
    pub own_roundness: f64,
    /// Greatest distance of a point from the plane of its neighbours in its own scan, over
    /// $\sqrt{\lambda_1}$: rejects, for example, points of a wall just above the floor.
    pub own_offset: f64,
    /// Greatest angle between the normal of a neighbourhood and those of its points in their own scans,
    /// rad: rejects edges that pass the test of flatness.
    pub normal_spread: f64,
}

/// Variance of an exact plane due to rounding, m².
const ROUNDING: f64 = 1e-18;

impl NeighbourhoodMask {
    /// Thresholds of the authors' programs: 5 points, 0.25, 0.25 to 1, 0.36 m². They accept a fifth of the
    /// neighbourhoods that contain an edge. The neighbours in the own scans are not tested. In a corridor with
    /// pilasters and cabinets a bias of 11 mm rms is estimated with an error of 39 mm (docs/depth-correction.md).
    pub fn published() -> Self {
        Self {
            neighbours: 5,
            flatness: 0.25,
            roundness: 0.25..=1.0,
            viewpoint_variance: 0.36,
            own_flatness: f64::MAX,
            own_roundness: 0.0,
            own_offset: f64::MAX,
            normal_spread: PI,
        }
    }

    /// Thresholds that reject edges: ten points, flatness 0.01 in the map and in the own scans, points within
    /// one and a half standard deviations of their plane, and normals within 8 degrees. Neighbourhoods of
    /// 0.25 m pass with one centimetre of range noise, and fail with two.
    pub fn strict() -> Self {
        Self {
            neighbours: 10,
            flatness: 0.01,
            own_flatness: 0.01,
            own_roundness: 0.05,
            own_offset: 1.5,
            normal_spread: 8_f64.to_radians(),
            ..Self::published()
        }
    }

    /// Whether the neighbours of a point in its own scan are collinear, as in one column of a lidar: a
    /// larger neighbourhood may have a plane.
    pub(in crate::depth) fn needs_more_points(&self, view: &LocalSurface) -> bool {
        let [_, l2, l3] = view.values;
        l2 < self.own_roundness * l3
    }

    /// Whether the local surface in the own scan is a plane.
    pub(in crate::depth) fn accepts_surface(&self, view: &LocalSurface) -> bool {
        let [l1, l2, l3] = view.values;
        let thickness = l1.max(ROUNDING).sqrt();
        let flat = l1 <= self.own_flatness * l2 && l2 >= self.own_roundness * l3;
        flat && view.offset <= self.own_offset * thickness
    }

    /// Result of all tests for a neighbourhood.
    pub(in crate::depth) fn outcome(&self, shape: &NeighbourhoodShape) -> MaskOutcome {
        let [l1, l2, l3] = shape.values;
        if shape.count < self.neighbours.max(3) {
            MaskOutcome::Few
        } else if l1 > self.flatness * l2 {
            MaskOutcome::Thick
        } else if !self.roundness.contains(&(l2 / l3)) {
            MaskOutcome::Long
        } else if shape.normal_spread > self.normal_spread {
            MaskOutcome::Bent
        } else if shape.viewpoint_variance < self.viewpoint_variance {
            MaskOutcome::OneSided
        } else {
            MaskOutcome::Kept
        }
    }
}

/// Result of the mask for a neighbourhood: passed, or the first failed test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOutcome {
    /// Passed.
    Kept,
    /// Too few points.
    Few,
    /// Not flat.
    Thick,
    /// Flat but elongated: a line.
    Long,
    /// Flat, but with different normals of its points.
    Bent,
    /// Observed from about one viewpoint.
    OneSided,
}

impl MaskReport {
    /// Counts one outcome.
    pub(in crate::depth) fn count(&mut self, outcome: MaskOutcome) {
        match outcome {
            MaskOutcome::Kept => self.kept += 1,
            MaskOutcome::Few => self.few += 1,
            MaskOutcome::Thick => self.thick += 1,
            MaskOutcome::Long => self.long += 1,
            MaskOutcome::Bent => self.bent += 1,
            MaskOutcome::OneSided => self.one_sided += 1,
        }
    }
}

/// Geometry of a neighbourhood, for the tests of the mask.
pub(in crate::depth) struct NeighbourhoodShape {
    /// Number of points.
    pub count: usize,
    /// Ascending eigenvalues of the sample covariance, m².
    pub values: [f64; 3],
    /// Trace of the covariance of the viewpoints, m².
    pub viewpoint_variance: f64,
    /// Greatest angle between the normal and those of the points, rad.
    pub normal_spread: f64,
}

/// Numbers of neighbourhoods by the result of the mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskReport {
    /// Passed.
    pub kept: usize,
    /// Too few points.
    pub few: usize,
    /// Not flat.
    pub thick: usize,
    /// Flat but elongated: a line.
    pub long: usize,
    /// Flat, but with different normals of its points.
    pub bent: usize,
    /// Observed from about one viewpoint.
    pub one_sided: usize,
}
