//! Beams of a scan that are adjacent on the sphere of directions.

use nalgebra::{Point3, Vector3};
use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::ops::Range;

/// Points of a scan by azimuth and elevation.
pub(super) struct BeamGrid<'a> {
    points: &'a [Point3<f64>],
    /// Sides of the cells in azimuth and in elevation, rad.
    sides: [f32; 2],
    /// Their reciprocals, 1/rad.
    per_angle: [f32; 2],
    /// Number of cells in azimuth and in elevation.
    size: [usize; 2],
    /// First entry of each cell in `beams`, and the end of the last one.
    starts: Vec<u32>,
    /// Beams by cell.
    beams: Vec<Beam>,
}

/// Beam of a point. Single precision resolves angles of 1e-7 rad.
#[derive(Clone, Copy, Default)]
struct Beam {
    /// Unit vector.
    direction: [f32; 3],
    /// Number of the point.
    point: u32,
}

/// Mean number of points per cell if the beams covered the sphere.
const PER_CELL: f32 = 1.0;

/// Largest angle between adjacent beams, rad (6 degrees).
const LARGEST_SPACING: f32 = 0.105;

/// The nearest beams in the quarters around the axes: right, left, below and above.
#[derive(Clone, Copy)]
struct Sides {
    /// Squared angles, rad²; that of [`LARGEST_SPACING`] for none.
    squares: [f32; 4],
    /// Numbers of the points.
    points: [Option<u32>; 4],
}

/// Axis across a beam.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Azimuth,
    Elevation,
}

/// Ratio of the angles of the beams of two sides above which the farther beam is not adjacent.
const FARTHER: f32 = 3.0;

/// Sine of the largest angle between a plane and the line to an adjacent point on it (3 degrees).
const ON_PLANE: f64 = 0.05;

/// Largest distance between two points on a plane along its normal, in standard deviations of its points:
/// three standard deviations of the difference.
const DEVIATIONS: f64 = 4.2;

/// Number of beams whose cells are computed together.
const CHUNK: usize = 64;

impl<'a> BeamGrid<'a> {
    /// Grid of the finite points in the lidar frame (m) that a function selects.
    pub fn new(points: &'a [Point3<f64>], is_used: impl Fn(&Point3<f64>) -> bool) -> Self {
        // Cells
        let count = points.iter().filter(|point| is_used(point)).count();
        let side = (4.0 * PI * PER_CELL / count.max(1) as f32).sqrt();
        let side = side.clamp(1e-3, LARGEST_SPACING);
        let full = [TAU, PI].map(|angle| whole(angle / side));
        let mut grid = Self {
            points,
            sides: [TAU / full[0] as f32, PI / full[1] as f32],
            per_angle: [full[0] as f32 / TAU, full[1] as f32 / PI],
            size: full,
            starts: vec![0; full[0] * full[1] + 1],
            beams: vec![Beam::default(); count],
        };
        // Count the points of the cells.
        let mut beams = Vec::with_capacity(count);
        let mut cells = Vec::with_capacity(count);
        let numbered = (0..).zip(points).filter(|(_, point)| is_used(point));
        beams.extend(numbered.map(|(number, point)| Beam::new(&point.coords, number)));
        for chunk in beams.chunks(CHUNK) {
            cells.extend_from_slice(&grid.cells_of(chunk)[..chunk.len()]);
        }
        for &cell in &cells {
            grid.starts[cell as usize + 1] += 1;
        }
        for cell in 1..grid.starts.len() {
            grid.starts[cell] += grid.starts[cell - 1];
        }
        // Sort the points by cell.
        let mut next = grid.starts.clone();
        for (&cell, beam) in cells.iter().zip(&beams) {
            let place = &mut next[cell as usize];
            grid.beams[*place as usize] = *beam;
            *place += 1;
        }
        grid
    }

