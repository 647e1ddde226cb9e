//! A car on ray-cast wheels.

use super::convert::vector;
use super::engine::{BodyNumber, Engine};
use crate::dynamics::jointed::Inertia;
use crate::dynamics::{DriveCommand, Dynamics, Vehicle};
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Vector3};
use rapier3d_f64::control::{DynamicRayCastVehicleController, WheelTuning};
use rapier3d_f64::math::Vector;
use rapier3d_f64::prelude::{ColliderBuilder, QueryFilter, RigidBodyBuilder};
use std::f64::consts::PI;

/// Time constant of the speed control, s.
const SPEED_TIME: f64 = 0.2;
/// Speed below which a car with a commanded speed of zero brakes, m/s.
const CRAWL: f64 = 0.05;
/// Spring travel to either side of the rest length, m.
const TRAVEL: f64 = 0.3;

/// A car whose body is a rigid body and whose wheels are rays: each finds the ground below,
/// carries its share on a spring and damper, does not slip across, and pushes along (rapier's
/// controller, after Bullet's `btRaycastVehicle`). The front wheels are steered so that all axles
/// point to one centre (Ackermann); the rear wheels drive.
///
/// The frame is that of [`Bicycle`](crate::dynamics::Bicycle): the middle of the rear axle, on the
/// ground at rest. With level ground at low speed it turns about the same radius,
/// $L/\tan\delta$.
#[derive(Debug)]
pub struct RayCastVehicle {
    engine: Engine,
    body: BodyNumber,
    wheels: Wheels,
    vehicle: Vehicle,
    steering: f64,
}

/// The engine's controller, which does not print itself.
struct Wheels(DynamicRayCastVehicleController);

impl std::fmt::Debug for Wheels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} wheels", self.0.wheels().len())
    }
}

impl RayCastVehicle {
    /// A car at rest in an engine's world, its rear axle's middle on the ground at `start`.
    pub fn new(mut engine: Engine, vehicle: &Vehicle, start: &Isometry3<f64>) -> Self {
        let centre = Vector3::new(0.5 * vehicle.steering.wheelbase, 0.0, vehicle.centre_height);
        let body_from_box =
            Isometry3::translation(centre.x, 0.0, vehicle.wheel_radius + 0.5 * vehicle.size[2]);
        let inertia = Inertia {
            centre: centre.into(),
            ..Inertia::of_cuboid(vehicle.mass, vehicle.size)
        };
        let [x, y, z] = vehicle.size.map(|side| 0.5 * side);
        let shape = ColliderBuilder::cuboid(x, y, z).position(super::convert::pose(&body_from_box));
        let body = RigidBodyBuilder::dynamic().pose(super::convert::pose(start));
        let body = engine.add_part(body, Some(&inertia), vec![shape]);
        // The wheels' impulses come before the step, gravity with it: only in one piece do they
        // leave a car at rest without speed.
        engine.world.integration_parameters.num_solver_iterations = 1;
        let gravity = engine.world.gravity.length();
        let mut wheels = DynamicRayCastVehicleController::new(engine.handle(body));
        wheels.index_up_axis = 2;
        wheels.index_forward_axis = 0;
        for place in places(vehicle) {
            add_wheel(&mut wheels, vehicle, gravity, place);
        }
        Self {
            engine,
            body,
            wheels: Wheels(wheels),
            vehicle: *vehicle,
            steering: 0.0,
        }
    }

    /// Speed of the middle of the rear axle, ahead, m/s.
    pub fn speed(&self) -> f64 {
        let state = self.state();
        let velocity = state.world_from_body.rotation.inverse() * state.velocity;
        velocity.x
    }

    /// Steering angle, rad.
    pub fn steering(&self) -> f64 {
        self.steering
    }

    fn steer(&mut self, wanted: f64, dt: f64) {
        let limits = &self.vehicle.steering;
        let wanted = wanted.clamp(-limits.angle, limits.angle);
        let most = limits.rate * dt;
        self.steering += (wanted - self.steering).clamp(-most, most);
        // Curvature of the path of the rear axle's centre, 1/m
        let curvature = self.steering.tan() / limits.wheelbase;
        let wheelbase = limits.wheelbase;
        for (wheel, [ahead, left]) in self
            .wheels
            .0
            .wheels_mut()
            .iter_mut()
            .zip(places(&self.vehicle))
        {
            let angle = (wheelbase * curvature).atan2(1.0 - left * curvature);
            wheel.steering = if ahead > 0.0 { angle } else { 0.0 };
        }
    }

    fn push(&mut self, wanted: f64) {
        let speed = self.speed();
        let most = self.vehicle.steering.acceleration;
        let acceleration = ((wanted - speed) / SPEED_TIME).clamp(-most, most);
        let stands = wanted == 0.0 && speed.abs() < CRAWL;
        let mass = self.vehicle.mass;
        for (wheel, [ahead, _]) in self
            .wheels
            .0
            .wheels_mut()
            .iter_mut()
            .zip(places(&self.vehicle))
        {
            let drives = ahead == 0.0 && !stands;
            wheel.engine_force = if drives {
                0.5 * mass * acceleration
            } else {
                0.0
            };
            wheel.brake = if stands { mass } else { 0.0 };
        }
    }
}

impl Dynamics for RayCastVehicle {
    type Command = DriveCommand;

    fn state(&self) -> MotionState {
        self.engine.state(self.body)
    }

    fn step(&mut self, command: &DriveCommand, dt: f64) {
        self.steer(command.steering, dt);
        self.push(command.speed);
        let handle = self.engine.handle(self.body);
        let world = &mut self.engine.world;
        let queries = world.broad_phase.as_query_pipeline_mut(
            world.narrow_phase.query_dispatcher(),
            &mut world.bodies,
            &mut world.colliders,
            QueryFilter::exclude_dynamic().exclude_rigid_body(handle),
        );
        self.wheels.0.update_vehicle(dt, queries);
        self.engine.step(dt);
    }
}

/// Positions of the wheels, m: forwards and to the left.
fn places(vehicle: &Vehicle) -> [[f64; 2]; 4] {
    let (front, side) = (vehicle.steering.wheelbase, 0.5 * vehicle.track);
    [[front, side], [front, -side], [0.0, side], [0.0, -side]]
}

/// A wheel that carries a quarter of the car at rest with its hub at its radius above the ground.
///
/// Four springs of stiffness $k$ a unit of the car's mass let it swing with $2\pi f=\sqrt{4k}$;
/// four dampers $c$ give the damping ratio $\zeta = 4c/(2\cdot 2\pi f)$.
fn add_wheel(
    wheels: &mut DynamicRayCastVehicleController,
    vehicle: &Vehicle,
    gravity: f64,
    [ahead, left]: [f64; 2],
) {
    let stiffness = (PI * vehicle.suspension_frequency).powi(2);
    let damping = vehicle.suspension_damping * PI * vehicle.suspension_frequency;
    let sag = gravity / (4.0 * stiffness);
    // The ray starts within the car
    let rest = TRAVEL + sag;
    let hub = Vector3::new(ahead, left, vehicle.wheel_radius + rest - sag);
    let tuning = WheelTuning {
        suspension_stiffness: stiffness,
        suspension_compression: damping,
        suspension_damping: damping,
        max_suspension_travel: TRAVEL + sag,
        side_friction_stiffness: 1.0,
        friction_slip: vehicle.friction,
        max_suspension_force: 20.0 * vehicle.mass * gravity.max(1.0),
    };
    wheels.add_wheel(
        vector(&hub),
        -Vector::Z,
        -Vector::Y,
        rest,
        vehicle.wheel_radius,
        &tuning,
    );
}
