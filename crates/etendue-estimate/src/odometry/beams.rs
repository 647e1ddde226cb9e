//! Beams of a scan that are adjacent on the sphere of directions.

use etendue_simd::{Float, Isa, Kernel, Lanes, Mask, Vectorized};
use nalgebra::{Point3, Vector3};
use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::ops::Range;

/// Points of a scan by azimuth and elevation.
pub(super) struct BeamGrid<'a> {
    points: &'a [Point3<f64>],
    frame: GridFrame,
    /// First entry of each cell in `beams`, and the end of the last one.
    starts: Vec<u32>,
    beams: SortedBeams,
    isa: Isa,
}

/// Cells of a grid.
#[derive(Clone, Copy)]
struct GridFrame {
    /// Sides of the cells in azimuth and in elevation, rad.
    sides: [f32; 2],
    /// Their reciprocals, 1/rad.
    per_angle: [f32; 2],
    /// Number of cells in azimuth and in elevation.
    size: [usize; 2],
}

/// Beams by cell. Single precision resolves angles of 1e-7 rad.
struct SortedBeams {
    /// Components of the unit vectors in blocks; [`NO_BEAM`] after the last beam.
    directions: Vec<[[f32; LANES]; 3]>,
    /// Numbers of the points.
    points: Vec<u32>,
}

/// Number of beams of a block, which are compared together.
const LANES: usize = 8;

/// Component of a place without a beam, far from all directions.
const NO_BEAM: f32 = 1e9;

/// Mean number of points per cell if the beams covered the sphere. Three cells of a row are compared together, in blocks of eight.
const PER_CELL: f32 = 3.0;

/// Largest angle between adjacent beams, rad (6 degrees).
const LARGEST_SPACING: f32 = 0.105;