    /// Numbers of the cells of beams. The loops over arrays compile to vector instructions.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "there are at most 20 million cells"
    )]
    fn cells_of(&self, beams: &[Beam]) -> [u32; CHUNK] {
        let mut directions = [[0.0; CHUNK]; 3];
        for (i, beam) in beams.iter().enumerate() {
            for (axis, component) in directions.iter_mut().zip(beam.direction) {
                axis[i] = component;
            }
        }
        let mut cells = [0; CHUNK];
        for (i, cell) in cells.iter_mut().enumerate() {
            let [column, row] = self.place(&[0, 1, 2].map(|axis| directions[axis][i]));
            *cell = row as i32 * self.size[0] as i32 + column as i32;
        }
        cells.map(i32::cast_unsigned)
    }

    /// Azimuth and elevation of a direction, in cells.
    fn place(&self, [x, y, z]: &[f32; 3]) -> [f32; 2] {
        let azimuth = angle_of(*y, *x) + PI;
        let elevation = angle_of(*z, (x * x + y * y).sqrt()) + FRAC_PI_2;
        // Rounding can reach the end of the last cell.
        let last = |axis: usize| self.size[axis] as f32 - 0.001;
        [
            (azimuth * self.per_angle[0]).min(last(0)),
            (elevation * self.per_angle[1]).min(last(1)),
        ]
    }

    /// Number of a cell.
    fn cell(&self, row: usize, column: usize) -> usize {
        row * self.size[0] + column
    }

    /// Whether the points of adjacent beams confirm the plane with a normal through a point, in azimuth and in
    /// elevation: one on each side, or two on one side, and not both axes on one side only. In the corner of a corridor, a
    /// column on the wall and a ring on the ceiling form such an angle, in a plane across it. `sd` is the standard deviation of the points of
    /// the plane, m.
    pub fn confirms(&self, point: &Vector3<f64>, normal: &Vector3<f64>, sd: f64) -> bool {
        let is_on_plane = |other: &u32| {
            let line = self.points[*other as usize].coords - point;
            let distance = normal.dot(&line).abs();
            distance <= DEVIATIONS * sd || distance <= ON_PLANE * line.norm()
        };
        let mut search = Search::new(self, point);
        let mut two_sided = 0;
        let is_confirmed = [Axis::Azimuth, Axis::Elevation].into_iter().all(|axis| {
            let beams = search.adjacent(axis);
            let on_plane = beams.map(|beam| beam.filter(is_on_plane));
            if let [Some(_), Some(_)] = on_plane {
                two_sided += 1;
                return true;
            }
            (0..2).any(|side| {
                on_plane[side].is_some_and(|beam| {
                    let mut search = Search::new(self, &self.points[beam as usize].coords);
                    search.adjacent(axis)[side]
                        .as_ref()
                        .is_some_and(is_on_plane)
                })
            })
        });
        is_confirmed && two_sided > 0
    }
}

impl Beam {
    /// Beam of a point in the lidar frame.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "components of a unit vector"
    )]
    fn new(at: &Vector3<f64>, point: u32) -> Self {
        let inverse = 1.0 / at.norm();
        Self {
            direction: [at.x, at.y, at.z].map(|x| (x * inverse) as f32),
            point,
        }
    }
}

impl Sides {
    /// No beams.
    fn none() -> Self {
        Self {
            squares: [LARGEST_SPACING * LARGEST_SPACING; 4],
            points: [None; 4],
        }
    }

    /// Squared angle beyond which no beam of a side is adjacent, or nearer than that found, rad².
    fn limit(&self, side: usize) -> f32 {
        let across = self.squares[side ^ 1];
        self.squares[side].min(FARTHER * FARTHER * across)
    }

    /// Points of the beams of two sides that are adjacent, unlike the next beams across a gap.
    fn adjacent(&self, axis: Axis) -> [Option<u32>; 2] {
        let first = 2 * axis as usize;
        [first, first + 1]
            .map(|side| self.points[side].filter(|_| self.squares[side] <= self.limit(side)))
    }
}

