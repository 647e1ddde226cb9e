//! A world of rigid bodies, simulated by the physics engine.

use super::convert::{engine_point, engine_pose, engine_vector, to_isometry, to_vector};
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

/// Collision group of fixed colliders.
const GROUND: Group = Group::GROUP_1;
/// Collision group of free bodies.
const FREE: Group = Group::GROUP_2;
/// Collision group of robots.
const ROBOT: Group = Group::GROUP_3;

/// Default friction coefficient.
pub(super) const FRICTION: f64 = 0.8;

/// A world of rigid bodies under gravity.
pub struct Engine {
    pub(super) world: PhysicsWorld,
    bodies: Vec<TrackedBody>,
}

/// A body with the finite differences of its velocities.
struct TrackedBody {
    handle: RigidBodyHandle,
    /// Velocities after the last step.
    velocities: Velocities,
    /// Mean acceleration of the centre of mass over the last step, m/s².
    acceleration: Vector3<f64>,
    /// Mean angular acceleration over the last step, rad/s².
    angular_acceleration: Vector3<f64>,
}

/// Index of a body in its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyNumber(usize);

/// Error of a mesh that the engine cannot represent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine does not accept a mesh of the scene.
    #[error("the physics engine does not accept the mesh of \"{object}\": {problem}")]
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
            gravity: engine_vector(&gravity),
            ..PhysicsWorld::default()
        };
        Self {
            world,
            bodies: Vec::new(),
        }
    }

    /// Adds the plane z = 0 as a fixed collider.
    pub fn add_ground_plane(&mut self) {
        let plane = ColliderBuilder::new(rapier3d_f64::prelude::SharedShape::halfspace(Vector::Z));
        self.world.insert_collider(fixed_collider(plane), None);
    }

    /// Adds the objects of a scene at their poses at time zero as fixed colliders.
    ///
    /// # Errors
    /// If the engine does not accept a mesh.
    pub fn add_scene(&mut self, scene: &Scene) -> Result<(), EngineError> {
        for (number, object) in (0..).zip(scene.objects()) {
            let world_from_object = scene.world_from_object(ObjectId(number), 0.0);
            let mesh = scene.mesh(object.mesh);
            let vertices = mesh.vertices.iter().map(engine_point).collect();
            let built = ColliderBuilder::trimesh(vertices, mesh.triangles.clone());
            let built = built.map_err(|error| EngineError::Mesh {
                object: object.name.clone(),
                problem: error.to_string(),
            })?;
            let collider = fixed_collider(built.position(engine_pose(&world_from_object)));
            self.world.insert_collider(collider, None);
        }
        Ok(())
    }

    /// Adds a free body with an inertia, a shape about its centre of mass and a coefficient of restitution,
    /// at a pose and velocity (m/s). It collides with all other bodies. `None` for a mesh without a convex
    /// hull.
    pub fn add_body(
        &mut self,
        inertia: &Inertia,
        shape: &Shape,
        restitution: f64,
        world_from_body: &Isometry3<f64>,
        velocity: &Vector3<f64>,
    ) -> Option<BodyNumber> {
        let body = RigidBodyBuilder::dynamic()
            .pose(engine_pose(world_from_body))
            .linvel(engine_vector(velocity))
            .additional_mass_properties(mass_properties(inertia))
            .can_sleep(false);
        let shape = collider(shape)?
            .density(0.0)
            .friction(FRICTION)
            .restitution(restitution)
            .collision_groups(groups(FREE, Group::ALL));
        Some(self.track(body.build(), [shape.build()]))
    }

    /// Adds a body of a robot. It does not collide with other bodies of robots.
    pub(super) fn add_robot_body(
        &mut self,
        body: RigidBodyBuilder,
        inertia: Option<&Inertia>,
        shapes: Vec<ColliderBuilder>,
    ) -> BodyNumber {
        let body = match inertia {
            Some(inertia) => body.additional_mass_properties(mass_properties(inertia)),
            None => body,
        };
        let colliders = shapes.into_iter().map(|shape| {
            let shape = shape.density(0.0).friction(FRICTION);
            shape.collision_groups(groups(ROBOT, !ROBOT)).build()
        });
        self.track(body.can_sleep(false).build(), colliders)
    }

    /// Inserts a body with its colliders.
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
        self.bodies.push(TrackedBody {
            handle,
            velocities: Velocities::of(&self.world.bodies[handle]),
            acceleration: Vector3::zeros(),
            angular_acceleration: Vector3::zeros(),
        });
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
            let now = Velocities::of(&self.world.bodies[tracked.handle]);
            let before = tracked.velocities;
            tracked.acceleration = (now.linear - before.linear) / dt;
            tracked.angular_acceleration = (now.angular - before.angular) / dt;
            tracked.velocities = now;
        }
    }

    /// State of motion of a body. Accelerations are means over the last step, and zero before the
    /// first step.
    pub fn state(&self, number: BodyNumber) -> MotionState {
        let body = self.body(number);
        let tracked = &self.bodies[number.0];
        let world_from_body = to_isometry(body.position());
        let Velocities { linear, angular } = Velocities::of(body);
        // Vector from the centre of mass to the origin.
        let arm = world_from_body.translation.vector - to_vector(body.center_of_mass());
        let body_from_world = world_from_body.rotation.inverse();
        MotionState {
            world_from_body,
            velocity: linear + angular.cross(&arm),
            acceleration: tracked.acceleration
                + tracked.angular_acceleration.cross(&arm)
                + angular.cross(&angular.cross(&arm)),
            angular_velocity: body_from_world * angular,
            angular_acceleration: body_from_world * tracked.angular_acceleration,
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

/// Velocities of a body in the world.
#[derive(Clone, Copy)]
struct Velocities {
    /// Velocity of the centre of mass, m/s.
    linear: Vector3<f64>,
    /// Angular velocity, rad/s.
    angular: Vector3<f64>,
}

impl Velocities {
    fn of(body: &RigidBody) -> Self {
        Self {
            linear: to_vector(body.linvel()),
            angular: to_vector(body.angvel()),
        }
    }
}

/// Interaction of a collision group with others.
fn groups(of: Group, with: Group) -> InteractionGroups {
    InteractionGroups::new(of, with, InteractionTestMode::And)
}

/// A collider of the ground.
fn fixed_collider(shape: ColliderBuilder) -> Collider {
    let shape = shape
        .friction(FRICTION)
        .collision_groups(groups(GROUND, Group::ALL));
    shape.restitution(0.0).build()
}

/// Mass properties of an inertia.
pub(super) fn mass_properties(inertia: &Inertia) -> MassProperties {
    let tensor = inertia.tensor;
    let columns = [0, 1, 2].map(|column| engine_vector(&tensor.column(column).into_owned()));
    let [x, y, z] = columns;
    let matrix = rapier3d_f64::math::Matrix::from_cols(x, y, z);
    MassProperties::with_inertia_matrix(engine_point(&inertia.centre), inertia.mass, matrix)
}

/// Collider of a shape; `None` for a mesh without a convex hull.
fn collider(shape: &Shape) -> Option<ColliderBuilder> {
    Some(match shape {
        Shape::Cuboid(size) => {
            let [x, y, z] = size.map(|side| 0.5 * side);
            ColliderBuilder::cuboid(x, y, z)
        }
        Shape::Sphere { radius } => ColliderBuilder::ball(*radius),
        // Cylinders of the engine are along y.
        Shape::Cylinder { radius, length } => {
            let upright = Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2);
            ColliderBuilder::cylinder(0.5 * length, *radius).position(engine_pose(&upright))
        }
        Shape::Capsule { radius, length } => ColliderBuilder::capsule_z(0.5 * length, *radius),
        Shape::Hull(mesh) => hull(mesh)?,
    })
}

/// Convex hull of a mesh.
fn hull(mesh: &Mesh) -> Option<ColliderBuilder> {
    let points: Vec<Vector> = mesh.vertices.iter().map(engine_point).collect();
    ColliderBuilder::convex_hull(&points)
}

/// Collider of a shape at its pose on a body; `None` for a mesh without a convex hull.
pub(super) fn placed_collider(
    body_from_link: &Isometry3<f64>,
    shape: &PlacedShape,
) -> Option<ColliderBuilder> {
    let built = collider(&shape.shape)?;
    let shape_from_collider = to_isometry(&built.position);
    let body_from_collider = body_from_link * shape.link_from_shape * shape_from_collider;
    Some(built.position(engine_pose(&body_from_collider)))
}
