//! Robots of links and joints in the physics engine.

use super::convert::{engine_pose, engine_vector};
use super::engine::{BodyNumber, Engine, EngineError, placed_collider};
use crate::dynamics::jointed::{Joint, JointCommand, JointKind, JointedRobot};
use crate::dynamics::model::Dynamics;
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use rapier3d_f64::prelude::{
    GenericJoint, JointAxesMask, JointAxis, MotorModel, MultibodyJointHandle, RigidBodyBuilder,
};
use std::f64::consts::{PI, TAU};

/// Damping of a speed-controlled motor, 1/s: practically rigid.
const RIGID: f64 = 1e8;

/// A robot of links and joints in an engine's world, in reduced coordinates (Featherstone's; see
/// Featherstone 2008, "Rigid Body Dynamics Algorithms").
///
/// There is one command per moving joint, in the order of [`JointedRobot::moving_joints`]. A position
/// command is tracked by a critically damped servo without integral term, which has a steady-state error
/// under load. A speed command is approached with the time constant of the servo and held under load.
/// Both are limited by the effort of the joint. A torque or force acts between the bodies of the joint.
pub struct RobotInEngine {
    engine: Engine,
    bodies: Vec<BodyNumber>,
    motors: Vec<Motor>,
    /// Angular frequency of the servos, rad/s.
    servo: f64,
}

/// A moving joint.
struct Motor {
    joint: Joint,
    handle: MultibodyJointHandle,
    parent: BodyNumber,
    child: BodyNumber,
    /// Last command.
    command: JointCommand,
    /// Current set point of the speed, which ramps to the commanded one, rad/s or m/s.
    speed: f64,
}

impl RobotInEngine {
    /// A robot at rest in a world, with its joints at zero and its base at `start`; `servo` is the natural
    /// frequency of the servos, Hz.
    ///
    /// # Errors
    /// If a collision mesh has no convex hull.
    pub fn new(
        mut engine: Engine,
        robot: &JointedRobot,
        start: &Isometry3<f64>,
        servo: f64,
    ) -> Result<Self, EngineError> {
        // Add the bodies at their poses.
        let zero = vec![0.0; robot.bodies().len() - 1];
        let poses = robot.poses(&zero);
        let mut bodies = Vec::new();
        for (number, (body, base_from_body)) in robot.bodies().iter().zip(&poses).enumerate() {
            let mut shapes = Vec::new();
            for (link, body_from_link) in &body.links {
                let link = &robot.links()[*link];
                for shape in &link.shapes {
                    let built = placed_collider(body_from_link, shape);
                    shapes.push(built.ok_or_else(|| EngineError::FlatHull {
                        link: link.name.clone(),
                    })?);
                }
            }
            let is_fixed = number == 0 && robot.base_is_fixed();
            let kind = if is_fixed {
                RigidBodyBuilder::fixed()
            } else {
                RigidBodyBuilder::dynamic()
            };
            let kind = kind.pose(engine_pose(&(start * base_from_body)));
            bodies.push(engine.add_robot_body(kind, body.inertia.as_ref(), shapes));
        }

        // Connect them by joints.
        let motors = motors(&mut engine, robot, &bodies);
        let mut in_engine = Self {
            engine,
            bodies,
            motors,
            servo: TAU * servo,
        };
        in_engine.set_damping();
        Ok(in_engine)
    }

    /// Positions of the moving joints, rad or m.
    pub fn positions(&self) -> Vec<f64> {
        let positions = self.motors.iter().map(|motor| {
            let found = self.engine.world.multibody_joints.get(motor.handle);
            let link = found.and_then(|(multibody, link)| multibody.link(link));
            let axis = axis(&motor.joint) as usize;
            link.map_or(0.0, |link| link.joint.coords()[axis])
        });
        positions.collect()
    }

    /// Total energy, J: kinetic energy and potential energy in the engine's gravity.
    pub fn energy(&self) -> f64 {
        let gravity = self.engine.world.gravity;
        let energies = self.bodies.iter().map(|number| {
            let body = self.engine.body(*number);
            body.kinetic_energy() - body.mass() * gravity.dot(body.center_of_mass())
        });
        energies.sum()
    }

    /// Sets the damping of the joints to the described values: the engine adds its own to rotating
    /// joints.
    fn set_damping(&mut self) {
        let count = self.motors.len();
        let Some(first) = self.motors.first() else {
            return;
        };
        let multibody = self.engine.world.multibody_joints.get_mut(first.handle);
        let Some((multibody, _)) = multibody else {
            return;
        };
        let damping = multibody.damping_mut();
        damping.fill(0.0);
        let before = damping.len() - count;
        for (value, motor) in damping.iter_mut().skip(before).zip(&self.motors) {
            *value = motor.joint.damping;
        }
    }

    /// Applies commands to the motors.
    fn apply(&mut self, commands: &[JointCommand], dt: f64) {
        for body in &self.bodies {
            let body = self.engine.body_mut(*body);
            body.reset_forces(false);
            body.reset_torques(false);
        }
        for (motor, command) in self.motors.iter_mut().zip(commands) {
            // Apply efforts and advance speed set points.
            if let JointCommand::Effort(effort) = command {
                apply_effort(&mut self.engine, motor, *effort);
            }
            if let JointCommand::Velocity(set_point) = command {
                let bound = motor.joint.velocity;
                let set_point = set_point.clamp(-bound, bound);
                motor.speed += (set_point - motor.speed) * -(-self.servo * dt).exp_m1();
            } else {
                motor.speed = 0.0;
            }

            // Configure the servo where its set point changes.
            let changes = motor.command != *command || matches!(command, JointCommand::Velocity(_));
            if changes {
                motor.command = *command;
                set_motor(&mut self.engine, motor, self.servo);
            }
        }
    }
}

