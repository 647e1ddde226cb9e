//! Kinds of the loss.

/// Loss $\ell$ of one neighbourhood (the first three) or one pair of points (the last two).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthLoss {
    /// Least eigenvalue $\lambda_1$ of the sample covariance, m² (equation 7). It decreases with all
    /// depths.
    #[default]
    MinimumEigenvalue,
    /// $\lambda_1 / \operatorname{tr} Q$, dimensionless and independent of scale.
    NormalisedEigenvalue,
    /// $\operatorname{tr} Q$, m² (equation 8). **It does not recover the bias**: the density of the sampling
    /// dominates it. For comparison only.
    Trace,
    /// $\frac12[(n_i^\top e)^2 + (n_j^\top e)^2]$ with $e = x_i - x_j$ of a point and its nearest
    /// neighbour in another scan, m²: symmetric point-to-plane.
    PointToPlane,
    /// $\lVert x_i - x_j \rVert^2$, m².
    PointToPoint,
}

impl DepthLoss {
    /// Whether the loss is defined on pairs of points.
    pub(super) fn is_of_pairs(self) -> bool {
        matches!(self, Self::PointToPlane | Self::PointToPoint)
    }
}
