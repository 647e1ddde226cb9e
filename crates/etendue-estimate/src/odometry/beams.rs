//! Beams of a scan that are adjacent on the sphere of directions.

use nalgebra::{Point3, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::Range;

/// Points of a scan by azimuth and elevation.
pub(super) struct BeamGrid<'a> {
    points: &'a [Point3<f64>],
    /// Directions of the points by cell, in the order of `order`.
    directions: Vec<Vector3<f64>>,
    /// Side of the cells, rad.
    side: f64,
    /// Number of cells in azimuth and in elevation.
    size: [usize; 2],
    /// First entry of each cell in `order`, and the end of the last one.
    starts: Vec<u32>,
    /// Numbers of the points by cell.
    order: Vec<u32>,
}

/// Mean number of points per cell if the beams covered the sphere.
const PER_CELL: f64 = 1.0;

/// Largest angle between adjacent beams, rad (6 degrees).
const LARGEST_SPACING: f64 = 0.105;

/// Adjacent beam in one of the directions.
#[derive(Clone, Copy)]
struct Adjacent {
    /// Angle, rad.
    angle: f64,
    /// Number of the point.
    point: u32,
}

/// The nearest beams to the right and left, or below and above.
type Sides = [Option<Adjacent>; 2];

/// Axis across a beam.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Azimuth,
    Elevation,
}

/// Ratio of the angles of the beams of two sides above which the farther beam is not adjacent.
const FARTHER: f64 = 3.0;

/// Sine of the largest angle between a plane and the line to an adjacent point on it (3 degrees).
const ON_PLANE: f64 = 0.05;

/// Largest distance between two points on a plane along its normal, in standard deviations of its points:
/// three standard deviations of the difference.
const DEVIATIONS: f64 = 4.2;

impl<'a> BeamGrid<'a> {
    /// Grid of finite points in the lidar frame, m.
    pub fn new(points: &'a [Point3<f64>]) -> Self {
        // Cells
        let side = (4.0 * PI * PER_CELL / points.len().max(1) as f64)
            .sqrt()
            .clamp(1e-3, LARGEST_SPACING);
        let size = [TAU / side, PI / side].map(|cells| whole(cells.ceil()) + 1);
        let mut grid = Self {
            points,
            directions: Vec::new(),
            side,
            size,
            starts: vec![0; size[0] * size[1] + 1],
            order: vec![0; points.len()],
        };
        // Sort the points by cell.
        let cells: Vec<usize> = points
            .iter()
            .map(|p| grid.number(grid.cell(&p.coords)))
            .collect();
        for &cell in &cells {
            grid.starts[cell + 1] += 1;
        }
        for cell in 1..grid.starts.len() {
            grid.starts[cell] += grid.starts[cell - 1];
        }
        let mut next = grid.starts.clone();
        for (point, &cell) in (0..).zip(&cells) {
            grid.order[next[cell] as usize] = point;
            next[cell] += 1;
        }
        let order = grid.order.iter();
        grid.directions = order
            .map(|&i| points[i as usize].coords.normalize())
            .collect();
        grid
    }

    /// Cell of a point.
    fn cell(&self, point: &Vector3<f64>) -> [usize; 2] {
        let azimuth = angle_of(point.y, point.x) + PI;
        let elevation = angle_of(point.z, point.xy().norm()) + FRAC_PI_2;
        [azimuth, elevation].map(|angle| whole(angle / self.side))
    }

    /// Number of a cell.
    fn number(&self, cell: [usize; 2]) -> usize {
        cell[1] * self.size[0] + cell[0]
    }

    /// Whether the points of adjacent beams confirm the plane with a normal through a point, in azimuth and in
    /// elevation: one on each side, or two on one side, and not both axes on one side only. In the corner of a corridor, a
    /// column on the wall and a ring on the ceiling form such an angle, in a plane across it. `sd` is the standard deviation of the points of
    /// the plane, m.
    pub fn confirms(&self, point: &Vector3<f64>, normal: &Vector3<f64>, sd: f64) -> bool {
        let is_on_plane = |other: u32| {
            let line = self.points[other as usize].coords - point;
            normal.dot(&line).abs() <= (DEVIATIONS * sd).max(ON_PLANE * line.norm())
        };
        let mut two_sided = 0;
        let is_confirmed = [Axis::Azimuth, Axis::Elevation].into_iter().all(|axis| {
            let neighbours = |point: &Vector3<f64>| adjacent(&self.sides(point, axis));
            let on_plane = neighbours(point).map(|beam| beam.filter(|b| is_on_plane(*b)));
            let next = |side: usize| {
                let beam = on_plane[side]?;
                let next = neighbours(&self.points[beam as usize].coords)[side]?;
                is_on_plane(next).then_some(next)
            };
            if let [Some(_), Some(_)] = on_plane {
                two_sided += 1;
                return true;
            }
            (0..2).any(|side| next(side).is_some())
        });
        is_confirmed && two_sided > 0
    }

