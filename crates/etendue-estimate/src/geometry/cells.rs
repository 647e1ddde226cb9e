//! Plane fits of whole scans, from the moments of cubic cells.

use super::LocalSurface;
use super::cell_table::{CellTable, NO_CELL};
use super::eigen::{least_vector_of, symmetric_values};
use super::voxel_table::{KEY_CHUNK, VoxelKeys};
use etendue_simd::{Isa, Vectorized};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

/// Settings of the plane fits of a whole scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellOptions {
    /// Side of the cells, m; a plane is fitted to a cell and its 26 neighbours.
    pub cell: f64,
    /// Number of times that the cell size is doubled for points with too few neighbours, such as
    /// distant points, whose scan lines are far apart.
    pub doublings: u32,
    /// Minimum number of points of a plane.
    pub neighbours: u32,
    /// Maximum $\lambda_1/\lambda_2$ of the covariance of a plane: excludes edges.
    pub flatness: f64,
    /// Minimum $\lambda_2/\lambda_3$ of the covariance of a plane: excludes single scan lines.
    pub roundness: f64,
}

impl Default for CellOptions {
    /// Cells of 0.2 m doubled twice, 6 points, flatness 0.05, roundness 0.02.
    fn default() -> Self {
        Self {
            cell: 0.2,
            doublings: 2,
            neighbours: 6,
            flatness: 0.05,
            roundness: 0.02,
        }
    }
}

/// Local surface at every point of a scan (lidar frame, m, beams from the origin); `None` for points
/// that are not finite, for the origin, at edges, and where there are too few neighbours.
///
/// All points of a cell share one plane, fitted to the points of the cell and its 26 neighbours, or of
/// the cell only where the larger set is not flat. This takes a tenth of the time of
/// [`local_surfaces`](super::local_surfaces), which searches the neighbours of every point.
///
/// ```
/// use etendue_estimate::geometry::{CellOptions, local_surfaces_by_cells};
/// use nalgebra::Vector3;
/// let wall: Vec<_> = (0..900)
///     .map(|i| Vector3::new(f64::from(i / 30) * 0.05, 2.0, f64::from(i % 30) * 0.05))
///     .collect();
/// let surfaces = local_surfaces_by_cells(&wall, &CellOptions::default());
/// let surface = surfaces[0].unwrap();
/// assert!((surface.normal + Vector3::y()).norm() < 1e-9);
/// assert!(surface.incidence.abs() < 1e-7);
/// ```
pub fn local_surfaces_by_cells(
    points: &[Vector3<f64>],
    options: &CellOptions,
) -> Vec<Option<LocalSurface>> {
    let position = |i: usize| points[i];
    map_cell_planes(points.len(), position, options, |point, plane| {
        let from_plane = point - plane.mean;
        super::normals::local_surface(&point.normalize(), &from_plane, &plane.normal, plane.values)
    })
}

/// Values of `function` for every point and the plane of its cell; `None` for points without a plane.
pub fn map_cell_planes<T: Copy + Send>(
    count: usize,
    position: impl Fn(usize) -> Vector3<f64> + Sync,
    options: &CellOptions,
    function: impl Fn(&Vector3<f64>, &CellPlane) -> T + Sync,
) -> Vec<Option<T>> {
    let planes = CellPlanes::new(count, &position, options);
    let value = |i| planes.at(i).map(|plane| function(&position(i), plane));
    (0..count).into_par_iter().map(value).collect()
}

/// Planes of the cells of a scan.
///
/// ```
/// use etendue_estimate::geometry::{CellOptions, CellPlanes};
/// use nalgebra::Vector3;
/// let wall = |i: usize| Vector3::new((i / 30) as f64 * 0.05, 2.0, (i % 30) as f64 * 0.05);
/// let planes = CellPlanes::new(900, wall, &CellOptions::default());
/// assert!((planes.at(0).unwrap().mean.y - 2.0).abs() < 1e-9);
/// assert!(!planes.is_edge(0));
/// ```
pub struct CellPlanes {
    /// Planes of the cells of all sizes that have one.
    planes: Vec<CellPlane>,
    /// Number of the plane of each point; [`NO_PLANE`] for points without one.
    of_points: Vec<u32>,
}

/// Number of the plane of points without one.
const NO_PLANE: u32 = u32::MAX;

/// Number of the plane of points whose cell of the smallest size has points that are not coplanar.
const EDGE: u32 = u32::MAX - 1;

