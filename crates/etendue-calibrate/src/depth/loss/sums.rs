//! Sums of the Gauss-Newton curvature over terms.

use super::corrected_points::CorrectedPoints;
use nalgebra::{DMatrix, Vector3};

/// Functions of the points that are projected out of the displacements $u^\top \delta x_i$: up to three
/// orthonormal functions to which the loss is insensitive.
pub(super) struct ProjectedFunctions {
    /// The direction $u$ of the displacements.
    pub direction: Vector3<f64>,
    /// Position at which the linear functions are zero, m.
    pub mean: Vector3<f64>,
    /// Value of the constant function.
    pub constant: f64,
    /// Gradients of the two linear functions; zero for functions that are not projected out.
    pub tilts: [Vector3<f64>; 2],
}

impl ProjectedFunctions {
    /// Values of the functions at a position.
    pub fn at(&self, position: &Vector3<f64>) -> [f64; 3] {
        let off = position - self.mean;
        [
            self.constant,
            self.tilts[0].dot(&off),
            self.tilts[1].dot(&off),
        ]
    }
}

/// Consecutive unknowns of one term.
#[derive(Clone, Copy)]
struct Block {
    /// Index of the first unknown among all.
    first: usize,
    /// Index of the first unknown among those of the term.
    local: usize,
    /// Number of unknowns.
    length: usize,
}

/// Curvature of a chunk of the terms: $\sum f\\,J^\top P J$ with $P = 1 - Q Q^\top$.
///
/// The row of a point contains only the weights and the six unknowns of its pose, so that $J^\top J$
/// consists of small blocks and $P$ is an update of rank three: a term of $n$ points from $k$ poses costs
/// $O(n + k^2)$ instead of $O(n k^2)$.
pub(super) struct Sums {
    /// Blocks on and below the diagonal.
    matrix: DMatrix<f64>,
    /// Number of weights.
    weights: usize,
    /// Buffer of the row of one point: the weights, then the correction.
    row: Vec<f64>,
    /// Blocks of the current term.
    blocks: Vec<Block>,
    /// Index of the block of each correction in the current term.
    block_of: Vec<Option<usize>>,
    /// $Q^\top J$ of the current term.
    along: [Vec<f64>; 3],
}

impl Sums {
    /// Empty sums over a number of unknowns, the weights first.
    pub fn new(unknowns: usize, weights: usize) -> Self {
        Self {
            matrix: DMatrix::zeros(unknowns, unknowns),
            weights,
            row: vec![0.0; weights + 6],
            blocks: Vec::new(),
            block_of: vec![None; (unknowns - weights) / 6],
            along: Default::default(),
        }
    }

    /// Sum with the matrix of another chunk.
    pub fn plus(mut self, other: &Self) -> Self {
        self.matrix += &other.matrix;
        self
    }

    /// The full symmetric matrix.
    pub fn finished(mut self) -> DMatrix<f64> {
        self.matrix.fill_upper_triangle_with_lower_triangle();
        self.matrix
    }

    /// Adds `factor` times the normal matrix of the displacements of points along a direction, with
    /// functions projected out.
    pub fn add(
        &mut self,
        corrected: &CorrectedPoints,
        members: &[u32],
        projected: &ProjectedFunctions,
        factor: f64,
    ) {
        self.begin();
        for &member in members {
            let point = member as usize;
            let column = corrected.column(point);
            self.row.fill(0.0);
            let own = column.map(|_| self.weights);
            corrected.accumulate(
                point,
                &projected.direction,
                &Vector3::zeros(),
                &mut self.row,
                own,
            );
            self.add_square(column, factor);
            self.add_projection(column, projected.at(&corrected.positions[point]));
        }
        self.add_product(-factor);
    }