/// Search of the beams that are adjacent to one. Cells are visited by increasing distance, until no beam in the others can be adjacent.
struct Search<'g> {
    grid: &'g BeamGrid<'g>,
    direction: [f32; 3],
    /// Axes across the beam: horizontal, towards larger azimuths, and upwards.
    left: [f32; 2],
    up: [f32; 3],
    /// Cosine of the elevation, and the magnitude of its tangent.
    cosine: f32,
    tangent: f32,
    /// Column and row of the cell of the beam.
    cell: [usize; 2],
    /// Distances of the beam from the ends of its cell, in sides: towards smaller and larger angles.
    to_ends: [[f32; 2]; 2],
    sides: Sides,
}

/// Number of columns on each side of a beam that are searched together.
const NEAR: usize = 1;

/// Largest error of the difference of two angles, rad.
const ANGLE_ERROR: f32 = 4e-5;

impl<'g> Search<'g> {
    /// Search from the beam of a point.
    fn new(grid: &'g BeamGrid, point: &Vector3<f64>) -> Self {
        let direction = Beam::new(point, 0).direction;
        let [x, y, z] = direction;
        let cosine = (x * x + y * y).sqrt();
        let left = if cosine > 1e-6 {
            [-y / cosine, x / cosine]
        } else {
            [0.0, 1.0]
        };
        let place = grid.place(&direction);
        let cell = place.map(whole);
        let mut search = Self {
            grid,
            direction,
            left,
            up: [-z * left[1], z * left[0], cosine],
            cosine,
            tangent: z.abs() / cosine,
            cell,
            to_ends: [0, 1].map(|i| {
                let part = place[i] - cell[i] as f32;
                [part, 1.0 - part]
            }),
            sides: Sides::none(),
        };
        if let Some(row) = search.row(0, 1) {
            search.visit_near(&row);
        }
        search
    }

    /// Points of the adjacent beams on both sides along an axis.
    fn adjacent(&mut self, axis: Axis) -> [Option<u32>; 2] {
        for step in 0..self.grid.size[1] {
            let mut is_near = false;
            for end in ends(step) {
                is_near |= self.visit_row(axis, step, end);
            }
            if !is_near {
                break;
            }
        }
        self.sides.adjacent(axis)
    }

    /// Searches the row a number of steps towards smaller or larger angles for beams in the quarters around an axis. Returns whether
    /// it is near enough for them.
    fn visit_row(&mut self, axis: Axis, step: usize, end: usize) -> bool {
        let Some(row) = self.row(step, end) else {
            return false;
        };
        // Sides of the quarters that the row meets
        let [first, second] = match axis {
            Axis::Azimuth => [0, 1],
            Axis::Elevation if step == 0 => [2, 3],
            Axis::Elevation => [2 + end; 2],
        };
        if row.square_to(0.0) > self.limit_of(first, second) {
            return false;
        }
        if row.is_empty {
            return true;
        }
        // Nearest columns
        if step > 0 {
            self.visit_near(&row);
        }
        // Other columns to the right and to the left
        let widest = match axis {
            Axis::Azimuth => PI,
            // A beam in these quarters is not farther along the row than across it.
            Axis::Elevation => self.width(&row),
        };
        for towards in 0..2 {
            let [first, second] = match axis {
                Axis::Azimuth => [towards; 2],
                Axis::Elevation => [first, second],
            };
            for column in NEAR + 1..=self.grid.size[0] / 2 {
                let angle = self.angle_to(0, column, towards);
                if angle > widest || row.square_to(angle) > self.limit_of(first, second) {
                    break;
                }
                self.visit(&row, column, towards);
            }
        }
        true
    }

    /// The larger limit of two sides, rad².
    fn limit_of(&self, first: usize, second: usize) -> f32 {
        self.sides.limit(first).max(self.sides.limit(second))
    }

