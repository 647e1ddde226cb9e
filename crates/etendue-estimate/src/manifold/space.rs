//! Manifolds and their products.

use nalgebra::DMatrix;

/// Manifold of unknowns with a retraction, for iterative solvers.
///
/// A step is a tangent vector of [`dimension`](Manifold::dimension) numbers.
/// [`retract`](Manifold::retract) applies it, and [`local`](Manifold::local) is the inverse:
/// `a.retract(&a.local(&b))` equals `b`.
///
/// ```
/// use etendue_estimate::manifold::Manifold;
/// use nalgebra::{Isometry2, Vector2};
///
/// let a = Isometry2::new(Vector2::new(1.0, 2.0), 0.3);
/// let b = a.retract(&[0.1, -0.2, 0.05]);
/// let step = a.local(&b);
/// assert!((step[1] + 0.2).abs() < 1e-14);
/// ```
pub trait Manifold: Clone {
    /// Number of components of a tangent vector.
    fn dimension(&self) -> usize;

    /// The element reached from this one by the step `tangent`.
    #[must_use]
    fn retract(&self, tangent: &[f64]) -> Self;

    /// The step from this element to `other`.
    fn local(&self, other: &Self) -> Vec<f64>;

    /// Right Jacobian of the retraction at $\tau$ = `tangent`: the derivative of the step from
    /// `retract(τ)` to `retract(τ + δ)` by $\delta$ at zero (Solà, Deray, Atchuthan 2018,
    /// arXiv:1812.01537). The identity for vector spaces.
    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        DMatrix::identity(tangent.len(), tangent.len())
    }
}

/// The real line; steps are differences.
impl Manifold for f64 {
    fn dimension(&self) -> usize {
        1
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        self + tangent[0]
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        vec![other - self]
    }
}

/// Product of two manifolds.
impl<A: Manifold, B: Manifold> Manifold for (A, B) {
    fn dimension(&self) -> usize {
        self.0.dimension() + self.1.dimension()
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        let (first, second) = tangent.split_at(self.0.dimension());
        (self.0.retract(first), self.1.retract(second))
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        let mut tangent = self.0.local(&other.0);
        tangent.extend(self.1.local(&other.1));
        tangent
    }

    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        let (first, second) = tangent.split_at(self.0.dimension());
        block_diagonal(&[self.0.right_jacobian(first), self.1.right_jacobian(second)])
    }
}

/// Product of manifolds.
impl<M: Manifold> Manifold for Vec<M> {
    fn dimension(&self) -> usize {
        self.iter().map(M::dimension).sum()
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        let mut rest = tangent;
        self.iter()
            .map(|part| {
                let (own, others) = rest.split_at(part.dimension());
                rest = others;
                part.retract(own)
            })
            .collect()
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        self.iter()
            .zip(other)
            .flat_map(|(a, b)| a.local(b))
            .collect()
    }

    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        let mut rest = tangent;
        let blocks: Vec<_> = self
            .iter()
            .map(|part| {
                let (own, others) = rest.split_at(part.dimension());
                rest = others;
                part.right_jacobian(own)
            })
            .collect();
        block_diagonal(&blocks)
    }
}

/// Block-diagonal matrix of square blocks.
fn block_diagonal(blocks: &[DMatrix<f64>]) -> DMatrix<f64> {
    let size = blocks.iter().map(DMatrix::nrows).sum();
    let mut whole = DMatrix::zeros(size, size);
    let mut at = 0;
    for block in blocks {
        let n = block.nrows();
        whole.view_mut((at, at), (n, n)).copy_from(block);
        at += n;
    }
    whole
}