/// The nearest beams in the quarters around the axes: right, left, below and above.
#[derive(Clone, Copy)]
struct Sides {
    /// Squared angles, rad²; that of [`LARGEST_SPACING`] for none.
    squares: [f32; 4],
    /// Places in the grid.
    places: [Option<usize>; 4],
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
    /// Grid of the points with some numbers, finite and in the lidar frame (m).
    pub fn new(points: &'a [Point3<f64>], numbers: &[u32]) -> Self {
        let isa = Isa::detect();
        let frame = GridFrame::for_beams(numbers.len());
        // Directions and cells of the beams
        let mut directions = Vec::with_capacity(numbers.len().div_ceil(CHUNK));
        let mut cells: Vec<u32> = Vec::with_capacity(numbers.len());
        let mut chunk = BeamChunk::new();
        for numbers in numbers.chunks(CHUNK) {
            for (i, number) in numbers.iter().enumerate() {
                let point = &points[*number as usize];
                for (axis, coordinate) in chunk.points.iter_mut().zip(&point.coords) {
                    axis[i] = *coordinate;
                }
            }
            isa.run(CellsOf(&frame, &mut chunk));
            directions.push(chunk.directions);
            cells.extend_from_slice(&chunk.cells[..numbers.len()]);
        }
        // Count the beams of the cells. Their starts are one place further on until the beams are sorted.
        let mut starts = vec![0; frame.size[0] * frame.size[1] + 2];
        for &cell in &cells {
            starts[cell as usize + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Sort the beams by cell.
        let mut beams = SortedBeams {
            directions: vec![[[NO_BEAM; LANES]; 3]; numbers.len().div_ceil(LANES)],
            points: vec![0; numbers.len()],
        };
        for (i, cell) in cells.into_iter().enumerate() {
            let next = &mut starts[cell as usize + 1];
            let place = *next as usize;
            *next += 1;
            let sorted = &mut beams.directions[place / LANES];
            for (sorted, axis) in sorted.iter_mut().zip(&directions[i / CHUNK]) {
                sorted[place % LANES] = axis[i % CHUNK];
            }
            beams.points[place] = numbers[i];
        }
        Self {
            points,
            frame,
            starts,
            beams,
            isa,
        }
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
        let mut one_sided = None;
        for axis in [Axis::Azimuth, Axis::Elevation] {
            let beams = search.adjacent(axis);
            match beams.map(|beam| beam.filter(is_on_plane)) {
                [Some(_), Some(_)] => {}
                [Some(beam), None] if one_sided.is_none() => one_sided = Some((axis, 0, beam)),
                [None, Some(beam)] if one_sided.is_none() => one_sided = Some((axis, 1, beam)),
                _ => return false,
            }
        }
        // The second beam on the side
        one_sided.is_none_or(|(axis, side, beam)| {
            let mut search = Search::new(self, &self.points[beam as usize].coords);
            let second = search.adjacent(axis)[side];
            second.as_ref().is_some_and(is_on_plane)
        })
    }
}

impl GridFrame {
    /// Cells for a number of beams.
    fn for_beams(count: usize) -> Self {
        let side = (4.0 * PI * PER_CELL / count.max(1) as f32).sqrt();
        let side = side.clamp(1e-3, LARGEST_SPACING);
        let size = [TAU, PI].map(|angle| whole(angle / side));
        Self {
            sides: [TAU / size[0] as f32, PI / size[1] as f32],
            per_angle: [size[0] as f32 / TAU, size[1] as f32 / PI],
            size,
        }
    }

    /// Azimuth and elevation of a direction, in cells.
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
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
}

/// Beams whose cells are computed together.
struct BeamChunk {
    /// Coordinates of the points by axis, m.
    points: [[f64; CHUNK]; 3],
    /// Components of the unit vectors.
    directions: [[f32; CHUNK]; 3],
    /// Numbers of the cells.
    cells: [u32; CHUNK],
}

impl BeamChunk {
    fn new() -> Self {
        Self {
            points: [[1.0; CHUNK]; 3],
            directions: [[0.0; CHUNK]; 3],
            cells: [0; CHUNK],
        }
    }
}

/// Computation of the directions and cells of beams.
struct CellsOf<'g>(&'g GridFrame, &'g mut BeamChunk);

impl Vectorized for CellsOf<'_> {
    type Output = ();

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "there are at most 20 million cells"
    )]
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) {
        let Self(frame, chunk) = self;
        for i in 0..CHUNK {
            let direction = direction_of(&[0, 1, 2].map(|axis| chunk.points[axis][i]));
            for (axis, component) in chunk.directions.iter_mut().zip(direction) {
                axis[i] = component;
            }
        }
        for i in 0..CHUNK {
            let [column, row] = frame.place(&[0, 1, 2].map(|axis| chunk.directions[axis][i]));
            let cell = row as i32 * frame.size[0] as i32 + column as i32;
            chunk.cells[i] = cell.cast_unsigned();
        }
    }
}

/// Unit vector towards a point in the lidar frame.
#[expect(
    clippy::cast_possible_truncation,
    reason = "components of a unit vector"
)]
#[expect(clippy::inline_always, reason = "loops become vector instructions")]
#[inline(always)]
fn direction_of([x, y, z]: &[f64; 3]) -> [f32; 3] {
    let inverse = 1.0 / (x * x + y * y + z * z).sqrt();
    [x * inverse, y * inverse, z * inverse].map(|component| component as f32)
}

impl Sides {
    /// No beams.
    fn none() -> Self {
        Self {
            squares: [LARGEST_SPACING * LARGEST_SPACING; 4],
            places: [None; 4],
        }
    }

    /// Squared angle beyond which no beam of a side is adjacent, or nearer than that found, rad².
    fn limit(&self, side: usize) -> f32 {
        let across = self.squares[side ^ 1];
        self.squares[side].min(FARTHER * FARTHER * across)
    }

    /// Places of the beams of two sides that are adjacent, unlike the next beams across a gap.
    fn adjacent(&self, axis: Axis) -> [Option<usize>; 2] {
        let first = 2 * axis as usize;
        [first, first + 1]
            .map(|side| self.places[side].filter(|_| self.squares[side] <= self.limit(side)))
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
    /// Squared angle up to which all beams were compared, rad².
    searched: f32,
}

/// Number of columns on each side of a beam that are searched together.
const NEAR: usize = 1;

/// Largest error of the difference of two angles, rad.
const ANGLE_ERROR: f32 = 4e-5;

impl<'g> Search<'g> {
    /// Search from the beam of a point.
    fn new(grid: &'g BeamGrid, point: &Vector3<f64>) -> Self {
        let direction = direction_of(&[point.x, point.y, point.z]);
        let [x, y, z] = direction;
        let cosine = (x * x + y * y).sqrt();
        let left = if cosine > 1e-6 {
            [-y / cosine, x / cosine]
        } else {
            [0.0, 1.0]
        };
        let place = grid.frame.place(&direction);
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
            searched: 0.0,
        };
        search.visit_around();
        search
    }