    /// Largest angle in azimuth to the beams of a row that are not farther along the row than across it, rad.
    fn width(&self, row: &Row) -> f32 {
        // Rows are circles: at a horizontal distance l they bend by l² tan(e) / 2 from the tangent at the elevation e.
        let bend = 0.5 * LARGEST_SPACING * self.tangent;
        let distance = row.far / (1.0 - bend.min(0.5));
        let is_at_pole = bend > 0.5 || row.least_cosine < 2.0 * distance;
        if is_at_pole {
            PI
        } else {
            1.1 * distance / row.least_cosine
        }
    }

    /// The row a number of steps towards smaller or larger angles, if there is one.
    fn row(&self, step: usize, end: usize) -> Option<Row> {
        let number = if end == 0 {
            self.cell[1].checked_sub(step)?
        } else {
            self.cell[1] + step
        };
        if number >= self.grid.size[1] {
            return None;
        }
        let far = if step == 0 {
            self.angle_to(1, 1, 0).max(self.angle_to(1, 1, 1))
        } else {
            self.angle_to(1, step + 1, end)
        };
        let far = far + ANGLE_ERROR;
        let least_cosine = (self.cosine - far).max(0.0);
        let [first, next] = [number, number + 1].map(|row| self.grid.cell(row, 0));
        Some(Row {
            number,
            is_empty: self.grid.starts[first] == self.grid.starts[next],
            near: chord(self.angle_to(1, step, end)).powi(2),
            far,
            least_cosine,
            cosines: self.cosine * least_cosine,
        })
    }

    /// Angle from the beam to the nearer end of the cell a number of steps towards smaller or larger angles, rad.
    fn angle_to(&self, axis: usize, step: usize, end: usize) -> f32 {
        if step == 0 {
            return 0.0;
        }
        (self.to_ends[axis][end] + (step - 1) as f32) * self.grid.sides[axis]
    }

    /// Considers the beams of the nearest cells of a row.
    fn visit_near(&mut self, row: &Row) {
        let column = self.cell[0];
        if column >= NEAR && column + NEAR < self.grid.size[0] {
            self.visit_columns(row.number, column - NEAR, column + NEAR);
            return;
        }
        // Across the ends of the row
        self.visit(row, 0, 0);
        for step in 1..=NEAR {
            self.visit(row, step, 0);
            self.visit(row, step, 1);
        }
    }

    /// Considers the beams of a cell of a row, a number of steps in azimuth towards smaller or larger angles.
    fn visit(&mut self, row: &Row, step: usize, end: usize) {
        let columns = self.grid.size[0];
        let column = if end == 0 {
            self.cell[0] + columns - step
        } else {
            self.cell[0] + step
        };
        let column = if column < columns {
            column
        } else {
            column - columns
        };
        self.visit_columns(row.number, column, column);
    }

    /// Considers the beams of adjacent columns of a row.
    fn visit_columns(&mut self, row: usize, first: usize, last: usize) {
        let [first, end] =
            [first, last + 1].map(|column| self.grid.starts[self.grid.cell(row, column)]);
        let mut sides = self.sides;
        for beam in &self.grid.beams[first as usize..end as usize] {
            let [x, y, z] = [0, 1, 2].map(|i| beam.direction[i] - self.direction[i]);
            let square = x * x + y * y + z * z;
            let along = x * self.left[0] + y * self.left[1];
            let across = x * self.up[0] + y * self.up[1] + z * self.up[2];
            let side = if across.abs() <= along.abs() {
                usize::from(along > 0.0)
            } else {
                2 + usize::from(across > 0.0)
            };
            if square < sides.squares[side] && square > 0.0 {
                sides.squares[side] = square;
                sides.points[side] = Some(beam.point);
            }
        }
        self.sides = sides;
    }
}

/// Row of cells near a beam.
struct Row {
    number: usize,
    /// Whether it has no beams.
    is_empty: bool,
    /// Square of the least chord to a direction in the row.
    near: f32,
    /// Largest difference of elevations, rad.
    far: f32,
    /// Least cosine of the elevation of its directions, and its product with that of the beam.
    least_cosine: f32,
    cosines: f32,
}

