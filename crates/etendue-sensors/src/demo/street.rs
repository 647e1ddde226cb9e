//! A vehicle in a built-up area that is made by rule.
//!
//! [`Street::generate`] makes nine blocks with houses, pavements, trees, lamps and parked cars;
//! [`Tour`] drives a vehicle round the middle one.

use super::Part;
use crate::dynamics::{Bicycle, DriveCommand, Dynamics, Steering};
use etendue_physics::inertial::MotionState;
use etendue_physics::{Purpose, Stream};
use etendue_scene::Mesh;
use etendue_scene::primitive::{PrimitiveError, cuboid, cylinder, rectangle, sphere};
use nalgebra::{Isometry3, Point2, Vector2, Vector3};
use std::sync::Arc;

/// A built-up area, and the way round its middle block.
#[derive(Clone, Debug, PartialEq)]
pub struct Street {
    /// What stands in it.
    pub parts: Vec<Part>,
    /// The vehicle's way, a closed line driven anticlockwise, m.
    pub route: Vec<Point2<f64>>,
}

/// Length and width of a block, m.
const BLOCK: [f64; 2] = [50.0, 40.0];
/// Width of a roadway and of a pavement, m.
const ROADWAY: f64 = 9.0;
const PAVEMENT: f64 = 2.5;
/// Height of a pavement, m.
const KERB: f64 = 0.12;
/// Materials of houses.
const FRONTS: [&str; 5] = [
    "brick",
    "concrete",
    "plaster",
    "white-paint",
    "concrete-light",
];
/// Radius of the way's corners, m, and distance of its points, m.
const CORNER: f64 = 8.0;
const POINT_DISTANCE: f64 = 0.5;

impl Street {
    /// The area of a seed.
    ///
    /// # Errors
    /// None: every size is in range.
    pub fn generate(seed: u64) -> Result<Self, PrimitiveError> {
        let mut builder = Builder::new(seed)?;
        builder.ground()?;
        for row in -1..=1 {
            for column in -1..=1 {
                let pitch = BLOCK.map(|side| side + 2.0 * PAVEMENT + ROADWAY);
                let centre = [f64::from(column) * pitch[0], f64::from(row) * pitch[1]];
                builder.block(centre)?;
            }
        }
        Ok(Self {
            parts: builder.parts,
            route: route(),
        })
    }
}

/// The right lane round the middle block, between the cars that are parked on both sides, with round
/// corners.
fn route() -> Vec<Point2<f64>> {
    let half = BLOCK.map(|side| 0.5 * side + PAVEMENT + 0.58 * ROADWAY);
    let mut points = Vec::new();
    for corner in 0..4 {
        let quarter = std::f64::consts::FRAC_PI_2;
        // The straight that leads to this corner, then its arc.
        let heading = quarter * f64::from(corner);
        let (sin, cos) = heading.sin_cos();
        let along = Vector2::new(cos, sin);
        let outwards = Vector2::new(sin, -cos);
        let [length, off] = if corner % 2 == 0 {
            half
        } else {
            [half[1], half[0]]
        };
        let straight = length - CORNER;
        let steps = whole(2.0 * straight / POINT_DISTANCE);
        points.extend((0..steps).map(|i| {
            let way = -straight + 2.0 * straight * f64::from(i) / f64::from(steps);
            Point2::from(along * way + outwards * off)
        }));
        let centre = along * straight + outwards * (off - CORNER);
        let steps = whole(quarter * CORNER / POINT_DISTANCE);
        points.extend((0..steps).map(|i| {
            let (sin, cos) = (quarter * f64::from(i) / f64::from(steps)).sin_cos();
            Point2::from(centre + (along * sin + outwards * cos) * CORNER)
        }));
    }
    points
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of points, and saturating"
)]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

/// Adds one thing after the other.
struct Builder {
    parts: Vec<Part>,
    stream: Stream,
    trunk: Arc<Mesh>,
    crown: Arc<Mesh>,
    post: Arc<Mesh>,
    body: Arc<Mesh>,
    cabin: Arc<Mesh>,
}

impl Builder {
    fn new(seed: u64) -> Result<Self, PrimitiveError> {
        Ok(Self {
            parts: Vec::new(),
            stream: Stream::new(seed, 1, 0, 0, Purpose::World),
            trunk: cylinder(0.16, 3.0, 0.01)?.into(),
            crown: sphere(1.7, 0.08)?.into(),
            post: cylinder(0.07, 6.0, 0.01)?.into(),
            body: cuboid([4.3, 1.8, 0.8])?.into(),
            cabin: cuboid([2.2, 1.6, 0.6])?.into(),
        })
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.stream.uniform()
    }