impl CellPlanes {
    /// Fits planes to the cells of `count` points with positions in the lidar frame, m.
    pub fn new(
        count: usize,
        position: impl Fn(usize) -> Vector3<f64>,
        options: &CellOptions,
    ) -> Self {
        // Fit a plane to every cell.
        let mut planes = Vec::new();
        let (mut grid, mut cells) = Grid::new(count, &position, options.cell);
        let all = vec![true; grid.moments.len()];
        let mut of_cells = numbered(grid.fits(&all, options), &mut planes);
        // Points with too few neighbours are open: number of the point, and its cell.
        let mut open = Vec::new();
        for (i, cell) in (0..).zip(&mut cells) {
            let plane = *of_cells.get(*cell as usize).unwrap_or(&EDGE);
            if plane == NO_PLANE {
                open.push((i, *cell));
            }
            *cell = plane;
        }
        let mut of_points = cells;
        // Repeat with cells of twice the side for the open points.
        for _ in 0..options.doublings {
            if open.is_empty() {
                break;
            }
            let (coarse, parents) = grid.doubled();
            let mut requested = vec![false; coarse.moments.len()];
            for (_, cell) in &mut open {
                *cell = parents[*cell as usize];
                requested[*cell as usize] = true;
            }
            of_cells = numbered(coarse.fits(&requested, options), &mut planes);
            open.retain(|&(i, cell): &(u32, u32)| {
                let plane = of_cells[cell as usize];
                if plane < EDGE {
                    of_points[i as usize] = plane;
                }
                plane == NO_PLANE
            });
            grid = coarse;
        }
        Self { planes, of_points }
    }

    /// The plane of the cell of a point, where it has one.
    pub fn at(&self, point: usize) -> Option<&CellPlane> {
        self.planes.get(self.of_points[point] as usize)
    }

    /// Whether the points around a point, in its cell of the smallest size and its neighbours, are neither coplanar nor on a line.
    pub fn is_edge(&self, point: usize) -> bool {
        self.of_points[point] == EDGE
    }
}

/// Appends the planes of fits. Returns the number of the plane of each cell, [`NO_PLANE`] for too few points or [`EDGE`].
fn numbered(fits: Vec<Fit>, planes: &mut Vec<CellPlane>) -> Vec<u32> {
    let number = |fit| match fit {
        Fit::Few => NO_PLANE,
        Fit::Edge => EDGE,
        Fit::Plane(plane) => {
            #[expect(clippy::cast_possible_truncation, reason = "cells are numbered by u32")]
            let number = planes.len() as u32;
            planes.push(plane);
            number
        }
    };
    fits.into_iter().map(number).collect()
}

/// Moments of points about the lidar: number, sum (m), and upper triangle of the sum of outer products
/// (xx, xy, xz, yy, yz, zz; m²). At 100 m, rounding changes a variance by 1e-11 m².
#[derive(Clone, Copy, Default)]
struct Moments([f64; 10]);

impl Moments {
    /// Moments of a point.
    fn of(p: &Vector3<f64>) -> Self {
        let [x, y, z] = [p.x, p.y, p.z];
        Self([1.0, x, y, z, x * x, x * y, x * z, y * y, y * z, z * z])
    }

    /// Adds the moments of other points.
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn add(&mut self, other: &Self) {
        for (sum, term) in self.0.iter_mut().zip(&other.0) {
            *sum += term;
        }
    }

    /// Whether there are enough points for a plane.
    fn are_enough(&self, options: &CellOptions) -> bool {
        self.0[0] >= f64::from(options.neighbours.max(3))
    }
}

/// Means, covariances and their eigenvalues of `N` sets of points.
#[derive(Clone, Copy)]
struct Spreads<const N: usize> {
    means: [[f64; N]; 3],
    /// Upper triangles of the covariances (xx, xy, xz, yy, yz, zz).
    covariances: [[f64; N]; 6],
    /// Ascending eigenvalues.
    values: [[f64; N]; 3],
}

impl<const N: usize> Spreads<N> {
    /// Spreads of sets of points with some [`Moments`].
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn of([n, x, y, z, second @ ..]: &[[f64; N]; 10]) -> Self {
        let mut means = [[0.0; N]; 3];
        for (mean, sum) in means.iter_mut().zip([x, y, z]) {
            for i in 0..N {
                mean[i] = sum[i] / n[i];
            }
        }
        let mut covariances = [[0.0; N]; 6];
        for (entry, (covariance, second)) in covariances.iter_mut().zip(second).enumerate() {
            let [a, b] = UPPER[entry].map(|axis| &means[axis]);
            for i in 0..N {
                covariance[i] = (second[i] - a[i] * b[i] * n[i]) / (n[i] - 1.0);
            }
        }
        Self {
            means,
            covariances,
            values: symmetric_values(&covariances),
        }
    }

