//! Closed-form eigendecomposition of symmetric 3x3 matrices.

use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Eigenvalues in ascending order and unit eigenvectors of a symmetric 3x3 matrix $Q$.
///
/// The least eigenvalue $\lambda_1$ is the trigonometric solution of the characteristic cubic (Smith
/// 1961, doi:10.1145/355578.366316), and its eigenvector the cross product of two rows of $Q -
/// \lambda_1 I$. The other two follow from one rotation in the plane normal to it, which is exact
/// even for equal eigenvalues. Where the two least eigenvalues are nearly equal, the iterative solver
/// of nalgebra is used.
///
/// ```
/// use etendue_estimate::geometry::EigenDecomposition;
/// use nalgebra::{Matrix3, Vector3};
/// let eigen = EigenDecomposition::of(&Matrix3::from_diagonal(&Vector3::new(3.0, 1.0, 2.0)));
/// assert!((eigen.values[0] - 1.0).abs() < 1e-15);
/// assert!((eigen.vectors[0].y.abs() - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenDecomposition {
    /// Eigenvalues $\lambda_1 \le \lambda_2 \le \lambda_3$.
    pub values: [f64; 3],
    /// Unit eigenvectors, with arbitrary sign.
    pub vectors: [Vector3<f64>; 3],
}

/// Squared norm of the cross product of rows, relative to the fourth power of the spread of the
/// eigenvalues, below which its direction is lost to rounding.
const DEGENERATE: f64 = 1e-10;

impl EigenDecomposition {
    /// Decomposes a symmetric matrix; only its upper triangle is read.
    pub fn of(matrix: &Matrix3<f64>) -> Self {
        match least_vector(matrix) {
            Some(vector) => Self::across(matrix, vector),
            None => Self::iterated(matrix),
        }
    }

    /// Unit eigenvector of the least eigenvalue of a symmetric matrix: the first vector of [`EigenDecomposition::of`].
    pub fn least_vector_of(matrix: &Matrix3<f64>) -> Vector3<f64> {
        least_vector(matrix).unwrap_or_else(|| Self::iterated(matrix).vectors[0])
    }

    /// Decomposition given the eigenvector of the least eigenvalue.
    fn across(matrix: &Matrix3<f64>, least: Vector3<f64>) -> Self {
        let first = any_normal_to(&least);
        let second = least.cross(&first);
        let image = matrix * first;
        let a = first.dot(&image);
        let b = second.dot(&image);
        let c = second.dot(&(matrix * second));
        let (sin, cos) = (0.5 * (2.0 * b).atan2(a - c)).sin_cos();
        let mean = 0.5 * (a + c);
        let half = (0.5 * (a - c)).hypot(b);
        Self {
            values: [least.dot(&(matrix * least)), mean - half, mean + half],
            vectors: [
                least,
                second * cos - first * sin,
                first * cos + second * sin,
            ],
        }
    }

    /// Decomposition by the iterative solver of nalgebra.
    fn iterated(matrix: &Matrix3<f64>) -> Self {
        let found = matrix.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| found.eigenvalues[i].total_cmp(&found.eigenvalues[j]));
        Self {
            values: order.map(|i| found.eigenvalues[i]),
            vectors: order.map(|i| found.eigenvectors.column(i).into_owned()),
        }
    }
}

/// Unit eigenvector of the least eigenvalue; `None` where the two least are nearly equal.
fn least_vector(matrix: &Matrix3<f64>) -> Option<Vector3<f64>> {
    let centre = matrix.trace() / 3.0;
    let deviation = matrix - Matrix3::from_diagonal_element(centre);
    let spread = (deviation.norm_squared() / 6.0).sqrt();
    let cosine = deviation.determinant() / (2.0 * spread.powi(3));
    if !cosine.is_finite() {
        return None;
    }
    let angle = cosine.clamp(-1.0, 1.0).acos() / 3.0;
    let least = centre + 2.0 * spread * (angle + 2.0 * PI / 3.0).cos();
    vector_of(matrix, least, DEGENERATE * spread.powi(4))
}

/// Unit eigenvector of an eigenvalue of a symmetric matrix: the longest cross product of two rows of $Q - \lambda I$, or
/// `None` where its squared length is not above `smallest`.
fn vector_of(matrix: &Matrix3<f64>, value: f64, smallest: f64) -> Option<Vector3<f64>> {
    let shifted = matrix - Matrix3::from_diagonal_element(value);
    let [a, b, c] = [0, 1, 2].map(|i| shifted.column(i).into_owned());
    let crosses = [a.cross(&b), b.cross(&c), c.cross(&a)];
    let squares = crosses.map(|cross| cross.norm_squared());
    let longest = if squares[0] >= squares[1] && squares[0] >= squares[2] {
        0
    } else if squares[1] >= squares[2] {
        1
    } else {
        2
    };
    (squares[longest] > smallest).then(|| crosses[longest] / squares[longest].sqrt())
}

