//! Procedural town.

use super::route::{Route, whole};
use super::{BLOCK, PAVEMENT, ROADWAY};
use crate::demo::WorldPart;
use etendue_physics::{Purpose, Stream};
use etendue_scene::Mesh;
use etendue_scene::primitive::{PrimitiveError, cuboid, cylinder, rectangle, sphere};
use nalgebra::Isometry3;
use std::sync::Arc;

/// Procedural town with a route around its central block.
#[derive(Clone, Debug, PartialEq)]
pub struct Town {
    /// Ground, houses, trees, lamps and cars.
    pub parts: Vec<WorldPart>,
    /// Route of the vehicle.
    pub route: Route,
}

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
impl Town {
    /// Town of a seed.
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
            route: Route::around_central_block(),
        })
    }
}

/// Town under construction.
struct Builder {
    parts: Vec<WorldPart>,
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

    fn add(&mut self, kind: &str, mesh: Arc<Mesh>, [x, y, z]: [f64; 3], material: &'static str) {
        self.parts.push(WorldPart {
            name: format!("{kind} {}", self.parts.len()),
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
            self.street_furniture([x, y], side);
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
            // Some houses have a passage next to them
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
    fn street_furniture(&mut self, [x, y]: [f64; 2], side: f64) {
        let kerb = y + side * (0.5 * BLOCK[1] + PAVEMENT - 0.5);
        let gutter = y + side * (0.5 * BLOCK[1] + PAVEMENT + 1.1);
        for lot in -3..=3 {
            // Tree, lamp or nothing
            let at = x + 7.0 * f64::from(lot) + self.between(-1.0, 1.0);
            let kind = self.stream.uniform();
            if kind < 0.4 {
                let trunk = self.trunk.clone();
                let crown = self.crown.clone();
                self.add("trunk", trunk, [at, kerb, KERB + 1.5], "wood");
                self.add("crown", crown, [at, kerb, KERB + 4.0], "leaf");
            } else if kind < 0.6 {
                let post = self.post.clone();
                self.add("lamp", post, [at, kerb, KERB + 3.0], "stainless-steel");
            }

            // Parked car
            if self.stream.uniform() < 0.45 {
                let dark = self.stream.uniform() < 0.5;
                let paint = if dark {
                    "black-paint-gloss"
                } else {
                    "white-paint-gloss"
                };
                let body = self.body.clone();
                let cabin = self.cabin.clone();
                self.add("car", body, [at, gutter, 0.65], paint);
                self.add("cabin", cabin, [at - 0.2, gutter, 1.35], "tinted-glass");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_town_has_houses_trees_and_cars_and_depends_on_its_seed() {
        let town = Town::generate(1).expect("a town");
        let count = |name: &str| {
            let parts = town.parts.iter();
            parts.filter(|part| part.name.starts_with(name)).count()
        };
        assert_eq!(count("pavement"), 9);
        assert!(count("house") > 50, "{}", count("house"));
        assert!(count("crown") > 20 && count("car") > 20 && count("lamp") > 10);
        assert_eq!(town, Town::generate(1).expect("a town"));
        assert_ne!(town, Town::generate(2).expect("a town"));
    }

    /// A vehicle of 1.8 m width has 0.5 m on either side.
    #[test]
    fn no_car_is_parked_on_the_route() {
        for seed in 1..6 {
            let town = Town::generate(seed).expect("a town");
            for car in town
                .parts
                .iter()
                .filter(|part| part.name.starts_with("car"))
            {
                let at = car.world_from_part.translation.vector;
                for point in town.route.points() {
                    let outside = [(point.x - at.x).abs() - 2.15, (point.y - at.y).abs() - 0.9];
                    let distance = outside[0].max(0.0).hypot(outside[1].max(0.0));
                    assert!(distance > 1.4, "{distance} m from {}", car.name);
                }
            }
        }
    }
}
