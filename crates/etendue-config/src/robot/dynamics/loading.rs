//! Conversion of the `[dynamics]` table.

use super::{
    DriveTable, Driven, DynamicsTable, Ground, GroundName, JointCommandTable, ModelName, Mover,
    MoverModel, Schedule, VehicleTable,
};
use crate::ConfigError;
use crate::robot::{Mjcf, Urdf};
use crate::toml_file::{Document, DocumentError, TomlProblem, UnknownName};
use etendue_sensors::dynamics::jointed::{Joint, JointCommand, JointedRobot};
use etendue_sensors::dynamics::{DriveCommand, Steering, Vehicle};
use etendue_sensors::rig::{ControlPlan, Rate, nanoseconds};
use std::ops::Range;
use toml::Spanned;

/// Default natural frequency of servos, Hz.
const SERVO: f64 = 5.0;
/// Rate of the commands, Hz.
const CONTROL: f64 = 100.0;

impl DynamicsTable {
    /// Dynamics model of the robot and its commands; `urdf` and `mjcf` are the robot's files.
    pub(in crate::robot) fn driven(
        &self,
        document: &Document,
        urdf: Option<&Urdf>,
        mjcf: Option<&Mjcf>,
    ) -> Result<Driven, ConfigError> {
        // Build the model
        let name = self
            .model
            .as_ref()
            .map_or(ModelName::Bicycle, |m| *m.get_ref());
        if name != ModelName::Bicycle {
            self.needs_engine(document)?;
        }
        let model = match name {
            ModelName::Bicycle => MoverModel::Bicycle(self.checked_vehicle(document)?),
            ModelName::RapierVehicle => MoverModel::Vehicle(self.checked_vehicle(document)?),
            ModelName::Urdf => {
                let robot = urdf.map(|urdf| urdf.robot(self.fixed_base)).transpose()?;
                self.jointed(document, robot, "URDF")?
            }
            ModelName::Mjcf => {
                let robot = mjcf.map(|mjcf| mjcf.robot.clone());
                self.jointed(document, robot, "MJCF")?
            }
        };
        // Schedule the commands
        let schedule = self.schedule(document, &model)?;
        let rate = self.rate(document)?;
        Ok(Driven {
            mover: Mover {
                model,
                start: self.start(document)?,
                ground: match self.ground {
                    GroundName::Scene => Ground::Scene,
                    GroundName::Plane => Ground::Plane,
                },
            },
            plan: ControlPlan {
                dynamics: rate,
                control: Rate::from_hertz(CONTROL).expect("a good rate"),
            },
            schedule,
        })
    }

    fn model_span(&self) -> Range<usize> {
        self.model.as_ref().map_or(0..0, Spanned::span)
    }

    fn needs_engine(&self, document: &Document) -> Result<(), DocumentError> {
        if cfg!(feature = "rapier") {
            return Ok(());
        }
        let problem = TomlProblem::value(
            "this program was built without the physics engine",
            "build it with `cargo build --release -p etendue-cli --features rapier`, or use \
             model = \"bicycle\"",
        );
        Err(document.error(self.model_span(), problem))
    }

    fn rate(&self, document: &Document) -> Result<Rate, DocumentError> {
        let hertz = self.rate_hz.as_ref().map_or(1000.0, |rate| *rate.get_ref());
        let span = self.rate_hz.as_ref().map_or(0..0, Spanned::span);
        Rate::from_hertz(hertz).map_err(|error| {
            document.error(
                span,
                TomlProblem::value(error.to_string(), "give a rate above zero"),
            )
        })
    }

    fn checked_vehicle(&self, document: &Document) -> Result<Vehicle, DocumentError> {
        let span = self.vehicle.as_ref().map_or(0..0, Spanned::span);
        let vehicle = match &self.vehicle {
            Some(table) => table.get_ref().vehicle(),
            None => VehicleTable::default().vehicle(),
        };
        match vehicle.problem() {
            None => Ok(vehicle),
            Some(problem) => {
                let problem = TomlProblem::value(problem, "correct the parameters of the vehicle");
                Err(document.error(span, problem))
            }
        }
    }

    fn jointed(
        &self,
        document: &Document,
        robot: Option<JointedRobot>,
        kind: &str,
    ) -> Result<MoverModel, DocumentError> {
        // Require the robot's file
        let Some(robot) = robot else {
            let key = kind.to_lowercase();
            let problem = TomlProblem::value(
                format!("the robot has no {kind} file"),
                format!("add one above all tables: {key} = \"robot.{key}\""),
            );
            return Err(document.error(self.model_span(), problem));
        };
        // Check the servo frequency
        let servo = self
            .servo_hz
            .as_ref()
            .map_or(SERVO, |servo| *servo.get_ref());
        if !(servo > 0.0 && servo.is_finite()) {
            let span = self.servo_hz.as_ref().map_or(0..0, Spanned::span);
            let problem = TomlProblem::value(
                format!("the natural frequency of the servos is {servo} Hz"),
                "give a frequency above zero",
            );
            return Err(document.error(span, problem));
        }
        Ok(MoverModel::Jointed {
            robot: Box::new(robot),
            servo,
        })
    }

