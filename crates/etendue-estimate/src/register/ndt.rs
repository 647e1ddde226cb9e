//! The normal-distributions transform, on overlapping grids as in Biber and Strasser 2003.

use super::cloud::{grid, spread};
use super::pairs::stack;
use super::{Cloud, Motion};
use crate::solve::{self, Linearization, Loss, Residuals};
use nalgebra::{SMatrix, SVector};
use std::marker::PhantomData;

/// Fewer points than this make no distribution.
const FEWEST: usize = 5;

/// The smallest eigenvalue of a cell's covariance, relative to its largest (Magnusson 2009,
/// section 6.2): a wall seen without noise is not infinitely thin.
const THINNEST: f64 = 1e-3;

/// Fraction of points that belong to no cell, as the usual implementation has it.
const OUTLIERS: f64 = 0.55;

/// The score of Magnusson 2009 (eq. 6.8), $-d_1 e^{-d_2 m/2}$ of the squared Mahalanobis distance
/// $m$, is a Welsch loss of scale $\sqrt{2/d_2}$ but for a constant and a factor.
pub(super) fn usual_loss(resolution: f64) -> Loss {
    let inside = 10.0 * (1.0 - OUTLIERS);
    let outside = OUTLIERS / resolution.powi(3);
    let d3 = -outside.ln();
    let d1 = -(inside + outside).ln() - d3;
    let d2 = -2.0 * ((-(inside * (-0.5_f64).exp() + outside).ln() - d3) / d1).ln();
    Loss::Welsch {
        scale: (2.0 / d2).sqrt(),
    }
}

/// Normal distributions of the target's points in the cells of $2^D$ grids, each shifted by half a
/// cell along some axes: so no point is near the edge of all its cells.
pub(super) struct Cells<const D: usize> {
    means: Cloud<D>,
    whitenings: Vec<SMatrix<f64, D, D>>,
    resolution: f64,
}

impl<const D: usize> Cells<D> {
    pub(super) fn new<M: Motion<D, K>, const K: usize>(target: &Cloud<D>, resolution: f64) -> Self {
        let (mut means, mut whitenings) = (Vec::new(), Vec::new());
        for number in 0..1 << D {
            let shift = std::array::from_fn(|axis| 0.5 * f64::from(number >> axis & 1));
            for members in grid(target.points().iter(), resolution, shift).values() {
                if members.len() >= FEWEST {
                    let (mean, covariance) = spread(members.iter().copied());
                    means.push(mean);
                    whitenings.push(whitening::<M, D, K>(&covariance));
                }
            }
        }
        Self {
            means: Cloud::of(means),
            whitenings,
            resolution,
        }
    }
}

/// $W$ with $W^\top W$ the inverse of a covariance that is nowhere thinner than [`THINNEST`].
fn whitening<M: Motion<D, K>, const D: usize, const K: usize>(
    covariance: &SMatrix<f64, D, D>,
) -> SMatrix<f64, D, D> {
    let (values, vectors) = M::eigen(covariance);
    let thinnest = (THINNEST * values.max()).max(1e-12);
    let scales = values.map(|v| v.max(thinnest).sqrt().recip());
    SMatrix::from_diagonal(&scales) * vectors.transpose()
}

/// $r = W (T p - \mu)$ with the cell whose mean is nearest to $T p$, within one cell's side.
pub(super) struct Problem<'a, M, const D: usize, const K: usize> {
    source: &'a Cloud<D>,
    cells: &'a Cells<D>,
    motion: PhantomData<M>,
}

impl<'a, M: Motion<D, K>, const D: usize, const K: usize> Problem<'a, M, D, K> {
    pub(super) fn new(source: &'a Cloud<D>, cells: &'a Cells<D>) -> Self {
        Self {
            source,
            cells,
            motion: PhantomData,
        }
    }

    fn block(
        &self,
        motion: &M,
        point: &SVector<f64, D>,
    ) -> Option<(SVector<f64, D>, SMatrix<f64, D, K>)> {
        let moved = motion.apply(point);
        let (cell, squared) = self.cells.means.nearest(&moved)?;
        let whitening = &self.cells.whitenings[cell];
        (squared <= self.cells.resolution.powi(2)).then(|| {
            let offset = moved - self.cells.means.points()[cell];
            (whitening * offset, whitening * motion.derivative(point))
        })
    }
}

impl<M: Motion<D, K>, const D: usize, const K: usize> solve::Problem for Problem<'_, M, D, K> {
    type State = M;

    fn residuals(&self, motion: &M) -> Residuals {
        self.linearize(motion).residuals
    }

    fn linearize(&self, motion: &M) -> Linearization {
        let points = self.source.points();
        let blocks: Vec<_> = points
            .iter()
            .filter_map(|p| self.block(motion, p))
            .collect();
        let missing = points.len() - blocks.len();
        stack(blocks.into_iter(), missing)
    }
}
