//! Normal prior of the pose corrections.

use nalgebra::{DMatrix, Isometry3, Vector3};

/// Normal prior of pose corrections: six independent components of zero mean, three of the position and three
/// of the rotation vector, in the frame of the lidar.
///
/// ```
/// use etendue_calibrate::depth::PosePrior;
/// use nalgebra::Isometry3;
/// let prior = PosePrior { position: 0.01, rotation: 2e-3 };
/// let moved = Isometry3::translation(0.03, 0.0, 0.0);
/// assert_eq!(prior.chi_square(&moved).round(), 9.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosePrior {
    /// Standard deviation of each component of the position, m.
    pub position: f64,
    /// Standard deviation of each component of the rotation vector, rad.
    pub rotation: f64,
}

impl PosePrior {
    /// Sum of the squared components of a correction in standard deviations.
    pub fn chi_square(&self, correction: &Isometry3<f64>) -> f64 {
        let position = correction.translation.vector / self.position;
        let rotation = correction.rotation.scaled_axis() / self.rotation;
        position.norm_squared() + rotation.norm_squared()
    }

    /// Greatest component of a correction in standard deviations.
    pub fn largest_deviation(&self, correction: &Isometry3<f64>) -> f64 {
        let position = correction.translation.vector.amax() / self.position;
        let rotation = correction.rotation.scaled_axis().amax() / self.rotation;
        position.max(rotation)
    }
}

/// Term of an objective: a factor times the chi-square of all corrections.
#[derive(Clone, Copy, Debug)]
pub(in crate::depth) struct PosePenalty {
    pub prior: PosePrior,
    /// Loss per unit of chi-square: the loss of the noise over the number of independent observations.
    pub factor: f64,
}

impl PosePenalty {
    /// Value at some corrections.
    pub fn value(&self, corrections: &[Isometry3<f64>]) -> f64 {
        let squares = corrections.iter().map(|c| self.prior.chi_square(c));
        self.factor * squares.sum::<f64>()
    }

    /// Adds the gradient with respect to composed steps, $\delta T \to \delta T\\,\delta$. The rotation vector
    /// is an eigenvector of its own Jacobian, so that its gradient is the vector itself.
    pub fn add_gradient(&self, corrections: &[Isometry3<f64>], gradient: &mut [f64]) {
        for (correction, sums) in corrections.iter().zip(gradient.chunks_exact_mut(6)) {
            let position = correction
                .rotation
                .inverse_transform_vector(&correction.translation.vector);
            let rotation = correction.rotation.scaled_axis();
            let [of_position, of_rotation] = self.curvatures();
            add(&mut sums[..3], &position, of_position);
            add(&mut sums[3..], &rotation, of_rotation);
        }
    }

    /// Adds the curvature to the diagonal blocks of the corrections, which start at `first`.
    pub fn add_curvature(&self, first: usize, matrix: &mut DMatrix<f64>) {
        let [of_position, of_rotation] = self.curvatures();
        for (number, unknown) in (first..matrix.nrows()).enumerate() {
            let is_position = number % 6 < 3;
            matrix[(unknown, unknown)] += if is_position {
                of_position
            } else {
                of_rotation
            };
        }
    }

    /// Second derivatives by position and rotation.
    fn curvatures(&self) -> [f64; 2] {
        [self.prior.position, self.prior.rotation].map(|sd| 2.0 * self.factor / (sd * sd))
    }
}

fn add(sums: &mut [f64], vector: &Vector3<f64>, factor: f64) {
    for (sum, component) in sums.iter_mut().zip(vector) {
        *sum += factor * component;
    }
}