    fn schedule(&self, document: &Document, model: &MoverModel) -> Result<Schedule, DocumentError> {
        let mut schedule = Schedule::default();
        // Collect the commands for the model; other commands are an error
        match model {
            MoverModel::Bicycle(_) | MoverModel::Vehicle(_) => {
                for table in &self.drive {
                    schedule
                        .drive
                        .push(table.get_ref().command(document, table.span())?);
                }
                if let Some(table) = self.joints.first() {
                    let problem = TomlProblem::value(
                        "a vehicle has no joints to command",
                        "use [[dynamics.drive]], or model = \"urdf\"",
                    );
                    return Err(document.error(table.name.span(), problem));
                }
            }
            MoverModel::Jointed { robot, .. } => {
                schedule.joint_count = robot.moving_joints().count();
                for table in &self.joints {
                    schedule.joints.push(table.command(document, robot)?);
                }
                if let Some(table) = self.drive.first() {
                    let problem = TomlProblem::value(
                        "drive commands are for vehicles",
                        "use [[dynamics.joints]], or another model",
                    );
                    return Err(document.error(table.span(), problem));
                }
            }
        }
        // Sort them by time
        schedule.drive.sort_by_key(|(from, _)| *from);
        schedule.joints.sort_by_key(|(from, ..)| *from);
        Ok(schedule)
    }
}

impl VehicleTable {
    fn vehicle(&self) -> Vehicle {
        Vehicle {
            steering: Steering {
                wheelbase: self.wheelbase_m,
                angle: self.steering_deg.to_radians(),
                rate: self.steering_rate_deg.to_radians(),
                acceleration: self.acceleration_mps2,
            },
            track: self.track_m,
            size: self.size_m,
            mass: self.mass_kg,
            centre_height: self.centre_height_m,
            wheel_radius: self.wheel_radius_m,
            suspension_frequency: self.suspension_hz,
            suspension_damping: self.suspension_damping,
            friction: self.friction,
        }
    }
}

impl DriveTable {
    fn command(
        &self,
        document: &Document,
        span: Range<usize>,
    ) -> Result<(i64, DriveCommand), DocumentError> {
        if ![self.at_s, self.speed_mps, self.steering_deg]
            .iter()
            .all(|n| n.is_finite())
        {
            let problem = TomlProblem::value("a number is not finite", "give finite numbers");
            return Err(document.error(span, problem));
        }
        let command = DriveCommand {
            speed: self.speed_mps,
            steering: self.steering_deg.to_radians(),
        };
        Ok((nanoseconds(self.at_s), command))
    }
}

impl JointCommandTable {
    fn command(
        &self,
        document: &Document,
        robot: &JointedRobot,
    ) -> Result<(i64, usize, JointCommand), DocumentError> {
        let name = self.name.get_ref();
        let Some(number) = robot.moving_joint(name) else {
            let known = robot.moving_joints().map(|joint| joint.name.clone());
            let unknown = UnknownName::new("joint", name, known);
            return Err(document.error(self.name.span(), unknown.into()));
        };
        let joint = robot.moving_joints().nth(number).expect("found there");
        match self.joint_command(joint) {
            Ok(command) => Ok((nanoseconds(self.at_s), number, command)),
            Err([message, remedy]) => {
                let problem = TomlProblem::value(message, remedy);
                Err(document.error(self.name.span(), problem))
            }
        }
    }

    /// The single command of a table for the joint, or message and remedy of the error.
    fn joint_command(&self, joint: &Joint) -> Result<JointCommand, [String; 2]> {
        // Select the keys of a revolute or a prismatic joint
        let turning = [self.position_deg, self.velocity_deg_s, self.torque_nm];
        let sliding = [self.position_m, self.velocity_mps, self.force_n];
        let (given, other, keys) = if joint.is_rotational() {
            (
                turning,
                sliding,
                "position_deg, velocity_deg_s or torque_nm",
            )
        } else {
            (sliding, turning, "position_m, velocity_mps or force_n")
        };

        // Check that there is one finite number with a key of the joint
        let numbers = given.iter().flatten().count();
        if numbers > 1 || other.iter().any(Option::is_some) {
            let motion = if joint.is_rotational() {
                "turns"
            } else {
                "slides"
            };
            return Err([
                format!(
                    "the joint \"{}\" {motion} and takes one command at a time",
                    joint.name
                ),
                format!("give one of {keys}"),
            ]);
        }
        if given.iter().flatten().any(|number| !number.is_finite()) {
            return Err(["the command is not finite".into(), "give a number".into()]);
        }

        // Convert it to SI units
        let unit = if joint.is_rotational() {
            1.0_f64.to_radians()
        } else {
            1.0
        };
        let [position, velocity, effort] = given;
        if let Some(position) = position {
            return within(joint, position * unit).map(JointCommand::Position);
        }
        Ok(match (velocity, effort) {
            (Some(velocity), _) => JointCommand::Velocity(velocity * unit),
            (None, Some(effort)) => JointCommand::Effort(effort),
            (None, None) => JointCommand::Free,
        })
    }
}

fn within(joint: &Joint, position: f64) -> Result<f64, [String; 2]> {
    match joint.limits {
        Some([low, high]) if !(low..=high).contains(&position) => Err([
            format!(
                "the position is beyond the limits of the joint \"{}\"",
                joint.name
            ),
            format!("its limits are {low} to {high} (rad or m)"),
        ]),
        _ => Ok(position),
    }
}