    /// Adds `factor` times the square of a row: the sum of the gradient contributions of points, each with
    /// the derivatives with respect to its position and its rotation.
    pub fn add_row(
        &mut self,
        corrected: &CorrectedPoints,
        ends: &[(usize, Vector3<f64>, Vector3<f64>)],
        factor: f64,
    ) {
        self.begin();
        for (point, force, torque) in ends {
            let column = corrected.column(*point);
            self.row.fill(0.0);
            let own = column.map(|_| self.weights);
            corrected.accumulate(*point, force, torque, &mut self.row, own);
            self.add_projection(column, [1.0, 0.0, 0.0]);
        }
        self.add_product(factor);
    }

    /// Clears the buffers for a new term.
    fn begin(&mut self) {
        for block in self.blocks.drain(..).skip(1) {
            self.block_of[(block.first - self.weights) / 6] = None;
        }
        self.blocks.push(Block {
            first: 0,
            local: 0,
            length: self.weights,
        });
        for along in &mut self.along {
            along.clear();
            along.resize(self.weights, 0.0);
        }
    }

    /// Local index of the block of a correction; appends the block if it is new.
    fn local(&mut self, column: usize) -> usize {
        let correction = (column - self.weights) / 6;
        let number = *self.block_of[correction].get_or_insert_with(|| {
            self.blocks.push(Block {
                first: column,
                local: self.along[0].len(),
                length: 6,
            });
            for along in &mut self.along {
                along.resize(along.len() + 6, 0.0);
            }
            self.blocks.len() - 1
        });
        self.blocks[number].local
    }

    /// Adds the row times each function to $Q^\top J$.
    fn add_projection(&mut self, column: Option<usize>, functions: [f64; 3]) {
        let local = column.map(|c| self.local(c));
        let (of_weights, of_pose) = self.row.split_at(self.weights);
        for (along, q) in self.along.iter_mut().zip(functions) {
            add_scaled(&mut along[..of_weights.len()], of_weights, q);
            if let Some(local) = local {
                add_scaled(&mut along[local..local + 6], of_pose, q);
            }
        }
    }

    /// Adds `factor` times the square of the row.
    fn add_square(&mut self, column: Option<usize>, factor: f64) {
        let size = self.matrix.nrows();
        let data = self.matrix.as_mut_slice();
        let (of_weights, of_pose) = self.row.split_at(self.weights);
        for (j, value) in of_weights.iter().enumerate() {
            let scaled = factor * value;
            add_scaled(&mut data[j * size..][..self.weights], of_weights, scaled);
            if let Some(first) = column {
                add_scaled(&mut data[j * size + first..][..6], of_pose, scaled);
            }
        }
        let Some(first) = column else { return };
        for (j, value) in of_pose.iter().enumerate() {
            let down = &mut data[(first + j) * size + first..][..6];
            add_scaled(down, of_pose, factor * value);
        }
    }

    /// Adds `factor` times $(Q^\top J)^\top(Q^\top J)$.
    fn add_product(&mut self, factor: f64) {
        let size = self.matrix.nrows();
        let data = self.matrix.as_mut_slice();
        for left in &self.blocks {
            for step in 0..left.length {
                let column = (left.first + step) * size;
                let scaled = [0, 1, 2].map(|k: usize| factor * self.along[k][left.local + step]);
                for down in self.blocks.iter().filter(|down| down.first >= left.first) {
                    let at = down.local..down.local + down.length;
                    let sums = &mut data[column + down.first..][..down.length];
                    let [first, second, third] =
                        [0, 1, 2].map(|k: usize| &self.along[k][at.clone()]);
                    let all = first.iter().zip(second).zip(third);
                    for (sum, ((one, two), three)) in sums.iter_mut().zip(all) {
                        *sum += scaled[0] * one + scaled[1] * two + scaled[2] * three;
                    }
                }
            }
        }
    }
}

fn add_scaled(sums: &mut [f64], values: &[f64], factor: f64) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

/// Influence of errors of the measurements on the weights: the rows of the weights of $-H^{-1}$ times the
/// derivatives with respect to the errors.
pub(super) struct Influence<'a> {
    /// The weights' rows of the inverse curvature.
    rows: &'a DMatrix<f64>,
    /// By measurement: derivative of each weight with respect to the depth.
    pub of_depth: Vec<f64>,
    /// By measurement: change of each weight due to the residual.
    pub of_error: Vec<f64>,
    row: Vec<f64>,
    moved: Vec<f64>,
}