    /// The nearest beams on both sides of that of a point, in the quarters around an axis.
    fn sides(&self, point: &Vector3<f64>, axis: Axis) -> Sides {
        // Axes across the beam
        let direction = point.normalize();
        let left = Vector3::new(-direction.y, direction.x, 0.0);
        let left = left.try_normalize(1e-9).unwrap_or_else(Vector3::y);
        let up = direction.cross(&left);
        let (along, across) = match axis {
            Axis::Azimuth => (left, up),
            Axis::Elevation => (up, left),
        };
        // Search cells by increasing distance until no adjacent beam can be in the others.
        let mut sides = Sides::default();
        let mut limit = f64::INFINITY;
        let centre = self.cell(point);
        let rings = whole((LARGEST_SPACING / self.side).ceil());
        for ring in 0..=rings {
            if limit <= (ring as f64 - 1.0) * self.side {
                break;
            }
            self.visit_ring(centre, ring, direction.xy().norm(), axis, |cell| {
                for at in cell {
                    let offset = self.directions[at] - direction;
                    let squared = offset.norm_squared();
                    if squared == 0.0 || squared > limit * limit {
                        continue;
                    }
                    let [along, across] = [offset.dot(&along), offset.dot(&across)];
                    let is_in_quarter = match axis {
                        Axis::Azimuth => across.abs() <= along.abs(),
                        Axis::Elevation => across.abs() < along.abs(),
                    };
                    let angle = squared.sqrt();
                    let side = &mut sides[usize::from(along > 0.0)];
                    if is_in_quarter && side.is_none_or(|beam| angle < beam.angle) {
                        *side = Some(Adjacent {
                            angle,
                            point: self.order[at],
                        });
                        limit = farthest(&sides);
                    }
                }
            });
        }
        sides
    }

    /// Calls a function for the entries of the cells of a ring around a cell that can be in the quarters around an
    /// axis. `cosine` is that of the elevation.
    fn visit_ring(
        &self,
        centre: [usize; 2],
        ring: usize,
        cosine: f64,
        axis: Axis,
        mut function: impl FnMut(Range<usize>),
    ) {
        let half = self.size[0] / 2;
        let width = |ring: usize| whole_above(ring as f64 / cosine).min(half);
        let [outer, inner] = [width(ring), width(ring.saturating_sub(1))];
        let nearly = ring.saturating_sub(1);
        let first_row = centre[1].saturating_sub(ring);
        let last_row = (centre[1] + ring).min(self.size[1] - 1);
        for row in first_row..=last_row {
            // Whole rows at the top and the bottom, the ends of the others.
            let is_edge = row.abs_diff(centre[1]) == ring;
            let offsets = match axis {
                Axis::Elevation if row.abs_diff(centre[1]) < nearly => continue,
                Axis::Azimuth if is_edge => width(nearly.saturating_sub(1))..=outer,
                _ if is_edge => 0..=outer,
                _ => inner + 1..=outer,
            };
            for offset in offsets {
                let columns = [centre[0] + self.size[0] - offset, centre[0] + offset];
                let within = |column: usize| {
                    if column < self.size[0] {
                        column
                    } else {
                        column - self.size[0]
                    }
                };
                let distinct = if offset == 0 { 1 } else { 2 };
                for column in &columns[..distinct] {
                    let cell = self.number([within(*column), row]);
                    function(self.starts[cell] as usize..self.starts[cell + 1] as usize);
                }
            }
        }
    }
}

/// Angle of the vector (x, y) from the x axis, rad, with an error below 2e-5 (measured: 1.2e-5), which is small for
/// cells: the arctangent of the smaller coordinate by the larger as a polynomial (Abramowitz and Stegun 1964,
/// equation 4.4.49).
fn angle_of(y: f64, x: f64) -> f64 {
    let (steep, shallow) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let t = shallow / steep.max(f64::MIN_POSITIVE);
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
fn whole(number: f64) -> usize {
    number as usize
}

/// Least whole number at or above a number that is not negative.
fn whole_above(number: f64) -> usize {
    let below = whole(number);
    below.saturating_add(usize::from((below as f64) < number))
}

/// Angle to the nearer beam of two sides, rad; infinite for none.
fn nearest(sides: &Sides) -> f64 {
    let angles = sides.iter().flatten().map(|beam| beam.angle);
    angles.fold(f64::INFINITY, f64::min)
}

/// Angle beyond which no beam is adjacent on either side, or nearer than those found, rad.
fn farthest(sides: &Sides) -> f64 {
    let angles = sides.map(|beam| beam.map_or(f64::INFINITY, |beam| beam.angle));
    angles[0].max(angles[1]).min(FARTHER * nearest(sides))
}

/// Points of the beams of two sides that are adjacent, unlike the next beams across a gap.
fn adjacent(sides: &Sides) -> [Option<u32>; 2] {
    let limit = FARTHER * nearest(sides);
    sides.map(|beam| beam.filter(|b| b.angle <= limit).map(|b| b.point))
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
        let grid = BeamGrid::new(points);
        let is_confirmed = |&i: &usize| grid.confirms(&points[i].coords, &-Vector3::x(), 0.0);
        let count = (0..points.len()).filter(is_confirmed).count();
        [points.len(), count]
    }

    #[test]
    fn angles_are_those_of_the_arctangent() {
        for k in -1000..=1000 {
            let (sin, cos) = (f64::from(k) * PI / 1000.0).sin_cos();
            let error = angle_of(3.0 * sin, 3.0 * cos) - sin.atan2(cos);
            assert!(error.abs() < 2e-5, "{k}: {error}");
        }
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
        let grid = BeamGrid::new(&farther);
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
        let grid = BeamGrid::new(&angle);
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