    /// Considers the beams of the cells around that of the beam.
    fn visit_around(&mut self) {
        let [column, row] = self.cell;
        let [columns, rows] = self.grid.frame.size;
        if column < NEAR || column + NEAR >= columns {
            // Across the ends of the rows
            if let Some(row) = self.row(0, 1) {
                self.visit_near(&row);
            }
            return;
        }
        let last_row = (row + 1).min(rows - 1);
        let ranges = [row.saturating_sub(1), row, last_row].map(|row| {
            let [first, end] = [column - NEAR, column + NEAR + 1];
            [first, end].map(|column| self.grid.starts[self.grid.frame.cell(row, column)])
        });
        self.compare(&ranges);
        // Least angles to other cells
        let rows_away = [0, 1].map(|end| self.angle_to(1, 2, end));
        let columns_away = [0, 1].map(|end| self.angle_to(0, NEAR + 1, end));
        let least_cosine = self.cosine - rows_away[0].max(rows_away[1]) - ANGLE_ERROR;
        let across = chord(rows_away[0].min(rows_away[1])).powi(2);
        let along = chord(columns_away[0].min(columns_away[1])).powi(2);
        self.searched = across.min(self.cosine * least_cosine.max(0.0) * along);
    }

    /// Points of the adjacent beams on both sides along an axis.
    fn adjacent(&mut self, axis: Axis) -> [Option<u32>; 2] {
        let first = 2 * axis as usize;
        if self.limit_of(first, first + 1) > self.searched {
            self.visit_rows(axis);
        }
        self.points(axis)
    }

    /// Points of the adjacent beams among those considered.
    fn points(&self, axis: Axis) -> [Option<u32>; 2] {
        let places = self.sides.adjacent(axis);
        places.map(|place| Some(self.grid.beams.points[place?]))
    }

