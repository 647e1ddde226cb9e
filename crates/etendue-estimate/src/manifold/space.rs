//! Manifolds and their products.

use nalgebra::DMatrix;

/// A space of unknowns on which a solver can walk.
///
/// A step is a vector of [`dimension`](Manifold::dimension) numbers, the tangent.
/// [`retract`](Manifold::retract) takes the step and [`local`](Manifold::local) is its inverse:
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
    /// How many numbers make a step.
    fn dimension(&self) -> usize;

    /// The element that `tangent` leads to from here.
    #[must_use]
    fn retract(&self, tangent: &[f64]) -> Self;

    /// The tangent that leads from here to `other`.
    fn local(&self, other: &Self) -> Vec<f64>;

    /// How a small step at `retract(tangent)` changes `tangent`'s own end: column $j$ is the step
    /// seen there when component $j$ of `tangent` grows. The identity where steps just add up.
    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        DMatrix::identity(tangent.len(), tangent.len())
    }
}

/// A real number without bounds.
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

/// The product of two spaces.
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

/// The product of any number of spaces.
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