impl Row {
    /// Lower bound of the square of the chord to a direction at an angle in azimuth (rad): with the elevations $e_1$ and $e_2$ it is
    /// $4 \sin^2((e_1 - e_2)/2) + 4 \cos e_1 \cos e_2 \sin^2(\alpha/2)$.
    fn square_to(&self, azimuth: f32) -> f32 {
        self.near + self.cosines * chord(azimuth).powi(2)
    }
}

/// Lower bound of the chord of an angle with an error, rad.
fn chord(angle: f32) -> f32 {
    let angle = (angle - ANGLE_ERROR).max(0.0);
    angle * (1.0 - angle * angle / 24.0)
}

/// Directions of a step: towards smaller and larger angles, one of them for no step.
fn ends(step: usize) -> Range<usize> {
    if step == 0 { 1..2 } else { 0..2 }
}

/// Angle of the vector (x, y) from the x axis, rad, with an error below 2e-5 (measured: 1.2e-5), which is small for
/// cells: the arctangent of the smaller coordinate by the larger as a polynomial (Abramowitz and Stegun 1964,
/// equation 4.4.49).
fn angle_of(y: f32, x: f32) -> f32 {
    let (steep, shallow) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let t = shallow / steep.max(f32::MIN_POSITIVE);
    let s = t * t;
    let powers =
        0.999_866 + s * (-0.330_299_5 + s * (0.180_141 + s * (-0.085_133 + s * 0.020_835_1)));
    let octant = t * powers;
    let quadrant = if y.abs() > x.abs() {
        FRAC_PI_2 - octant
    } else {
        octant
    };
    let half = if x < 0.0 { PI - quadrant } else { quadrant };
    half.copysign(y)
}

