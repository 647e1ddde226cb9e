//! Robots that carry sensors: frames, clocks, and one run that drives them all.
//!
//! A [`Rig`] is what a robot file describes: [`MountedSensor`]s, each a [`Device`] in a frame with
//! its own [`Clock`] and its own filters ([`crate::filter`]). A [`RigRun`] is fed with motion and
//! gives [`Event`]s: what a capture gathered from its start to its end is there at its end plus the
//! sensor's lag, in simulation time. [`drive`] closes the loop with dynamics and a controller;
//! [`replay`] follows a motion that is known.
//!
//! Stamps are whole nanoseconds; rates are exact however slow the machine is. Every sensor draws
//! its noise from streams of its own, so the data do not depend on threads, on the length of the
//! steps that a run is fed with, or on the other sensors.
//!
//! Left out: objects of the scene that the robot itself moves.

mod clock;
mod data;
mod device;
mod drive;
mod environment;
mod frames;
mod run;

pub use clock::{Capture, Clock, ClockError, Rate, SECOND, nanoseconds, seconds};
pub use data::{Cloud, CloudPoint, Data, DataKind};
pub use device::{Device, Gnss, MountedCamera};
pub use drive::{Latest, Observer, Plan, drive, replay};
pub use environment::Environment;
pub use frames::{FrameDeclaration, FrameError, FrameTree};
pub use run::{Event, Moment, RigRun};

use crate::camera::CameraWorldError;
use crate::filter::{Filter, Graph, GraphError};
use crate::transport::WorldError;
use nalgebra::Isometry3;
use thiserror::Error;

/// A robot's sensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    /// The robot's frames.
    pub frames: FrameTree,
    sensors: Vec<MountedSensor>,
}

/// A sensor on a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedSensor {
    name: String,
    frame: String,
    base_from_sensor: Isometry3<f64>,
    body: usize,
    body_from_sensor: Isometry3<f64>,
    device: Device,
    clock: Clock,
    graph: Graph,
}

/// How a sensor is to be mounted.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// The sensor's name, which no other has.
    pub name: String,
    /// The frame that it sits on.
    pub frame: String,
    /// Where on that frame.
    pub frame_from_sensor: Isometry3<f64>,
    /// Captures a second, Hz; none for a sensor whose own motion sets them.
    pub rate: Option<f64>,
    /// When the first capture begins, s; zero for a sensor whose own motion sets it.
    pub offset: f64,
    /// How long data are gathered, s; none for a sensor whose own motion sets it, or at an instant.
    pub window: Option<f64>,
    /// From the end of a capture until its data are there, s.
    pub lag: f64,
    /// What its data pass through.
    pub filters: Vec<Filter>,
}

/// Why a rig cannot be, or cannot run.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigError {
    /// A sensor sits on a frame that is not there.
    #[error("the sensor \"{sensor}\" sits on the frame \"{frame}\", which is not there")]
    UnknownFrame {
        /// The sensor.
        sensor: String,
        /// The frame.
        frame: String,
    },
    /// Two sensors, or taps, have one name.
    #[error("two outputs are named \"{name}\"")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A sensor's clock cannot be.
    #[error("the sensor \"{sensor}\": {source}")]
    Clock {
        /// The sensor.
        sensor: String,
        /// What is wrong.
        source: ClockError,
    },
    /// A sensor without its own rate was given none.
    #[error("the sensor \"{sensor}\" has no rate")]
    NoRate {
        /// The sensor.
        sensor: String,
    },
    /// A sensor whose own motion sets its times was given others.
    #[error("the sensor \"{sensor}\" sets its {what} itself: {own}")]
    OwnTiming {
        /// The sensor.
        sensor: String,
        /// What was given.
        what: &'static str,
        /// What it is.
        own: String,
    },
    /// A sensor's filters do not fit each other.
    #[error("the sensor \"{sensor}\": {source}")]
    Graph {
        /// The sensor.
        sensor: String,
        /// What does not fit.
        source: GraphError,
    },
    /// The scene's materials do not cover a sensor's wavelength.
    #[error("the sensor \"{sensor}\": {source}")]
    World {
        /// The sensor.
        sensor: String,
        /// What is missing.
        source: WorldError,
    },
    /// The scene cannot be photographed.
    #[error("the sensor \"{sensor}\": {source}")]
    CameraWorld {
        /// The sensor.
        sensor: String,
        /// Why.
        source: CameraWorldError,
    },
}

