//! What moves a robot.

use super::Orders;
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use etendue_sensors::dynamics::jointed::JointedRobot;
use etendue_sensors::dynamics::{Bicycle, Dynamics, Vehicle};
use nalgebra::{Isometry3, Vector3};

/// What moves a robot, as a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// The model.
    pub model: Model,
    /// Where it starts.
    pub start: Isometry3<f64>,
    /// The ground that it is on.
    pub ground: Ground,
}

/// A model of motion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// The kinematic bicycle.
    Bicycle(Vehicle),
    /// A rigid body on ray-cast wheels.
    Vehicle(Vehicle),
    /// Links and joints.
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
    /// The scene's objects, where they are at the start.
    #[default]
    Scene,
    /// The plane z = 0.
    Plane,
}

impl Mover {
    /// The robot at its start, at rest, under a gravity (m/s²).
    ///
    /// # Errors
    /// Where it needs the physics engine and the program was built without, or the engine cannot
    /// take a shape; in words.
    pub fn start(
        &self,
        scene: &Scene,
        gravity: Vector3<f64>,
    ) -> Result<Box<dyn Dynamics<Command = Orders>>, String> {
        match &self.model {
            Model::Bicycle(vehicle) => {
                let at = self.start.translation;
                let (_, _, yaw) = self.start.rotation.euler_angles();
                let bicycle = Bicycle::new(vehicle.steering, [at.x, at.y], yaw);
                Ok(Box::new(Driver(bicycle)))
            }
            model => self.start_engine(model, scene, gravity),
        }
    }

    #[cfg(not(feature = "rapier"))]
    #[expect(clippy::unused_self, reason = "the engine's needs it")]
    fn start_engine(
        &self,
        _model: &Model,
        _scene: &Scene,
        _gravity: Vector3<f64>,
    ) -> Result<Box<dyn Dynamics<Command = Orders>>, String> {
        Err("this program was built without the physics engine".into())
    }

    #[cfg(feature = "rapier")]
    fn start_engine(
        &self,
        model: &Model,
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
            Model::Bicycle(vehicle) | Model::Vehicle(vehicle) => {
                Box::new(Driver(RayCastVehicle::new(engine, vehicle, &self.start)))
            }
            Model::Jointed { robot, servo } => {
                let robot = RobotInEngine::new(engine, robot, &self.start, *servo);
                Box::new(Joints(robot.map_err(|error| error.to_string())?))
            }
        })
    }
}

/// A vehicle under orders.
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

/// A robot of joints under orders.
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
