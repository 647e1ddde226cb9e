//! Nearest-point correspondences.

use super::cloud::SearchableCloud;
use super::rigid_motion::RigidMotion;
use crate::solve::{Linearization, Residuals};
use nalgebra::{SMatrix, SVector};

/// Selection rule of correspondences.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRule {
    /// Greatest distance of a pair, m.
    pub max_distance: f64,
    /// Fraction of the remaining pairs that is used, the nearest first.
    pub keep: f64,
}

/// Correspondence of a moved source point and its nearest target point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<const D: usize> {
    /// Index of the source point.
    pub source: usize,
    /// Index of the target point.
    pub target: usize,
    /// Vector from the target point to the moved source point, m.
    pub offset: SVector<f64, D>,
    /// Squared distance, m².
    squared: f64,
}

/// Selected pairs at a motion, and the number of source points without a partner.
pub(super) fn pairs<M: RigidMotion<D, K>, const D: usize, const K: usize>(
    source: &SearchableCloud<D>,
    target: &SearchableCloud<D>,
    motion: &M,
    rule: PairRule,
) -> (Vec<Pair<D>>, usize) {
    // Pair every source point with its nearest target point.
    let limit = rule.max_distance * rule.max_distance;
    let mut found: Vec<Pair<D>> = source
        .points()
        .iter()
        .enumerate()
        .filter_map(|(index, point)| {
            let moved = motion.apply(point);
            let (nearest, squared) = target.nearest(&moved)?;
            (squared <= limit).then(|| Pair {
                source: index,
                target: nearest,
                offset: moved - target.points()[nearest],
                squared,
            })
        })
        .collect();
    // Keep the nearest pairs.
    let missing = source.len() - found.len();
    trim(&mut found, rule.keep);
    (found, missing)
}

/// Removes all but the nearest fraction `keep` of the pairs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction in (0, 1] of a count"
)]
fn trim<const D: usize>(found: &mut Vec<Pair<D>>, keep: f64) {
    if keep < 1.0 {
        found.sort_by(|a, b| {
            a.squared
                .total_cmp(&b.squared)
                .then(a.source.cmp(&b.source))
        });
        found.truncate((keep * found.len() as f64).ceil() as usize);
    }
}

/// Linearization from one block of `B` residuals and their Jacobian per pair.
pub(super) fn stack<const K: usize, const B: usize>(
    blocks: impl Iterator<Item = (SVector<f64, B>, SMatrix<f64, B, K>)>,
    missing: usize,
) -> Linearization {
    let mut values = Vec::new();
    let mut jacobian = Vec::new();
    for (residual, rows) in blocks {
        values.extend(residual.iter());
        jacobian.extend(rows.transpose().iter());
    }
    let residuals = Residuals {
        block: B,
        missing,
        ..Residuals::of(values)
    };
    Linearization::new(residuals, K, jacobian)
}