impl Rig {
    /// A robot without sensors yet.
    pub fn new(frames: FrameTree) -> Self {
        Self {
            frames,
            sensors: Vec::new(),
        }
    }

    /// Mounts a sensor.
    ///
    /// # Errors
    /// Where its frame is not there, its name is taken, its clock cannot be, or its filters do not
    /// fit each other.
    pub fn mount(&mut self, mount: Mount, device: Device) -> Result<(), RigError> {
        let places = self.frames.base_from(&mount.frame);
        let places = places.zip(self.frames.on_body(&mount.frame));
        let (base_from_frame, (body, body_from_frame)) =
            places.ok_or_else(|| RigError::UnknownFrame {
                sensor: mount.name.clone(),
                frame: mount.frame.clone(),
            })?;
        let clock = clock(&mount, &device)?;
        let graph = Graph::new(device.kind(), mount.filters).map_err(|source| RigError::Graph {
            sensor: mount.name.clone(),
            source,
        })?;
        let sensor = MountedSensor {
            base_from_sensor: base_from_frame * mount.frame_from_sensor,
            body,
            body_from_sensor: body_from_frame * mount.frame_from_sensor,
            name: mount.name,
            frame: mount.frame,
            device,
            clock,
            graph,
        };
        if let Some(name) = self.taken(&sensor) {
            return Err(RigError::Duplicate { name });
        }
        self.sensors.push(sensor);
        Ok(())
    }

    /// A name that a sensor would give to two outputs.
    fn taken(&self, sensor: &MountedSensor) -> Option<String> {
        let mut names: Vec<&str> = self
            .sensors
            .iter()
            .flat_map(MountedSensor::outputs)
            .collect();
        for name in sensor.outputs() {
            if names.contains(&name) {
                return Some(name.into());
            }
            names.push(name);
        }
        None
    }

    /// The sensors, by number.
    pub fn sensors(&self) -> &[MountedSensor] {
        &self.sensors
    }
}

/// The clock that is asked for, or that the sensor's own motion sets.
fn clock(mount: &Mount, device: &Device) -> Result<Clock, RigError> {
    let sensor = || mount.name.clone();
    let wrong = |source| RigError::Clock {
        sensor: sensor(),
        source,
    };
    let Some([own_rate, own_window]) = device.own_timing() else {
        let rate = mount
            .rate
            .ok_or_else(|| RigError::NoRate { sensor: sensor() })?;
        let rate = Rate::from_hertz(rate).map_err(wrong)?;
        let window = mount.window.unwrap_or(0.0);
        return Clock::new(rate, mount.offset, window, mount.lag).map_err(wrong);
    };
    let other = |what, own| RigError::OwnTiming {
        sensor: sensor(),
        what,
        own,
    };
    if let Some(rate) = mount.rate {
        Rate::from_hertz(rate).map_err(wrong)?;
        if (rate / own_rate - 1.0).abs() > 1e-6 {
            return Err(other("rate", format!("{own_rate} Hz")));
        }
    }
    if mount.window.is_some() {
        return Err(other("collection window", format!("{own_window} s")));
    }
    if mount.offset != 0.0 {
        return Err(other("first capture", "at the start of the run".into()));
    }
    let rate = Rate::from_hertz(own_rate).map_err(wrong)?;
    let clock = Clock::new(rate, 0.0, 0.0, mount.lag).map_err(wrong)?;
    Ok(Clock {
        window: nanoseconds(own_window),
        ..clock
    })
}

impl MountedSensor {
    /// Its name, which is that of its filtered output.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The frame that it sits on.
    pub fn frame(&self) -> &str {
        &self.frame
    }

    /// Where it sits on the base, with all joints in their zero position.
    pub fn base_from_sensor(&self) -> &Isometry3<f64> {
        &self.base_from_sensor
    }

    /// The number of the body that carries it ([`FrameTree::bodies`]).
    pub fn body(&self) -> usize {
        self.body
    }

    /// Where it sits on that body.
    pub fn body_from_sensor(&self) -> &Isometry3<f64> {
        &self.body_from_sensor
    }

    /// What it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// When it captures.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What its data pass through.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Names of its outputs: its own, then those of its filters' taps.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.graph.taps())
    }
}
