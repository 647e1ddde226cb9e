//! Choice of the loss.

/// The loss $\ell$ of one neighbourhood (the first three) or one pair of points (the last two).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthLoss {
    /// Least eigenvalue $\lambda_1$ of the sample covariance, m² (equation 7). Shrinking all
    /// depths lowers it.
    #[default]
    MinimumEigenvalue,
    /// $\lambda_1 / \operatorname{tr} Q$, without unit: blind to scale.
    NormalisedEigenvalue,
    /// $\operatorname{tr} Q$, m² (equation 8). **It does not find the bias**: it is dominated by
    /// the density of the sampling. It is here to be compared with.
    Trace,
    /// $\frac12[(n_i^\top e)^2 + (n_j^\top e)^2]$ with $e = x_i - x_j$ of a point and its nearest
    /// from another scan, m²: point-to-plane, both ways.
    PointToPlane,
    /// $\lVert x_i - x_j \rVert^2$, m².
    PointToPoint,
}

impl DepthLoss {
    /// Whether the loss is of pairs of points.
    pub(super) fn is_of_pairs(self) -> bool {
        matches!(self, Self::PointToPlane | Self::PointToPoint)
    }
}
