//! A rig and its mounted sensors.

use super::device::Device;
use super::error::RigError;
use super::frames::FrameTree;
use crate::capture::{Clock, Rate, nanoseconds};
use crate::filter::{Filter, FilterGraph};
use nalgebra::Isometry3;

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
    graph: FilterGraph,
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
        let graph =
            FilterGraph::new(device.kind(), mount.filters).map_err(|source| RigError::Graph {
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
    pub fn graph(&self) -> &FilterGraph {
        &self.graph
    }

    /// Names of its outputs: its own, then those of its filters' taps.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.graph.taps())
    }
}
