//! A car with ray-cast wheels.

use super::convert::{engine_pose, engine_vector};
use super::engine::{BodyNumber, Engine};
use crate::dynamics::bicycle::DriveCommand;
use crate::dynamics::jointed::Inertia;
use crate::dynamics::model::Dynamics;
use crate::dynamics::vehicle::Vehicle;
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

/// A rigid car body with ray-cast wheels: each wheel is a ray to the ground with a spring and damper,
/// without lateral slip (the controller of rapier, after Bullet's `btRaycastVehicle`).
///
/// The front wheels have Ackermann steering; the rear wheels are driven. The frame is that of
/// [`Bicycle`](crate::dynamics::Bicycle): the centre of the rear axle, on the ground at rest. On level
/// ground at low speed the turning radius is the same, $L/\tan\delta$.
#[derive(Debug)]
pub struct RayCastVehicle {
    engine: Engine,
    body: BodyNumber,
    wheels: Wheels,
    vehicle: Vehicle,
    steering: f64,
}

/// Wheel controller of the engine, with `Debug`.
struct Wheels(DynamicRayCastVehicleController);

impl std::fmt::Debug for Wheels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} wheels", self.0.wheels().len())
    }
}

impl RayCastVehicle {
    /// A car at rest in a world, with the centre of its rear axle on the ground at `start`.
    pub fn new(mut engine: Engine, vehicle: &Vehicle, start: &Isometry3<f64>) -> Self {
        // Add the body.
        let centre = Vector3::new(0.5 * vehicle.steering.wheelbase, 0.0, vehicle.centre_height);
        let body_from_box =
            Isometry3::translation(centre.x, 0.0, vehicle.wheel_radius + 0.5 * vehicle.size[2]);
        let inertia = Inertia {
            centre: centre.into(),
            ..Inertia::of_cuboid(vehicle.mass, vehicle.size)
        };
        let [x, y, z] = vehicle.size.map(|side| 0.5 * side);
        let shape = ColliderBuilder::cuboid(x, y, z).position(engine_pose(&body_from_box));
        let body = RigidBodyBuilder::dynamic().pose(engine_pose(start));
        let body = engine.add_robot_body(body, Some(&inertia), vec![shape]);

        // The impulses of the wheels are applied before the step and gravity within it: only in a single
        // substep do they cancel for a car at rest.
        engine.world.integration_parameters.num_solver_iterations = 1;

        // Add the wheels.
        let gravity = engine.world.gravity.length();
        let mut wheels = DynamicRayCastVehicleController::new(engine.handle(body));
        wheels.index_up_axis = 2;
        wheels.index_forward_axis = 0;
        for position in wheel_positions(vehicle) {
            add_wheel(&mut wheels, vehicle, gravity, position);
        }
        Self {
            engine,
            body,
            wheels: Wheels(wheels),
            vehicle: *vehicle,
            steering: 0.0,
        }
    }

    /// Forward speed of the centre of the rear axle, m/s.
    pub fn speed(&self) -> f64 {
        let state = self.state();
        let velocity = state.world_from_body.rotation.inverse() * state.velocity;
        velocity.x
    }

    /// Steering angle, rad.
    pub fn steering(&self) -> f64 {
        self.steering
    }

    /// Steers the front wheels towards an angle, rad.
    fn steer(&mut self, set_point: f64, dt: f64) {
        let limits = &self.vehicle.steering;
        let set_point = set_point.clamp(-limits.angle, limits.angle);
        let most = limits.rate * dt;
        self.steering += (set_point - self.steering).clamp(-most, most);
        // Curvature of the path of the centre of the rear axle, 1/m.
        let curvature = self.steering.tan() / limits.wheelbase;
        let wheelbase = limits.wheelbase;
        for (wheel, [forward, left]) in self
            .wheels
            .0
            .wheels_mut()
            .iter_mut()
            .zip(wheel_positions(&self.vehicle))
        {
            let angle = (wheelbase * curvature).atan2(1.0 - left * curvature);
            wheel.steering = if forward > 0.0 { angle } else { 0.0 };
        }
    }

    /// Drives or brakes the rear wheels towards a speed, m/s.
    fn control_speed(&mut self, set_point: f64) {
        let speed = self.speed();
        let most = self.vehicle.steering.acceleration;
        let acceleration = ((set_point - speed) / SPEED_TIME).clamp(-most, most);
        let is_parked = set_point == 0.0 && speed.abs() < CRAWL;
        let mass = self.vehicle.mass;
        for (wheel, [forward, _]) in self
            .wheels
            .0
            .wheels_mut()
            .iter_mut()
            .zip(wheel_positions(&self.vehicle))
        {
            let is_driven = forward == 0.0 && !is_parked;
            wheel.engine_force = if is_driven {
                0.5 * mass * acceleration
            } else {
                0.0
            };
            wheel.brake = if is_parked { mass } else { 0.0 };
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
        self.control_speed(command.speed);
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
fn wheel_positions(vehicle: &Vehicle) -> [[f64; 2]; 4] {
    let front = vehicle.steering.wheelbase;
    let side = 0.5 * vehicle.track;
    [[front, side], [front, -side], [0.0, side], [0.0, -side]]
}

/// Adds a wheel that carries a quarter of the car at rest, with its hub at its radius above the ground.
///
/// Four springs of stiffness $k$ per unit of mass give the natural frequency $2\pi f=\sqrt{4k}$; four
/// dampers $c$ give the damping ratio $\zeta = 4c/(2\cdot 2\pi f)$.
fn add_wheel(
    wheels: &mut DynamicRayCastVehicleController,
    vehicle: &Vehicle,
    gravity: f64,
    [forward, left]: [f64; 2],
) {
    let stiffness = (PI * vehicle.suspension_frequency).powi(2);
    let damping = vehicle.suspension_damping * PI * vehicle.suspension_frequency;
    let sag = gravity / (4.0 * stiffness);
    // The ray starts inside the car.
    let rest = TRAVEL + sag;
    let hub = Vector3::new(forward, left, vehicle.wheel_radius + rest - sag);
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
        engine_vector(&hub),
        -Vector::Z,
        -Vector::Y,
        rest,
        vehicle.wheel_radius,
        &tuning,
    );
}
