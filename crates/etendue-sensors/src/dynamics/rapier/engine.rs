//! Physics engine: a world of rigid bodies.

use super::convert::{our_pose, our_vector, point, pose, vector};
use crate::dynamics::jointed::{Inertia, PlacedShape, Shape};
use etendue_physics::inertial::MotionState;
use etendue_scene::{Mesh, ObjectId, Scene};
use nalgebra::{Isometry3, Vector3};
use rapier3d_f64::prelude::{
    Collider, ColliderBuilder, Group, InteractionGroups, InteractionTestMode, MassProperties,
    PhysicsWorld, RigidBody, RigidBodyBuilder, RigidBodyHandle, Vector,
};
use std::fmt;
use thiserror::Error;

/// Collision groups of the fixed ground, of loose bodies and of robots.
const GROUND: Group = Group::GROUP_1;
const LOOSE: Group = Group::GROUP_2;
const ROBOT: Group = Group::GROUP_3;

/// Default friction coefficient.
pub(super) const FRICTION: f64 = 0.8;

/// A world of rigid bodies under gravity.
pub struct Engine {
    pub(super) world: PhysicsWorld,
    bodies: Vec<Tracked>,
}

/// A body with its velocities before the last step.
struct Tracked {
    handle: RigidBodyHandle,
    /// Velocity of its centre of mass and angular velocity, both in the world.
    before: [Vector3<f64>; 2],
    /// Mean time derivatives of both over the last step.
    change: [Vector3<f64>; 2],
}

/// Identifier of a body in its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyNumber(usize);

/// The engine cannot represent a mesh.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineError {
    /// A mesh of the scene cannot be a collider.
    #[error("the engine cannot use the mesh of \"{object}\": {problem}")]
    Mesh {
        /// Name of the object.
        object: String,
        /// Error of the engine.
        problem: String,
    },
    /// A mesh has no convex hull.
    #[error("a collision mesh of the link \"{link}\" is flat: it has no convex hull")]
    FlatHull {
        /// Name of the link.
        link: String,
    },
}

impl Engine {
    /// Empty world with a gravity vector, m/s².
    pub fn new(gravity: Vector3<f64>) -> Self {
        let world = PhysicsWorld {
            gravity: vector(&gravity),
            ..PhysicsWorld::default()
        };
        Self {
            world,
            bodies: Vec::new(),
        }
    }

    /// Adds the plane z = 0 as ground.
    pub fn stand_on_plane(&mut self) {
        let plane = ColliderBuilder::new(rapier3d_f64::prelude::SharedShape::halfspace(Vector::Z));
        self.world.insert_collider(standing(plane), None);
    }

    /// Adds the objects of a scene at their poses at time zero as fixed colliders.
    ///
    /// # Errors
    /// Where the engine cannot use a mesh.
    pub fn stand_on(&mut self, scene: &Scene) -> Result<(), EngineError> {
        for (number, object) in (0..).zip(scene.objects()) {
            let place = scene.world_from_object(ObjectId(number), 0.0);
            let mesh = scene.mesh(object.mesh);
            let vertices = mesh.vertices.iter().map(point).collect();
            let built = ColliderBuilder::trimesh(vertices, mesh.triangles.clone());
            let built = built.map_err(|error| EngineError::Mesh {
                object: object.name.clone(),
                problem: error.to_string(),
            })?;
            let collider = standing(built.position(pose(&place)));
            self.world.insert_collider(collider, None);
        }
        Ok(())
    }

    /// Adds a loose body with a mass, a shape about its centre of mass and a coefficient of
    /// restitution, at a pose and velocity (m/s). It collides with all other bodies.
    pub fn add_body(
        &mut self,
        inertia: &Inertia,
        shape: &Shape,
        restitution: f64,
        world_from_body: &Isometry3<f64>,
        velocity: &Vector3<f64>,
    ) -> Option<BodyNumber> {
        let body = RigidBodyBuilder::dynamic()
            .pose(pose(world_from_body))
            .linvel(vector(velocity))
            .additional_mass_properties(mass(inertia))
            .can_sleep(false);
        let shape = builder(shape)?
            .density(0.0)
            .friction(FRICTION)
            .restitution(restitution)
            .collision_groups(groups(LOOSE, Group::ALL));
        Some(self.track(body.build(), [shape.build()]))
    }

    /// Adds a body of a robot, whose shapes do not collide with other bodies of robots.
    pub(super) fn add_part(
        &mut self,
        body: RigidBodyBuilder,
        inertia: Option<&Inertia>,
        shapes: Vec<ColliderBuilder>,
    ) -> BodyNumber {
        let body = match inertia {
            Some(inertia) => body.additional_mass_properties(mass(inertia)),
            None => body,
        };
        let colliders = shapes.into_iter().map(|shape| {
            let shape = shape.density(0.0).friction(FRICTION);
            shape.collision_groups(groups(ROBOT, !ROBOT)).build()
        });
        self.track(body.can_sleep(false).build(), colliders)
    }