    /// Plane of a set of points, where they are coplanar.
    fn fit(&self, set: usize, options: &CellOptions) -> Fit {
        let values = self.values.map(|value| value[set]);
        let [l1, l2, l3] = values;
        if l2 < options.roundness * l3 {
            return Fit::Few;
        }
        if l1 > options.flatness * l2 {
            return Fit::Edge;
        }
        let [xx, xy, xz, yy, yz, zz] = self.covariances.map(|entry| entry[set]);
        let covariance = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        Fit::Plane(CellPlane {
            normal: least_vector_of(&covariance, l1),
            values,
            mean: Vector3::from(self.means.map(|mean| mean[set])),
        })
    }
}

/// Axes of the entries of the upper triangle of a matrix.
const UPPER: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// Number of cells whose planes are fitted together.
const BATCH: usize = 8;

/// Moments of cells whose planes are fitted together.
struct FitBatch {
    count: usize,
    /// Numbers of the cells.
    cells: [usize; BATCH],
    moments: [[f64; BATCH]; 10],
    isa: Isa,
}

impl FitBatch {
    fn new() -> Self {
        Self {
            count: 0,
            cells: [0; BATCH],
            moments: [[1.0; BATCH]; 10],
            isa: Isa::detect(),
        }
    }

    /// Adds a cell.
    fn push(&mut self, cell: usize, moments: &Moments) {
        self.cells[self.count] = cell;
        for (all, moment) in self.moments.iter_mut().zip(moments.0) {
            all[self.count] = moment;
        }
        self.count += 1;
    }

    /// Fits planes, and calls a function for the number of each cell and its fit.
    fn fit(&mut self, options: &CellOptions, mut function: impl FnMut(usize, Fit)) {
        let spreads = self.isa.run(SpreadsOf(&self.moments));
        for (set, &cell) in self.cells[..self.count].iter().enumerate() {
            function(cell, spreads.fit(set, options));
        }
        self.count = 0;
    }
}

/// Computation of [`Spreads`].
struct SpreadsOf<'m>(&'m [[f64; BATCH]; 10]);

impl Vectorized for SpreadsOf<'_> {
    type Output = Spreads<BATCH>;

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> Spreads<BATCH> {
        Spreads::of(self.0)
    }
}

/// Result of a plane fit to a cell.
#[derive(Clone, Copy)]
enum Fit {
    /// Too few points, or the points of one scan line: larger cells may help.
    Few,
    /// Points that are not coplanar.
    Edge,
    /// A plane.
    Plane(CellPlane),
}

/// Plane fitted to the points of a cell and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlane {
    /// Unit normal, with arbitrary sign.
    pub normal: Vector3<f64>,
    /// Ascending eigenvalues of the covariance of the points, m².
    pub values: [f64; 3],
    /// Mean of the points: a point of the plane, m.
    pub mean: Vector3<f64>,
}

/// Grid of cubic cells with the moments of their points.
struct Grid {
    /// Side of the cells, m.
    cell: f64,
    /// Cells with points.
    cells: CellTable,
    /// Moments of the cells.
    moments: Vec<Moments>,
}

impl Grid {
    /// Grid over points, with the index of the cell of each point; [`NO_CELL`] for points that are not
    /// finite and for the origin.
    fn new(count: usize, position: impl Fn(usize) -> Vector3<f64>, cell: f64) -> (Self, Vec<u32>) {
        let mut grid = Self::empty(cell);
        let mut cells = vec![NO_CELL; count];
        let mut keys = VoxelKeys::new(cell);
        for (chunk, first) in cells.chunks_mut(KEY_CHUNK).zip((0..).step_by(KEY_CHUNK)) {
            keys.compute((first..first + chunk.len()).map(&position));
            for (i, cell) in chunk.iter_mut().enumerate() {
                let point = keys.point(i);
                // Not finite, or the origin.
                if !(point.norm_squared() > 0.0 && point.norm_squared() < f64::INFINITY) {
                    continue;
                }
                *cell = grid.insert(keys.key(i));
                grid.moments[*cell as usize].add(&Moments::of(&point));
            }
        }
        (grid, cells)
    }

    /// Grid without cells.
    fn empty(cell: f64) -> Self {
        Self {
            cell,
            cells: CellTable::default(),
            moments: Vec::new(),
        }
    }

    /// Grid with cells of twice the side, and the index of the parent of each cell.
    fn doubled(&self) -> (Self, Vec<u32>) {
        let mut coarse = Self::empty(2.0 * self.cell);
        let parent = |(key, moments): (&[i32; 3], &Moments)| {
            let number = coarse.insert(key.map(|k| k.div_euclid(2)));
            coarse.moments[number as usize].add(moments);
            number
        };
        let cells = self.cells.keys().iter().zip(&self.moments);
        let parents = cells.map(parent).collect();
        (coarse, parents)
    }

    /// Index of the cell with a key, added without points if new.
    fn insert(&mut self, key: [i32; 3]) -> u32 {
        let number = self.cells.insert(key);
        if self.moments.len() < self.cells.len() {
            self.moments.push(Moments::default());
        }
        number
    }

