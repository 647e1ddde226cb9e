//! Tables of a robot's dynamics.

use crate::scene::{RotationDeg, pose_of_angles};
use crate::toml_file::{Document, DocumentError};
use nalgebra::Isometry3;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// How commands move the robot, instead of a motion that is known.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicsTable {
    /// What moves it: `"bicycle"` where it is left out.
    #[serde(default)]
    #[schemars(with = "Option<ModelName>")]
    pub model: Option<Spanned<ModelName>>,
    /// Steps a second: 1000 where it is left out.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub rate_hz: Option<Spanned<f64>>,
    /// Where it starts: the middle of a vehicle's rear axle on the ground, or a robot's root link.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned at the start.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// What an engine's wheels and shapes stand on and bump into: the scene where it is left out.
    #[serde(default)]
    pub ground: GroundName,
    /// The vehicle, of `"bicycle"` and `"rapier-vehicle"`.
    #[serde(default)]
    #[schemars(with = "Option<VehicleTable>")]
    pub vehicle: Option<Spanned<VehicleTable>>,
    /// Whether the root link of `"urdf"` is fixed to the world.
    #[serde(default)]
    pub fixed_base: bool,
    /// Natural frequency of the position servos of joints: 5 Hz where it is left out. Speeds are
    /// followed with the time constant that belongs to it.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub servo_hz: Option<Spanned<f64>>,
    /// What the driver of a vehicle does, in the order of time; each holds until the next.
    #[serde(default)]
    #[schemars(with = "Vec<DriveTable>")]
    pub drive: Vec<Spanned<DriveTable>>,
    /// Commands of the joints of `"urdf"` and `"mjcf"`, in the order of time; each holds until the joint's
    /// next.
    #[serde(default)]
    pub joints: Vec<JointCommandTable>,
}

/// What moves a robot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// The kinematic bicycle: a car on level ground that rolls without slipping.
    #[default]
    Bicycle,
    /// A rigid body on four sprung ray-cast wheels, by the physics engine.
    RapierVehicle,
    /// The links and joints of the robot's URDF file, by the physics engine.
    Urdf,
    /// The bodies and joints of the robot's MJCF file, by the physics engine.
    Mjcf,
}

/// What robots stand on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroundName {
    /// The scene's objects, where they are at the start.
    #[default]
    Scene,
    /// The plane z = 0 alone.
    Plane,
}

/// A car. What is left out is that of a small passenger car.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VehicleTable {
    /// Distance between the axles.
    pub wheelbase_m: f64,
    /// Largest steering angle.
    pub steering_deg: f64,
    /// Largest change of the steering angle in a second.
    pub steering_rate_deg: f64,
    /// Largest acceleration and deceleration.
    pub acceleration_mps2: f64,
    /// Distance between left and right wheels (what follows is of `"rapier-vehicle"`).
    pub track_m: f64,
    /// Length, width and height of the body.
    pub size_m: [f64; 3],
    /// Mass.
    pub mass_kg: f64,
    /// Height of the centre of mass, which is in the middle between the axles.
    pub centre_height_m: f64,
    /// Radius of the wheels.
    pub wheel_radius_m: f64,
    /// Natural frequency of the springs.
    pub suspension_hz: f64,
    /// Damping of the springs, of the critical.
    pub suspension_damping: f64,
    /// Friction of the tyres.
    pub friction: f64,
}

/// What a driver does from a time on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveTable {
    /// When.
    pub at_s: f64,
    /// Speed.
    pub speed_mps: f64,
    /// Steering angle, to the left.
    #[serde(default)]
    pub steering_deg: f64,
}

/// Command of a joint from a time on: one of `position`, `velocity` and `effort`, or none to let
/// it go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointCommandTable {
    /// When; 0 where it is left out.
    #[serde(default)]
    pub at_s: f64,
    /// The joint.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Position of a joint that turns.
    #[serde(default)]
    pub position_deg: Option<f64>,
    /// Position of a joint that slides.
    #[serde(default)]
    pub position_m: Option<f64>,
    /// Speed of a joint that turns.
    #[serde(default)]
    pub velocity_deg_s: Option<f64>,
    /// Speed of a joint that slides.
    #[serde(default)]
    pub velocity_mps: Option<f64>,
    /// Torque of a joint that turns.
    #[serde(default)]
    pub torque_nm: Option<f64>,
    /// Force of a joint that slides.
    #[serde(default)]
    pub force_n: Option<f64>,
}

impl Default for VehicleTable {
    fn default() -> Self {
        Self {
            wheelbase_m: 2.6,
            steering_deg: 32.0,
            steering_rate_deg: 45.0,
            acceleration_mps2: 2.0,
            track_m: 1.5,
            size_m: [4.1, 1.75, 1.2],
            mass_kg: 1200.0,
            centre_height_m: 0.5,
            wheel_radius_m: 0.3,
            suspension_hz: 1.5,
            suspension_damping: 0.6,
            friction: 0.9,
        }
    }
}

impl DynamicsTable {
    pub(super) fn start(&self, document: &Document) -> Result<Isometry3<f64>, DocumentError> {
        pose_of_angles(
            document,
            self.position_m.as_ref(),
            self.rotation_deg.as_ref(),
        )
    }
}
