//! A rig and its mounted sensors.

use super::device::Device;
use super::error::RigError;
use super::frames::FrameTree;
use crate::capture::{Clock, Rate, nanoseconds};
use crate::filter::{Filter, FilterGraph};
use nalgebra::Isometry3;

/// The sensors of a robot.
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

/// Mounting of a sensor: name, pose, timing and filters.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// Unique name of the sensor.
    pub name: String,
    /// Frame on which the sensor is mounted.
    pub frame: String,
    /// Pose of the sensor in that frame.
    pub frame_from_sensor: Isometry3<f64>,
    /// Capture rate, Hz; `None` for a sensor whose description sets it.
    pub rate: Option<f64>,
    /// Start of the first capture, s; zero for a sensor whose description sets it.
    pub offset: f64,
    /// Duration of a capture, s; `None` for a sensor whose description sets it, or for an instant.
    pub window: Option<f64>,
    /// Latency from the end of a capture to the arrival of its data, s.
    pub latency: f64,
    /// Filters of its data.
    pub filters: Vec<Filter>,
}

impl Rig {
    /// A rig without sensors.
    pub fn new(frames: FrameTree) -> Self {
        Self {
            frames,
            sensors: Vec::new(),
        }
    }

    /// Mounts a sensor.
    ///
    /// # Errors
    /// If its frame does not exist, its name is in use, its clock is invalid, or its filters do not form a
    /// graph.
    pub fn mount(&mut self, mount: Mount, device: Device) -> Result<(), RigError> {
        // Find the pose of the frame on the base and on its body.
        let base_from_frame = self.frames.base_from(&mount.frame);
        let poses = base_from_frame.zip(self.frames.pose_on_body(&mount.frame));
        let (base_from_frame, (body, body_from_frame)) =
            poses.ok_or_else(|| RigError::UnknownFrame {
                sensor: mount.name.clone(),
                frame: mount.frame.clone(),
            })?;

        // Check timing, filters and names.
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

    /// An output name of the sensor that is already in use.
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

    /// The sensors, by index.
    pub fn sensors(&self) -> &[MountedSensor] {
        &self.sensors
    }
}

/// The configured clock, or that of the sensor's description.
fn clock(mount: &Mount, device: &Device) -> Result<Clock, RigError> {
    let sensor = || mount.name.clone();
    let invalid = |source| RigError::Clock {
        sensor: sensor(),
        source,
    };
    // Without timing in the description, the mount defines it.
    let Some([own_rate, own_window]) = device.own_timing() else {
        let rate = mount
            .rate
            .ok_or_else(|| RigError::NoRate { sensor: sensor() })?;
        let rate = Rate::from_hertz(rate).map_err(invalid)?;
        let window = mount.window.unwrap_or(0.0);
        return Clock::new(rate, mount.offset, window, mount.latency).map_err(invalid);
    };

    // The description defines the timing: nothing else may be configured.
    let other = |what, own| RigError::OwnTiming {
        sensor: sensor(),
        what,
        own,
    };
    if let Some(rate) = mount.rate {
        Rate::from_hertz(rate).map_err(invalid)?;
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
    let rate = Rate::from_hertz(own_rate).map_err(invalid)?;
    let clock = Clock::new(rate, 0.0, 0.0, mount.latency).map_err(invalid)?;
    Ok(Clock {
        window: nanoseconds(own_window),
        ..clock
    })
}

impl MountedSensor {
    /// Name of the sensor and of its filtered output.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Frame on which the sensor is mounted.
    pub fn frame(&self) -> &str {
        &self.frame
    }

    /// Pose of the sensor on the base with all joints at zero.
    pub fn base_from_sensor(&self) -> &Isometry3<f64> {
        &self.base_from_sensor
    }

    /// Index of the body that carries the sensor ([`FrameTree::bodies`]).
    pub fn body(&self) -> usize {
        self.body
    }

    /// Pose of the sensor on that body.
    pub fn body_from_sensor(&self) -> &Isometry3<f64> {
        &self.body_from_sensor
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Clock of its captures.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Filters of its data.
    pub fn graph(&self) -> &FilterGraph {
        &self.graph
    }

    /// Names of the outputs: that of the sensor, then those of the taps in its filters.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.graph.taps())
    }
}
