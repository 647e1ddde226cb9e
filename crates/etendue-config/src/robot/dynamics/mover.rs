//! Dynamics models of robots.

use super::Orders;
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use etendue_sensors::dynamics::jointed::JointedRobot;
use etendue_sensors::dynamics::{Bicycle, Dynamics, Vehicle};
use nalgebra::{Isometry3, Vector3};

/// Description of a robot's dynamics.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// The model.
    pub model: MoverModel,
    /// Initial pose.
    pub start: Isometry3<f64>,
    /// Ground.
    pub ground: Ground,
}

/// A dynamics model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MoverModel {
    /// The kinematic bicycle.
    Bicycle(Vehicle),
    /// A rigid body on ray-cast wheels.
    Vehicle(Vehicle),
    /// Articulated links and joints.
    Jointed {
        /// The robot.
        robot: Box<JointedRobot>,
        /// Natural frequency of its servos, Hz.
        servo: f64,
    },
}

/// The ground of a robot in the physics engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    /// The objects of the scene at their initial poses.
    #[default]
    Scene,
    /// The plane z = 0.
    Plane,
}

impl Mover {
    /// Creates the dynamics of the robot at its initial pose, at rest, with a gravity (m/s²).
    ///
    /// # Errors
    /// If it needs the physics engine and the program was built without it, or the engine does not
    /// support a shape.
    pub fn start(
        &self,
        scene: &Scene,
        gravity: Vector3<f64>,
    ) -> Result<Box<dyn Dynamics<Command = Orders>>, String> {
        match &self.model {
            MoverModel::Bicycle(vehicle) => {
                let at = self.start.translation;
                let (_, _, yaw) = self.start.rotation.euler_angles();
                let bicycle = Bicycle::new(vehicle.steering, [at.x, at.y], yaw);
                Ok(Box::new(Driver(bicycle)))
            }
            model => self.start_engine(model, scene, gravity),
        }
    }

    #[cfg(not(feature = "rapier"))]
    #[expect(clippy::unused_self, reason = "the version with the engine uses it")]
    fn start_engine(
        &self,
        _model: &MoverModel,
        _scene: &Scene,
        _gravity: Vector3<f64>,
    ) -> Result<Box<dyn Dynamics<Command = Orders>>, String> {
        Err("this program was built without the physics engine".into())
    }

    #[cfg(feature = "rapier")]
    fn start_engine(
        &self,
        model: &MoverModel,
        scene: &Scene,
        gravity: Vector3<f64>,
    ) -> Result<Box<dyn Dynamics<Command = Orders>>, String> {
        use etendue_sensors::dynamics::rapier::{Engine, RayCastVehicle, RobotInEngine};
        let mut engine = Engine::new(gravity);
        match self.ground {
            Ground::Scene => engine.add_scene(scene).map_err(|error| error.to_string())?,
            Ground::Plane => engine.add_ground_plane(),
        }
        Ok(match model {
            MoverModel::Bicycle(vehicle) | MoverModel::Vehicle(vehicle) => {
                Box::new(Driver(RayCastVehicle::new(engine, vehicle, &self.start)))
            }
            MoverModel::Jointed { robot, servo } => {
                let robot = RobotInEngine::new(engine, robot, &self.start, *servo);
                Box::new(Joints(robot.map_err(|error| error.to_string())?))
            }
        })
    }
}

/// A vehicle that follows commands.
struct Driver<D>(D);

impl<D: Dynamics<Command = etendue_sensors::dynamics::DriveCommand>> Dynamics for Driver<D> {
    type Command = Orders;

    fn state(&self) -> MotionState {
        self.0.state()
    }

    fn step(&mut self, command: &Orders, dt: f64) {
        self.0.step(&command.drive, dt);
    }
}

/// An articulated robot that follows commands.
#[cfg(feature = "rapier")]
struct Joints(etendue_sensors::dynamics::rapier::RobotInEngine);

#[cfg(feature = "rapier")]
impl Dynamics for Joints {
    type Command = Orders;

    fn state(&self) -> MotionState {
        self.0.state()
    }

    fn states(&self) -> Vec<MotionState> {
        self.0.states()
    }

    fn step(&mut self, command: &Orders, dt: f64) {
        self.0.step(&command.joints, dt);
    }
}