    fn add(&mut self, what: &str, mesh: Arc<Mesh>, [x, y, z]: [f64; 3], material: &'static str) {
        self.parts.push(Part {
            name: format!("{what} {}", self.parts.len()),
            mesh,
            world_from_part: Isometry3::translation(x, y, z),
            material,
        });
    }

    fn ground(&mut self) -> Result<(), PrimitiveError> {
        let ground = rectangle([240.0, 210.0])?.into();
        self.add("roadway", ground, [0.0; 3], "asphalt");
        Ok(())
    }

    fn block(&mut self, [x, y]: [f64; 2]) -> Result<(), PrimitiveError> {
        let pavement = cuboid([BLOCK[0] + 2.0 * PAVEMENT, BLOCK[1] + 2.0 * PAVEMENT, KERB])?;
        self.add("pavement", pavement.into(), [x, y, 0.5 * KERB], "concrete");
        for side in [-1.0, 1.0] {
            self.houses([x, y], side)?;
            self.pavement_things([x, y], side);
        }
        Ok(())
    }

    /// A row of houses along one long side of a block.
    fn houses(&mut self, [x, y]: [f64; 2], side: f64) -> Result<(), PrimitiveError> {
        let mut west = x - 0.5 * BLOCK[0];
        let end = x + 0.5 * BLOCK[0];
        while end - west > 8.0 {
            let wide = self.between(8.0, 15.0).min(end - west);
            let deep = self.between(10.0, 15.0);
            let storeys = self.between(2.0, 6.0).floor();
            let high = 3.2 * storeys;
            let setback = self.between(0.0, 1.5);
            let front = y + side * (0.5 * BLOCK[1] - setback);
            let middle = [west + 0.5 * wide, front - side * 0.5 * deep];
            let material = FRONTS[whole(self.between(-0.5, 4.49)) as usize];
            let house = cuboid([wide, deep, high])?.into();
            self.add(
                "house",
                house,
                [middle[0], middle[1], KERB + 0.5 * high],
                material,
            );
            let window = Arc::new(cuboid([wide - 1.5, 0.04, 1.3])?);
            for storey in 0..whole(storeys) {
                let at = [middle[0], front, KERB + 1.7 + 3.2 * f64::from(storey)];
                self.add("windows", window.clone(), at, "tinted-glass");
            }
            // Now and then a passage.
            let gap = if self.stream.uniform() < 0.3 {
                3.0
            } else {
                0.0
            };
            west += wide + gap;
        }
        Ok(())
    }

    /// Trees, lamps and parked cars along one long side of a block.
    fn pavement_things(&mut self, [x, y]: [f64; 2], side: f64) {
        let kerb = y + side * (0.5 * BLOCK[1] + PAVEMENT - 0.5);
        let gutter = y + side * (0.5 * BLOCK[1] + PAVEMENT + 1.1);
        for place in -3..=3 {
            let at = x + 7.0 * f64::from(place) + self.between(-1.0, 1.0);
            let kind = self.stream.uniform();
            if kind < 0.4 {
                let (trunk, crown) = (self.trunk.clone(), self.crown.clone());
                self.add("trunk", trunk, [at, kerb, KERB + 1.5], "wood");
                self.add("crown", crown, [at, kerb, KERB + 4.0], "leaf");
            } else if kind < 0.6 {
                let post = self.post.clone();
                self.add("lamp", post, [at, kerb, KERB + 3.0], "stainless-steel");
            }
            if self.stream.uniform() < 0.45 {
                let dark = self.stream.uniform() < 0.5;
                let paint = if dark {
                    "black-paint-gloss"
                } else {
                    "white-paint-gloss"
                };
                let (body, cabin) = (self.body.clone(), self.cabin.clone());
                self.add("car", body, [at, gutter, 0.65], paint);
                self.add("cabin", cabin, [at - 0.2, gutter, 1.35], "tinted-glass");
            }
        }
    }
}

/// What the vehicle can do.
const SEDAN: Steering = Steering {
    wheelbase: 2.8,
    angle: 0.55,
    rate: 0.9,
    acceleration: 2.0,
};
/// How far ahead of the rear axle the driver looks, m.
const AHEAD: f64 = 6.0;
/// Speeds on straights and in corners, m/s.
const SPEEDS: [f64; 2] = [9.0, 4.0];

/// A vehicle that is driven along a way: pure pursuit of the point so far ahead on it, slower
/// before corners (Coulter 1992, "Implementation of the pure pursuit path tracking algorithm",
/// CMU-RI-TR-92-01).
#[derive(Clone, Debug, PartialEq)]
pub struct Tour {
    route: Vec<Point2<f64>>,
    vehicle: Bicycle,
    /// The point of the way that is nearest to the vehicle.
    nearest: usize,
}

