//! Nearest-point correspondences.

use super::cloud::SearchableCloud;
use super::rigid_motion::RigidMotion;
use crate::solve::{Linearization, Residuals};
use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;

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
    let (rotation, translation) = (motion.rotation(), motion.translation());
    let pair = |(index, point): (usize, &SVector<f64, D>)| {
        let moved: SVector<f64, D> = rotation * point + translation;
        let (nearest, squared) = target.nearest(&moved)?;
        (squared <= limit).then(|| Pair {
            source: index,
            target: nearest,
            offset: moved - target.points()[nearest],
            squared,
        })
    };
    let points = source.points().par_iter().enumerate();
    let mut found: Vec<Pair<D>> = points.filter_map(pair).collect();
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

/// Linearization from one block of `B` residuals and their Jacobian per item, such as a pair.
pub(super) fn stack<T: Sync, const K: usize, const B: usize>(
    items: &[T],
    missing: usize,
    block: impl Fn(&T) -> (SVector<f64, B>, SMatrix<f64, B, K>) + Sync,
) -> Linearization {
    let mut values = vec![0.0; B * items.len()];
    let mut jacobian = vec![0.0; B * K * items.len()];
    let blocks = values
        .par_chunks_exact_mut(B)
        .zip(jacobian.par_chunks_exact_mut(B * K));
    blocks.zip(items).for_each(|((values, jacobian), item)| {
        let (residual, rows) = block(item);
        values.copy_from_slice(residual.as_slice());
        jacobian.copy_from_slice(rows.transpose().as_slice());
    });
    let residuals = Residuals {
        block: B,
        missing,
        ..Residuals::of(values)
    };
    Linearization::new(residuals, K, jacobian)
}