    /// Searches rows by ascending distance for beams in the quarters around an axis.
    fn visit_rows(&mut self, axis: Axis) {
        for step in 0..self.grid.frame.size[1] {
            let mut is_near = false;
            for end in ends(step) {
                is_near |= self.visit_row(axis, step, end);
            }
            if !is_near {
                break;
            }
        }
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
            for column in NEAR + 1..=self.grid.frame.size[0] / 2 {
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
        if number >= self.grid.frame.size[1] {
            return None;
        }
        let far = if step == 0 {
            self.angle_to(1, 1, 0).max(self.angle_to(1, 1, 1))
        } else {
            self.angle_to(1, step + 1, end)
        };
        let far = far + ANGLE_ERROR;
        let least_cosine = (self.cosine - far).max(0.0);
        let [first, next] = [number, number + 1].map(|row| self.grid.frame.cell(row, 0));
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
        (self.to_ends[axis][end] + (step - 1) as f32) * self.grid.frame.sides[axis]
    }

    /// Considers the beams of the nearest cells of a row.
    fn visit_near(&mut self, row: &Row) {
        let column = self.cell[0];
        if column >= NEAR && column + NEAR < self.grid.frame.size[0] {
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
        let columns = self.grid.frame.size[0];
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
        let range =
            [first, last + 1].map(|column| self.grid.starts[self.grid.frame.cell(row, column)]);
        self.compare(&[range]);
    }

    /// Compares ranges of places of the grid.
    fn compare(&mut self, ranges: &[[u32; 2]]) {
        self.grid.isa.run_kernel(Comparison {
            beams: &self.grid.beams,
            ranges,
            direction: self.direction,
            left: self.left,
            up: self.up,
            sides: &mut self.sides,
        });
    }
}

/// Comparison of ranges of places of a grid with the nearest beams so far. It compares whole blocks: a few beams of adjacent cells too.
struct Comparison<'v> {
    beams: &'v SortedBeams,
    ranges: &'v [[u32; 2]],
    direction: [f32; 3],
    left: [f32; 2],
    up: [f32; 3],
    sides: &'v mut Sides,
}

impl Kernel for Comparison<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let [x0, y0, z0] = self.direction.map(L::F8::splat);
        let [left_x, left_y] = self.left.map(L::F8::splat);
        let [up_x, up_y, up_z] = self.up.map(L::F8::splat);
        let [zero, far] = [0.0, f32::INFINITY].map(L::F8::splat);
        // Least squared angles, and the numbers of their blocks, exact below 2^24
        let before = self.sides.squares.map(L::F8::splat);
        let mut least = before;
        let mut of_blocks = [zero; 4];
        for range in self.ranges {
            let range = blocks(range);
            let mut number = L::F8::splat(range.start as f32);
            for block in &self.beams.directions[range] {
                // Angles from the beam, and their components along both axes
                let [x, y, z] = block.each_ref().map(L::F8::load);
                let [x, y, z] = [x.sub(x0), y.sub(y0), z.sub(z0)];
                let square = x.mul(x).add(y.mul(y)).add(z.mul(z));
                let along = x.mul(left_x).add(y.mul(left_y));
                let across = x.mul(up_x).add(y.mul(up_y)).add(z.mul(up_z));
                // Squared angles of the beams of each side
                let square = square.select(zero.lt(square), far);
                let is_along = across.abs().le(along.abs());
                let of_azimuth = square.select(is_along, far);
                let of_elevation = far.select(is_along, square);
                let [is_left, is_above] = [zero.lt(along), zero.lt(across)];
                let of_sides = [
                    far.select(is_left, of_azimuth),
                    of_azimuth.select(is_left, far),
                    far.select(is_above, of_elevation),
                    of_elevation.select(is_above, far),
                ];
                for side in 0..4 {
                    let is_nearer = of_sides[side].lt(least[side]);
                    least[side] = of_sides[side].select(is_nearer, least[side]);
                    of_blocks[side] = number.select(is_nearer, of_blocks[side]);
                }
                number = number.add(L::F8::splat(1.0));
            }
        }
        // The nearest ones of all lanes
        for side in 0..4 {
            if least[side].lt(before[side]).bits() != 0 {
                let square = least[side].reduce_min();
                let lane = least[side].le(L::F8::splat(square)).bits().trailing_zeros() as usize;
                let block = whole(of_blocks[side].to_array()[lane]);
                self.sides.squares[side] = square;
                self.sides.places[side] = Some(block * LANES + lane);
            }
        }
    }
}

/// Blocks of a range of places.
#[expect(clippy::inline_always, reason = "loops become vector instructions")]
#[inline(always)]
fn blocks([first, end]: &[u32; 2]) -> Range<usize> {
    if first == end {
        return 0..0;
    }
    *first as usize / LANES..(*end as usize).div_ceil(LANES)
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
#[expect(clippy::inline_always, reason = "loops become vector instructions")]
#[inline(always)]
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

    /// Grid of all points.
    fn grid(points: &[Point3<f64>]) -> BeamGrid<'_> {
        let numbers: Vec<u32> = (0..).zip(points).map(|(number, _)| number).collect();
        BeamGrid::new(points, &numbers)
    }

    /// Number of points, and of those where the plane x = 10 is confirmed.
    fn confirmed(points: &[Point3<f64>]) -> [usize; 2] {
        let grid = grid(points);
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
        let mut grid = grid(&points);
        let mut found = 0;
        let is_far = |p: &&Point3<f64>| p.z.abs() < 2.0 * p.x.hypot(p.y);
        for (number, point) in points.iter().filter(is_far).enumerate() {
            grid.isa = Isa::available()[number % Isa::available().len()];
            let mut search = Search::new(&grid, &point.coords);
            search.sides = Sides::none();
            for row in 0..grid.frame.size[1] {
                search.visit_columns(row, 0, grid.frame.size[0] - 1);
            }
            let expected = [Axis::Azimuth, Axis::Elevation].map(|axis| search.points(axis));
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
        let grid = grid(&farther);
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
        let grid = grid(&angle);
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