    fn track(
        &mut self,
        body: RigidBody,
        colliders: impl IntoIterator<Item = Collider>,
    ) -> BodyNumber {
        let handle = self.world.insert_body(body);
        for collider in colliders {
            self.world.insert_collider(collider, Some(handle));
        }
        let world = &mut self.world;
        world.bodies[handle].recompute_mass_properties_from_colliders(&world.colliders);
        let mut tracked = Tracked {
            handle,
            before: [Vector3::zeros(); 2],
            change: [Vector3::zeros(); 2],
        };
        tracked.before = velocities(&self.world.bodies[handle]);
        self.bodies.push(tracked);
        BodyNumber(self.bodies.len() - 1)
    }

    pub(super) fn handle(&self, body: BodyNumber) -> RigidBodyHandle {
        self.bodies[body.0].handle
    }

    pub(super) fn body(&self, body: BodyNumber) -> &RigidBody {
        &self.world.bodies[self.handle(body)]
    }

    pub(super) fn body_mut(&mut self, body: BodyNumber) -> &mut RigidBody {
        let handle = self.handle(body);
        &mut self.world.bodies[handle]
    }

    /// Advances the world by `dt` seconds.
    pub fn step(&mut self, dt: f64) {
        self.world.integration_parameters.dt = dt;
        self.world.step();
        for tracked in &mut self.bodies {
            let now = velocities(&self.world.bodies[tracked.handle]);
            tracked.change = [0, 1].map(|i| (now[i] - tracked.before[i]) / dt);
            tracked.before = now;
        }
    }

    /// State of motion of a body. Accelerations are means over the last step, and zero before the
    /// first step.
    pub fn state(&self, number: BodyNumber) -> MotionState {
        let body = self.body(number);
        let tracked = &self.bodies[number.0];
        let world_from_body = our_pose(body.position());
        let [velocity, rate] = velocities(body);
        let [acceleration, change] = tracked.change;
        // Vector from the centre of mass to the origin
        let arm = world_from_body.translation.vector - our_vector(body.center_of_mass());
        let into_body = world_from_body.rotation.inverse();
        MotionState {
            world_from_body,
            velocity: velocity + rate.cross(&arm),
            acceleration: acceleration + change.cross(&arm) + rate.cross(&rate.cross(&arm)),
            angular_velocity: into_body * rate,
            angular_acceleration: into_body * change,
        }
    }

    /// Kinetic energy of a body, J.
    pub fn kinetic_energy(&self, body: BodyNumber) -> f64 {
        self.body(body).kinetic_energy()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine of {} bodies", self.bodies.len())
    }
}

fn velocities(body: &RigidBody) -> [Vector3<f64>; 2] {
    [our_vector(body.linvel()), our_vector(body.angvel())]
}

fn groups(of: Group, with: Group) -> InteractionGroups {
    InteractionGroups::new(of, with, InteractionTestMode::And)
}

fn standing(shape: ColliderBuilder) -> Collider {
    let shape = shape
        .friction(FRICTION)
        .collision_groups(groups(GROUND, Group::ALL));
    shape.restitution(0.0).build()
}

pub(super) fn mass(inertia: &Inertia) -> MassProperties {
    let tensor = inertia.tensor;
    let columns = [0, 1, 2].map(|column| vector(&tensor.column(column).into_owned()));
    let [x, y, z] = columns;
    let matrix = rapier3d_f64::math::Matrix::from_cols(x, y, z);
    MassProperties::with_inertia_matrix(point(&inertia.centre), inertia.mass, matrix)
}

/// Collider of a shape; `None` for a mesh without a convex hull.
fn builder(shape: &Shape) -> Option<ColliderBuilder> {
    Some(match shape {
        Shape::Cuboid(size) => {
            let [x, y, z] = size.map(|side| 0.5 * side);
            ColliderBuilder::cuboid(x, y, z)
        }
        Shape::Sphere { radius } => ColliderBuilder::ball(*radius),
        // The engine's cylinders are along y
        Shape::Cylinder { radius, length } => {
            let upright = Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2);
            ColliderBuilder::cylinder(0.5 * length, *radius).position(pose(&upright))
        }
        Shape::Capsule { radius, length } => ColliderBuilder::capsule_z(0.5 * length, *radius),
        Shape::Hull(mesh) => hull(mesh)?,
    })
}

fn hull(mesh: &Mesh) -> Option<ColliderBuilder> {
    let points: Vec<Vector> = mesh.vertices.iter().map(point).collect();
    ColliderBuilder::convex_hull(&points)
}

/// Collider of a shape at its pose on a body; `None` for a mesh without a convex hull.
pub(super) fn placed(
    body_from_link: &Isometry3<f64>,
    shape: &PlacedShape,
) -> Option<ColliderBuilder> {
    let built = builder(&shape.shape)?;
    let own = our_pose(&built.position);
    let place = body_from_link * shape.link_from_shape * own;
    Some(built.position(pose(&place)))
}