/// Whole part of a number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and saturating above the largest usize"
)]
fn whole(number: f32) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of beams `spacing` (rad) apart in azimuth and elevation, at the distances of a function of the
    /// direction; beams without a distance have no point.
    fn scan(spacing: f64, range: impl Fn(&Vector3<f64>) -> Option<f64>) -> Vec<Point3<f64>> {
        let angles = || (-20..=20).map(move |k| f64::from(k) * spacing);
        let beams =
            angles().flat_map(|azimuth| angles().map(move |elevation| (azimuth, elevation)));
        let direction = |(azimuth, elevation): (f64, f64)| {
            let level = elevation.cos();
            Vector3::new(
                level * azimuth.cos(),
                level * azimuth.sin(),
                elevation.sin(),
            )
        };
        let point = |beam| {
            let direction = direction(beam);
            Some(Point3::from(direction * range(&direction)?))
        };
        beams.filter_map(point).collect()
    }

    /// Number of points, and of those where the plane x = 10 is confirmed.
    fn confirmed(points: &[Point3<f64>]) -> [usize; 2] {
        let grid = BeamGrid::new(points, |_| true);
        let is_confirmed = |&i: &usize| grid.confirms(&points[i].coords, &-Vector3::x(), 0.0);
        let count = (0..points.len()).filter(is_confirmed).count();
        [points.len(), count]
    }

    #[test]
    fn angles_are_those_of_the_arctangent() {
        for k in -1000_i16..=1000 {
            let (sin, cos) = (f32::from(k) * PI / 1000.0).sin_cos();
            let error = angle_of(3.0 * sin, 3.0 * cos) - sin.atan2(cos);
            assert!(error.abs() < 2e-5, "{k}: {error}");
        }
    }

    /// Directions over the whole sphere, denser in a part of it; compared where the poles are far.
    #[test]
    fn adjacent_beams_are_those_of_an_exhaustive_search() {
        use etendue_physics::{Purpose, Stream};
        let mut draw = Stream::new(5, 0, 0, 0, Purpose::Search);
        let mut points: Vec<Point3<f64>> = Vec::new();
        for i in 0..4000 {
            let spread = if i % 2 == 0 { 1.0 } else { 0.2 };
            let direction = Vector3::from_fn(|_, _| draw.normal());
            let point = Vector3::new(spread - 1.0, 0.0, 0.0) + direction * spread;
            points.push(Point3::from(point));
        }
        let grid = BeamGrid::new(&points, |_| true);
        let mut found = 0;
        let is_far = |p: &&Point3<f64>| p.z.abs() < 2.0 * p.x.hypot(p.y);
        for point in points.iter().filter(is_far) {
            let mut search = Search::new(&grid, &point.coords);
            search.sides = Sides::none();
            for row in 0..grid.size[1] {
                search.visit_columns(row, 0, grid.size[0] - 1);
            }
            let expected = [Axis::Azimuth, Axis::Elevation].map(|axis| search.sides.adjacent(axis));
            let mut search = Search::new(&grid, &point.coords);
            let adjacent = [Axis::Azimuth, Axis::Elevation].map(|axis| search.adjacent(axis));
            assert_eq!(adjacent, expected, "{point}");
            found += adjacent.iter().flatten().flatten().count();
        }
        assert!(found > 5000, "{found}");
    }

    #[test]
    fn a_wall_is_confirmed_up_to_its_edges_without_its_corners() {
        let wall = scan(0.02, |beam| Some(10.0 / beam.x));
        assert_eq!(confirmed(&wall), [1681, 1677]);
    }

    /// Two columns of points on the walls of a corridor are coplanar, but the beams between them pass
    /// through the plane: they have no point, or one elsewhere.
    #[test]
    fn columns_on_opposite_walls_do_not_confirm_a_plane_across_the_corridor() {
        let is_on_wall = |beam: &Vector3<f64>| (beam.y / beam.x).abs() > 0.19;
        let columns = |beam: &Vector3<f64>| (beam.y / beam.x).abs() < 0.21;
        let across = |beam: &Vector3<f64>| is_on_wall(beam) && columns(beam);
        let empty = scan(0.02, |beam| across(beam).then_some(10.0 / beam.x));
        assert_eq!(confirmed(&empty), [82, 0]);
        let farther = scan(0.02, |beam| {
            Some(if across(beam) { 10.0 } else { 20.0 } / beam.x)
        });
        assert_eq!(confirmed(&farther)[0], 1681);
        let near = |p: &Point3<f64>| p.x < 15.0;
        let grid = BeamGrid::new(&farther, |_| true);
        let on_walls = (0..farther.len()).filter(|&i| near(&farther[i]));
        let confirmed =
            on_walls.filter(|&i| grid.confirms(&farther[i].coords, &-Vector3::x(), 0.0));
        assert_eq!(confirmed.count(), 0);
    }

    /// A column on the wall and a ring on the ceiling that meet at an angle are coplanar, in a plane across the corridor.
    #[test]
    fn a_column_and_a_ring_at_an_angle_do_not_confirm_a_plane() {
        let angle = scan(0.02, |beam| {
            let azimuth = beam.y.atan2(beam.x) / 0.02;
            let elevation = beam.z.asin() / 0.02;
            let is_column = azimuth.abs() < 0.5 && elevation < 0.5;
            let is_ring = elevation.abs() < 0.5 && azimuth > -0.5;
            Some(if is_column || is_ring { 10.0 } else { 20.0 } / beam.x)
        });
        let grid = BeamGrid::new(&angle, |_| true);
        let corner = angle.iter().find(|p| p.y.abs() < 1e-9 && p.z.abs() < 1e-9);
        let corner = corner.expect("the beam along x");
        assert!(!grid.confirms(&corner.coords, &-Vector3::x(), 0.0));
    }

    /// Two adjacent columns define a plane, which a third must confirm.
    #[test]
    fn a_plane_needs_three_columns() {
        let strip = |columns: f64| {
            let is_in = move |beam: &Vector3<f64>| {
                let azimuth = beam.y.atan2(beam.x) / 0.02;
                (-0.5..columns - 0.5).contains(&azimuth)
            };
            confirmed(&scan(0.02, |beam| is_in(beam).then_some(10.0 / beam.x)))
        };
        assert_eq!(strip(2.0), [82, 0]);
        assert_eq!(strip(3.0), [123, 119]);
    }
}