impl Tour {
    /// A vehicle at rest at the beginning of a way.
    pub fn new(route: &[Point2<f64>]) -> Self {
        let along = route[1] - route[0];
        let start = [route[0].x, route[0].y];
        Self {
            vehicle: Bicycle::new(SEDAN, start, along.y.atan2(along.x)),
            route: route.to_vec(),
            nearest: 0,
        }
    }

    /// The way's point so many metres ahead of the nearest one.
    fn ahead(&self, distance: f64) -> Point2<f64> {
        let steps = whole(distance / POINT_DISTANCE) as usize;
        self.route[(self.nearest + steps) % self.route.len()]
    }

    /// How far the way turns over the next metres, rad.
    fn bend(&self, distance: f64) -> f64 {
        let [a, b] = [0.0, distance].map(|d| self.ahead(d + 1.0) - self.ahead(d));
        a.perp(&b).atan2(a.dot(&b)).abs()
    }

    fn decide(&self) -> DriveCommand {
        let pose = self.vehicle.state().world_from_body;
        let aim = self.ahead(AHEAD);
        let in_vehicle = pose.inverse_transform_point(&nalgebra::Point3::new(aim.x, aim.y, 0.0));
        let bearing = in_vehicle.y.atan2(in_vehicle.x);
        let distance = in_vehicle.xy().coords.norm();
        let steering = (2.0 * SEDAN.wheelbase * bearing.sin() / distance).atan();
        let corner = [4.0, 12.0, 20.0].iter().any(|d| self.bend(*d) > 0.05);
        DriveCommand {
            speed: SPEEDS[usize::from(corner)],
            steering,
        }
    }
}

impl Dynamics for Tour {
    type Command = ();

    fn state(&self) -> MotionState {
        self.vehicle.state()
    }

    fn step(&mut self, _command: &(), dt: f64) {
        let at = self.vehicle.state().world_from_body.translation.vector;
        let distance = |point: &Point2<f64>| (Vector3::new(point.x, point.y, 0.0) - at).norm();
        let next = (self.nearest + 1) % self.route.len();
        if distance(&self.route[next]) < distance(&self.route[self.nearest]) {
            self.nearest = next;
        }
        let command = self.decide();
        self.vehicle.step(&command, dt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_has_houses_trees_and_cars_and_depends_on_its_seed() {
        let street = Street::generate(1).expect("an area");
        let count = |name: &str| {
            let parts = street.parts.iter();
            parts.filter(|part| part.name.starts_with(name)).count()
        };
        assert_eq!(count("pavement"), 9);
        assert!(count("house") > 50, "{}", count("house"));
        assert!(count("crown") > 20 && count("car") > 20 && count("lamp") > 10);
        assert_eq!(street, Street::generate(1).expect("an area"));
        assert_ne!(street, Street::generate(2).expect("an area"));
    }

    /// A vehicle of 1.8 m has 0.5 m to either side.
    #[test]
    fn nothing_stands_in_the_way() {
        for seed in 1..6 {
            let street = Street::generate(seed).expect("an area");
            for car in street
                .parts
                .iter()
                .filter(|part| part.name.starts_with("car"))
            {
                let at = car.world_from_part.translation.vector;
                for point in &street.route {
                    let outside = [(point.x - at.x).abs() - 2.15, (point.y - at.y).abs() - 0.9];
                    let distance = outside[0].max(0.0).hypot(outside[1].max(0.0));
                    assert!(distance > 1.4, "{distance} m from {}", car.name);
                }
            }
        }
    }

    /// Round corners of 8 m at 4 m/s: at most 0.4 m off its way, 2.4 m/s² across.
    #[test]
    fn the_vehicle_keeps_to_its_lane_and_comes_round() {
        let route = route();
        let mut tour = Tour::new(&route);
        let mut lap = 0.0_f64;
        for step in 0..60_000 {
            tour.step(&(), 1e-3);
            if step % 50 == 0 {
                let state = tour.state();
                let at = state.world_from_body.translation.vector.xy();
                let off = route.iter().map(|point| (point.coords - at).norm());
                let off = off.fold(f64::INFINITY, f64::min);
                assert!(off < 0.8, "{off} m at step {step}");
                assert!(state.acceleration.norm() < 3.5, "{}", state.acceleration);
                lap = lap.max(at.y);
            }
        }
        assert!(lap > 25.0, "{lap}");
    }
}