impl<'a> Influence<'a> {
    /// Zero influence of a number of measurements.
    pub fn new(rows: &'a DMatrix<f64>, measurements: usize) -> Self {
        let weights = rows.nrows();
        Self {
            rows,
            of_depth: vec![0.0; weights * measurements],
            of_error: vec![0.0; weights * measurements],
            row: vec![0.0; weights + 6],
            moved: Vec::new(),
        }
    }

    /// Adds a neighbourhood, with the arguments of [`Sums::add`].
    pub fn add(
        &mut self,
        corrected: &CorrectedPoints,
        members: &[u32],
        projected: &ProjectedFunctions,
        factor: f64,
    ) {
        // Displacement of each member by each weight, and its projection on the plane functions.
        let weights = self.rows.nrows();
        self.moved.clear();
        self.moved.resize(weights * members.len(), 0.0);
        let mut along = vec![[0.0; 3]; weights];
        let no_torque = Vector3::zeros();
        for (number, &member) in members.iter().enumerate() {
            let direction = &projected.direction;
            self.move_by(corrected, member as usize, direction, &no_torque, number);
            let functions = projected.at(&corrected.positions[member as usize]);
            let moved = &self.moved[number * weights..][..weights];
            for (sums, value) in along.iter_mut().zip(moved) {
                add_scaled(sums, &functions, *value);
            }
        }
        // Derivatives by depth and error of each member, without the component of the eliminated
        // plane.
        for (number, &member) in members.iter().enumerate() {
            let position = corrected.positions[member as usize];
            let functions = projected.at(&position);
            let beam = projected.direction.dot(&corrected.beams[member as usize]);
            let error = projected.direction.dot(&(position - projected.mean));
            for (k, sums) in along.iter().enumerate() {
                let removed: f64 = sums.iter().zip(functions).map(|(s, f)| s * f).sum();
                let change = factor * (self.moved[number * weights + k] - removed);
                let at = member as usize * weights + k;
                self.of_depth[at] += change * beam;
                self.of_error[at] += change * error;
            }
        }
    }

    /// Adds a residual of a pair, with the arguments of [`Sums::add_row`]; half of its error is attributed to
    /// each end.
    pub fn add_row(
        &mut self,
        corrected: &CorrectedPoints,
        ends: &[(usize, Vector3<f64>, Vector3<f64>)],
        residual: f64,
        factor: f64,
    ) {
        let weights = self.rows.nrows();
        self.moved.clear();
        self.moved.resize(weights, 0.0);
        for (point, force, torque) in ends {
            self.move_by(corrected, *point, force, torque, 0);
        }
        for (point, force, _) in ends {
            let beam = force.dot(&corrected.beams[*point]);
            for (k, moved) in self.moved.iter().enumerate() {
                self.of_depth[point * weights + k] += factor * moved * beam;
                self.of_error[point * weights + k] += factor * moved * residual * 0.5;
            }
        }
    }

    /// Adds the effect of a force and a torque on a point on the weights to entry `number` of `moved`.
    fn move_by(
        &mut self,
        corrected: &CorrectedPoints,
        point: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        number: usize,
    ) {
        let weights = self.rows.nrows();
        let column = corrected.column(point);
        self.row.fill(0.0);
        let own = column.map(|_| weights);
        corrected.accumulate(point, force, torque, &mut self.row, own);
        let moved = &mut self.moved[number * weights..][..weights];
        let (of_weights, of_pose) = self.row.split_at(weights);
        for (j, value) in of_weights.iter().enumerate() {
            add_scaled(moved, self.rows.column(j).as_slice(), *value);
        }
        let Some(first) = column else { return };
        for (j, value) in of_pose.iter().enumerate() {
            add_scaled(moved, self.rows.column(first + j).as_slice(), *value);
        }
    }
}