impl Dynamics for RobotInEngine {
    type Command = Vec<JointCommand>;

    fn state(&self) -> MotionState {
        self.engine.state(self.bodies[0])
    }

    fn states(&self) -> Vec<MotionState> {
        let states = self.bodies.iter();
        states.map(|body| self.engine.state(*body)).collect()
    }

    fn step(&mut self, command: &Vec<JointCommand>, dt: f64) {
        self.apply(command, dt);
        self.engine.step(dt);
    }
}

/// Free axis of a joint of the engine.
fn axis(joint: &Joint) -> JointAxis {
    if joint.is_rotational() {
        JointAxis::AngX
    } else {
        JointAxis::LinX
    }
}

/// Connects the bodies by joints; returns the moving ones.
fn motors(engine: &mut Engine, robot: &JointedRobot, bodies: &[BodyNumber]) -> Vec<Motor> {
    let mut motors = Vec::new();
    let joints = robot.bodies()[1..].iter().zip(robot.moving_joints());
    for (number, (body, joint)) in joints.enumerate() {
        let parent = bodies[body.parent];
        let child = bodies[number + 1];
        let data = joint_data(joint, &body.parent_from_joint);
        let [first, second] = [parent, child].map(|body| engine.handle(body));
        let handle = engine.world.insert_multibody_joint(first, second, data);
        motors.push(Motor {
            joint: joint.clone(),
            handle: handle.expect("the bodies form a tree"),
            parent,
            child,
            command: JointCommand::Free,
            speed: 0.0,
        });
    }
    motors
}

/// Joint of the engine, along or about the x axis of its frames.
fn joint_data(joint: &Joint, parent_from_joint: &Isometry3<f64>) -> GenericJoint {
    let target = Unit::new_normalize(joint.axis);
    let rotation = UnitQuaternion::rotation_between_axis(&Vector3::x_axis(), &target);
    // For an axis opposite to x: rotation by pi about a perpendicular axis.
    let rotation =
        rotation.unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), PI));
    let along = Isometry3::from_parts(Translation3::identity(), rotation);
    let free = match joint.kind {
        JointKind::Prismatic => JointAxesMask::LOCKED_PRISMATIC_AXES,
        _ => JointAxesMask::LOCKED_REVOLUTE_AXES,
    };
    let mut data = GenericJoint::new(free);
    data.set_local_frame1(engine_pose(&(parent_from_joint * along)));
    data.set_local_frame2(engine_pose(&(joint.child_from_joint * along)));
    data.set_contacts_enabled(false);
    if let Some(limits) = joint.limits {
        data.set_limits(axis(joint), limits);
    }
    data
}

/// Applies a torque or force along the joint's axis between its bodies, limited by the joint's
/// effort.
fn apply_effort(engine: &mut Engine, motor: &Motor, effort: f64) {
    let joint = &motor.joint;
    let effort = effort.clamp(-joint.effort, joint.effort);
    let world_from_joint = engine.state(motor.child).world_from_body * joint.child_from_joint;
    let along = world_from_joint.rotation * joint.axis.normalize() * effort;
    let along = engine_vector(&along);
    for (body, sign) in [(motor.child, 1.0), (motor.parent, -1.0)] {
        let body = engine.body_mut(body);
        if joint.is_rotational() {
            body.add_torque(along * sign, true);
        } else {
            body.add_force_at_point(
                along * sign,
                engine_vector(&world_from_joint.translation.vector),
                true,
            );
        }
    }
}

/// Configures the servo of a motor by its command.
fn set_motor(engine: &mut Engine, motor: &Motor, servo: f64) {
    let joint = &motor.joint;
    let found = engine.world.multibody_joints.get_mut(motor.handle);
    let Some((multibody, link)) = found else {
        return;
    };
    let Some(link) = multibody.link_mut(link) else {
        return;
    };
    let data = &mut link.joint.data;
    let axis = axis(joint);
    data.motor_axes.remove(axis.into());
    match motor.command {
        JointCommand::Free | JointCommand::Effort(_) => return,
        JointCommand::Position(position) => {
            data.set_motor_position(axis, position, servo * servo, 2.0 * servo);
        }
        JointCommand::Velocity(_) => {
            data.set_motor_velocity(axis, motor.speed, RIGID);
        }
    }
    data.set_motor_model(axis, MotorModel::AccelerationBased);
    data.set_motor_max_force(axis, joint.effort.min(f64::MAX));
}

impl std::fmt::Debug for RobotInEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RobotInEngine of {} bodies", self.bodies.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_frames_follow_any_axis() {
        for axis in [Vector3::x(), -Vector3::x(), Vector3::new(1.0, -2.0, 0.5)] {
            let joint = Joint {
                axis,
                ..Joint::new("a", JointKind::Continuous, 0, 1)
            };
            let parent_from_joint = Isometry3::new(Vector3::y(), Vector3::z() * 1.5);
            let data = joint_data(&joint, &parent_from_joint);
            let own = Isometry3::from(data.local_frame2) * Vector3::x();
            assert!((own - axis.normalize()).norm() < 1e-12, "{own}");
            let between =
                Isometry3::from(data.local_frame1) * Isometry3::from(data.local_frame2).inverse();
            assert!((between.translation.vector - Vector3::y()).norm() < 1e-12);
        }
    }
}