    /// Plane fits of the requested cells.
    fn fits(&self, requested: &[bool], options: &CellOptions) -> Vec<Fit> {
        let mut fits = vec![Fit::Few; requested.len()];
        let fit = |(task, (requested, fits)): (usize, (&[bool], &mut [Fit]))| {
            self.fit(task * TASK, requested, fits, options);
        };
        if rayon::current_num_threads() == 1 {
            let tasks = requested.chunks(TASK).zip(fits.chunks_mut(TASK));
            tasks.enumerate().for_each(fit);
        } else {
            let tasks = requested.par_chunks(TASK);
            let tasks = tasks.zip(fits.par_chunks_mut(TASK));
            tasks.enumerate().for_each(fit);
        }
        fits
    }

    /// Plane fits of requested cells from a number on: to the points of a cell and its 26 neighbours, or of the cell only where the
    /// larger set is not flat.
    fn fit(&self, first: usize, requested: &[bool], fits: &mut [Fit], options: &CellOptions) {
        let [mut blocks, mut edges] = [FitBatch::new(), FitBatch::new()];
        let requested = (first..).zip(requested).filter(|(_, is)| **is);
        let mut requested = requested.map(|(cell, _)| cell).peekable();
        while requested.peek().is_some() {
            // Fit planes to the points of cells and their neighbours.
            for cell in requested.by_ref() {
                let block = blocks.isa.run(MomentsAround(self, cell));
                if block.are_enough(options) {
                    blocks.push(cell, &block);
                }
                if blocks.count == BATCH {
                    break;
                }
            }
            blocks.fit(options, |cell, fit| {
                fits[cell - first] = fit;
                // Fit planes to the points of cells only.
                let moments = &self.moments[cell];
                if matches!(fit, Fit::Edge) && moments.are_enough(options) {
                    edges.push(cell, moments);
                }
                if edges.count == BATCH {
                    edges.fit(options, |cell, fit| {
                        replace_edge(&mut fits[cell - first], fit);
                    });
                }
            });
        }
        edges.fit(options, |cell, fit| {
            replace_edge(&mut fits[cell - first], fit);
        });
    }
}

/// Replaces an edge by the fit to fewer points, if they are not too few.
fn replace_edge(edge: &mut Fit, fit: Fit) {
    if !matches!(fit, Fit::Few) {
        *edge = fit;
    }
}

/// Sum of the moments of a cell and its neighbours.
struct MomentsAround<'g>(&'g Grid, usize);

impl Vectorized for MomentsAround<'_> {
    type Output = Moments;

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> Moments {
        let Self(grid, cell) = self;
        let mut sum = Moments::default();
        grid.cells.visit_around(grid.cells.keys()[cell], |near| {
            sum.add(&grid.moments[near]);
        });
        sum
    }
}

/// Number of cells whose planes are fitted by one task.
const TASK: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// Two walls that meet, and an isolated scan line.
    fn corner() -> Vec<Vector3<f64>> {
        let grid = (0..60).flat_map(|i| (0..60).map(move |j| (f64::from(i), f64::from(j))));
        let walls = grid.flat_map(|(i, j)| {
            let a = 0.05 * i + 0.01;
            let b = 0.05 * j + 0.01;
            [Vector3::new(3.0 - a, 3.0, b), Vector3::new(3.0, 3.0 - a, b)]
        });
        let line = (0..40).map(|i| Vector3::new(0.01 * f64::from(i), -4.0, 0.0));
        walls.chain(line).collect()
    }

    #[test]
    fn walls_have_normals_edges_and_lines_have_none() {
        let points = corner();
        let surfaces = local_surfaces_by_cells(&points, &CellOptions::default());
        let mut correct = 0;
        for (point, surface) in points.iter().zip(&surfaces) {
            if point.y < -3.0 {
                assert!(surface.is_none());
            } else if (point - Vector3::new(3.0, 3.0, point.z)).norm() > 0.9 {
                let normal = if point.y == 3.0 {
                    -Vector3::y()
                } else {
                    -Vector3::x()
                };
                let surface = surface.expect("a wall");
                assert!((surface.normal - normal).norm() < 1e-6);
                correct += 1;
            }
        }
        assert!(correct > 4000);
    }

    #[test]
    fn points_that_are_not_finite_and_the_origin_have_no_surface() {
        let mut points = corner();
        points.extend([Vector3::zeros(), Vector3::new(f64::NAN, 0.0, 0.0)]);
        let surfaces = local_surfaces_by_cells(&points, &CellOptions::default());
        assert!(surfaces[points.len() - 2..].iter().all(Option::is_none));
        assert!(local_surfaces_by_cells(&[], &CellOptions::default()).is_empty());
    }
}
