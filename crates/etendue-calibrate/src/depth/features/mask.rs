//! Selection of neighbourhoods.

use etendue_estimate::geometry::LocalSurface;
use std::f64::consts::PI;
use std::ops::RangeInclusive;

/// Thresholds of the neighbourhoods that are used (equations 10 to 13).
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourhoodMask {
    /// Least number of points, the centre with them (equation 11).
    pub neighbours: usize,
    /// Greatest $\lambda_1/\lambda_2$ (equation 12).
    pub flatness: f64,
    /// $\lambda_2/\lambda_3$ (equation 12).
    pub roundness: RangeInclusive<f64>,
    /// Least $\operatorname{tr}\Sigma_p$ of the places that the points were seen from, **m²**: a
    /// variance (equation 13).
    pub viewpoint_variance: f64,
    /// Greatest $\lambda_1/\lambda_2$ of the neighbours in a point's own scan: its normal and its
    /// incidence mean nothing at an edge.
    pub own_flatness: f64,
    /// Least $\lambda_2/\lambda_3$ of the neighbours in a point's own scan: one scan line gives no
    /// normal.
    pub own_roundness: f64,
    /// Greatest distance of a point from the plane of its neighbours in its own scan, over
    /// $\sqrt{\lambda_1}$: a point of a wall just above a floor is not of the floor.
    pub own_offset: f64,
    /// Greatest angle between a neighbourhood's normal and those that its points have in their own
    /// scans, rad: an edge, though it passes for flat.
    pub normal_spread: f64,
}

/// Variance that rounding leaves in an exact plane, m².
const ROUNDING: f64 = 1e-18;

impl NeighbourhoodMask {
    /// The thresholds of the authors' programs: 5 points, 0.25, 0.25 to 1, 0.36 m². Of the
    /// neighbourhoods that straddle an edge they keep every fifth, which costs some mm of bias.
    /// The scans of the points are not tested.
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

    /// Flat to a hundredth, ten points, flat and no line in their own scans too, no point farther
    /// than one and a half standard deviations off its plane, and all normals within 8 degrees:
    /// leaves edges out. A centimetre of range noise passes; two are too thick for neighbourhoods
    /// of 0.25 m.
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
    /// larger neighbourhood may contain the surface.
    pub(in crate::depth) fn needs_more_points(&self, view: &LocalSurface) -> bool {
        let [_, l2, l3] = view.values;
        l2 < self.own_roundness * l3
    }

    /// Whether the surface seen in a point's own scan is a plane.
    pub(in crate::depth) fn trusts(&self, view: &LocalSurface) -> bool {
        let [l1, l2, l3] = view.values;
        let thickness = l1.max(ROUNDING).sqrt();
        let flat = l1 <= self.own_flatness * l2 && l2 >= self.own_roundness * l3;
        flat && view.offset <= self.own_offset * thickness
    }

    /// The first test that a neighbourhood fails.
    pub(in crate::depth) fn verdict(&self, shape: &NeighbourhoodShape) -> MaskOutcome {
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

/// Result of the mask for a neighbourhood: the first test that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOutcome {
    /// It passed.
    Kept,
    /// Too few points.
    Few,
    /// Not flat.
    Thick,
    /// Flat but long: a line.
    Long,
    /// Flat, but of points whose own normals disagree with it.
    Bent,
    /// Seen from about one viewpoint.
    OneSided,
}

impl MaskReport {
    pub(in crate::depth) fn count(&mut self, verdict: MaskOutcome) {
        match verdict {
            MaskOutcome::Kept => self.kept += 1,
            MaskOutcome::Few => self.few += 1,
            MaskOutcome::Thick => self.thick += 1,
            MaskOutcome::Long => self.long += 1,
            MaskOutcome::Bent => self.bent += 1,
            MaskOutcome::OneSided => self.one_sided += 1,
        }
    }
}

/// Shape of a neighbourhood.
pub(in crate::depth) struct NeighbourhoodShape {
    pub count: usize,
    pub values: [f64; 3],
    pub viewpoint_variance: f64,
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
    /// Flat but long: a line.
    pub long: usize,
    /// Flat, but of points whose own normals disagree with it.
    pub bent: usize,
    /// Seen from about one viewpoint.
    pub one_sided: usize,
}