/// Ascending eigenvalues of `N` symmetric 3x3 matrices without negative ones, from the components of their upper triangles
/// (xx, xy, xz, yy, yz, zz).
///
/// The least one is the limit of Newton's method on the characteristic polynomial from zero. Below that root the polynomial
/// is concave and increasing, so that the iterates increase to it, in three or four steps for the covariance of a plane. The others follow from
/// their sum and product. The loops compile to vector instructions.
#[expect(clippy::inline_always, reason = "loops become vector instructions")]
#[inline(always)]
pub(super) fn symmetric_values<const N: usize>(
    [xx, xy, xz, yy, yz, zz]: &[[f64; N]; 6],
) -> [[f64; N]; 3] {
    // Coefficients of the characteristic polynomials
    let [mut trace, mut minors, mut determinant] = [[0.0; N]; 3];
    for i in 0..N {
        let of_x = yy[i] * zz[i] - yz[i] * yz[i];
        trace[i] = xx[i] + yy[i] + zz[i];
        minors[i] = of_x + (xx[i] * zz[i] - xz[i] * xz[i]) + (xx[i] * yy[i] - xy[i] * xy[i]);
        determinant[i] = xx[i] * of_x - xy[i] * (xy[i] * zz[i] - yz[i] * xz[i])
            + xz[i] * (xy[i] * yz[i] - yy[i] * xz[i]);
    }
    // Least eigenvalues
    let mut least = [0.0; N];
    for _ in 0..MOST_STEPS {
        let mut steps = [0.0; N];
        for i in 0..N {
            let value = ((least[i] - trace[i]) * least[i] + minors[i]) * least[i] - determinant[i];
            let slope = (3.0 * least[i] - 2.0 * trace[i]) * least[i] + minors[i];
            let is_below = value < -ROUNDING * (trace[i] * trace[i] * trace[i]);
            steps[i] = if is_below { -value / slope } else { 0.0 };
            least[i] += steps[i];
        }
        if steps.iter().all(|step| *step == 0.0) {
            break;
        }
    }
    // The others
    let [mut second, mut third] = [[0.0; N]; 2];
    for i in 0..N {
        let sum = trace[i] - least[i];
        let product = minors[i] - least[i] * sum;
        let half = 0.5 * sum;
        let difference = (half * half - product).max(0.0).sqrt();
        second[i] = half - difference;
        third[i] = half + difference;
    }
    [least, second, third]
}

/// Largest number of steps of Newton's method: for equal eigenvalues the error is halved by each.
const MOST_STEPS: usize = 50;

/// Rounding of the characteristic polynomial, in cubes of the trace.
const ROUNDING: f64 = 1e-16;

/// Unit eigenvector of the least eigenvalue `value` of a symmetric matrix.
pub(super) fn least_vector_of(matrix: &Matrix3<f64>, value: f64) -> Vector3<f64> {
    let smallest = DEGENERATE * matrix.norm_squared().powi(2);
    let found = vector_of(matrix, value, smallest);
    found.unwrap_or_else(|| EigenDecomposition::least_vector_of(matrix))
}

/// A unit vector normal to a unit vector.
fn any_normal_to(unit: &Vector3<f64>) -> Vector3<f64> {
    let least = unit.iamin();
    let mut axis = Vector3::zeros();
    axis[least] = 1.0;
    unit.cross(&axis).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};

    fn matrix(number: u32, flatness: f64, length: f64) -> Matrix3<f64> {
        let mut draw = Stream::new(1, 0, 0, number, Purpose::Search);
        let turn = nalgebra::Rotation3::new(Vector3::from_fn(|_, _| draw.normal()));
        let values = Vector3::new(flatness, 1.0, length);
        turn * Matrix3::from_diagonal(&values) * turn.inverse()
    }

    #[test]
    fn the_closed_form_solves_thin_square_long_and_round_matrices() {
        let shapes = [
            (1e-6, 1.0),
            (1e-3, 4.0),
            (1.0, 1.0),
            (0.999999, 3.0),
            (0.0, 2.0),
        ];
        for (number, (flatness, length)) in (0..100).flat_map(|n| shapes.map(|s| (n, s))) {
            let matrix = matrix(number, flatness, length);
            let eigen = EigenDecomposition::of(&matrix);
            for (value, expected) in eigen.values.iter().zip([flatness, 1.0, length]) {
                assert!((value - expected).abs() < 1e-13, "{value} {expected}");
            }
            for (value, vector) in eigen.values.iter().zip(&eigen.vectors) {
                assert!((matrix * vector - vector * *value).norm() < 1e-9);
                assert!((vector.norm() - 1.0).abs() < 1e-13);
            }
        }
    }

    /// Newton's method takes different numbers of steps.
    #[test]
    fn the_values_of_several_matrices_are_those_of_each() {
        let upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let shapes = [(0.0, 1.0), (1e-3, 4.0), (0.5, 1.0), (1.0, 1.0)];
        for number in 0..100 {
            let matrices = shapes.map(|(flatness, length)| matrix(number, flatness, length));
            let together = symmetric_values(&upper.map(|at| matrices.map(|matrix| matrix[at])));
            for (i, matrix) in matrices.iter().enumerate() {
                let values = symmetric_values(&upper.map(|at| [matrix[at]]));
                assert_eq!(together.map(|value| value[i]), values.map(|[value]| value));
            }
        }
    }

    #[test]
    fn the_values_of_covariances_are_those_of_the_decomposition() {
        let shapes = [
            (0.0, 1.0),
            (1e-9, 1.5),
            (1e-3, 4.0),
            (0.05, 50.0),
            (0.5, 1.0),
            (1.0, 1.0),
        ];
        for (number, (flatness, length)) in (0..100).flat_map(|n| shapes.map(|s| (n, s))) {
            let matrix = matrix(number, flatness, length);
            let upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
            let values = symmetric_values(&upper.map(|at| [matrix[at]])).map(|[value]| value);
            // A triple eigenvalue is determined by a third of the digits.
            let tolerance = if flatness == length { 1e-4 } else { 1e-7 };
            for (value, expected) in values.iter().zip([flatness, 1.0, length]) {
                assert!((value - expected).abs() < tolerance, "{value} {expected}");
            }
            if flatness < 0.9 {
                let least = least_vector_of(&matrix, values[0]);
                assert!((matrix * least - least * flatness).norm() < 1e-9);
            }
        }
    }
}
