//! Tables of a robot's dynamics.

use crate::scene::{RotationDeg, pose_of_angles};
use crate::toml_file::{Document, DocumentError};
use nalgebra::Isometry3;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Command-driven motion of the robot; alternative to a prescribed motion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicsTable {
    /// Dynamics model. Default: `"bicycle"`.
    #[serde(default)]
    #[schemars(with = "Option<ModelName>")]
    pub model: Option<Spanned<ModelName>>,
    /// Steps per second. Default: 1000.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub rate_hz: Option<Spanned<f64>>,
    /// Initial position: of the centre of a vehicle's rear axle on the ground, or of a robot's root
    /// link.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Initial rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Collision geometry for the wheels and shapes in the physics engine. Default: the scene.
    #[serde(default)]
    pub ground: GroundName,
    /// Parameters of the vehicle, for `"bicycle"` and `"rapier-vehicle"`.
    #[serde(default)]
    #[schemars(with = "Option<VehicleTable>")]
    pub vehicle: Option<Spanned<VehicleTable>>,
    /// Whether the root link of `"urdf"` is fixed to the world.
    #[serde(default)]
    pub fixed_base: bool,
    /// Natural frequency of the position servos of joints. Default: 5 Hz. Velocity servos have the
    /// corresponding time constant.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub servo_hz: Option<Spanned<f64>>,
    /// Drive commands of a vehicle in chronological order; each holds until the next.
    #[serde(default)]
    #[schemars(with = "Vec<DriveTable>")]
    pub drive: Vec<Spanned<DriveTable>>,
    /// Joint commands of `"urdf"` and `"mjcf"` in chronological order; each holds until the next of
    /// its joint.
    #[serde(default)]
    pub joints: Vec<JointCommandTable>,
}

/// Dynamics model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// The kinematic bicycle: a car on level ground without slip.
    #[default]
    Bicycle,
    /// A rigid body on four sprung ray-cast wheels, in the physics engine.
    RapierVehicle,
    /// The links and joints of the robot's URDF file, in the physics engine.
    Urdf,
    /// The bodies and joints of the robot's MJCF file, in the physics engine.
    Mjcf,
}

/// Collision geometry of the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroundName {
    /// The objects of the scene at their initial poses.
    #[default]
    Scene,
    /// Only the plane z = 0.
    Plane,
}

/// A car. Defaults: a small passenger car.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VehicleTable {
    /// Distance between the axles.
    pub wheelbase_m: f64,
    /// Maximum steering angle.
    pub steering_deg: f64,
    /// Maximum rate of the steering angle, degrees per second.
    pub steering_rate_deg: f64,
    /// Maximum acceleration and deceleration.
    pub acceleration_mps2: f64,
    /// Distance between left and right wheels; this and the following parameters are for
    /// `"rapier-vehicle"`.
    pub track_m: f64,
    /// Length, width and height of the body.
    pub size_m: [f64; 3],
    /// Mass.
    pub mass_kg: f64,
    /// Height of the centre of mass, which is midway between the axles.
    pub centre_height_m: f64,
    /// Radius of the wheels.
    pub wheel_radius_m: f64,
    /// Natural frequency of the springs.
    pub suspension_hz: f64,
    /// Damping ratio of the springs.
    pub suspension_damping: f64,
    /// Friction coefficient of the tyres.
    pub friction: f64,
}

/// Drive command from a time on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveTable {
    /// Start time.
    pub at_s: f64,
    /// Speed.
    pub speed_mps: f64,
    /// Steering angle, positive to the left.
    #[serde(default)]
    pub steering_deg: f64,
}

/// Command of a joint from a time on: one of `position`, `velocity` and `effort`, or none to
/// release the joint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointCommandTable {
    /// Start time. Default: 0.
    #[serde(default)]
    pub at_s: f64,
    /// Name of the joint.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Position of a revolute joint.
    #[serde(default)]
    pub position_deg: Option<f64>,
    /// Position of a prismatic joint.
    #[serde(default)]
    pub position_m: Option<f64>,
    /// Velocity of a revolute joint.
    #[serde(default)]
    pub velocity_deg_s: Option<f64>,
    /// Velocity of a prismatic joint.
    #[serde(default)]
    pub velocity_mps: Option<f64>,
    /// Torque of a revolute joint.
    #[serde(default)]
    pub torque_nm: Option<f64>,
    /// Force of a prismatic joint.
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
