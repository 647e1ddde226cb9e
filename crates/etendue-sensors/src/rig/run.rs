//! A run of all sensors of a rig.

use super::device::{Device, StartError};
use super::error::RigError;
use super::mounting::{MountedSensor, Rig};
use super::processor::Processor;
use crate::capture::{Capture, CaptureContext, Data, Environment, Instrument};
use crate::dynamics::StateTrajectory;
use crate::filter::{FilterContext, FilterGraphRun};
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Arrival of data at the robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Index of the sensor in its rig.
    pub sensor: usize,
    /// Output of the sensor: 0 is the end of the filters, the others are taps
    /// ([`MountedSensor::outputs`]).
    pub output: usize,
    /// Times of the capture and of the arrival.
    pub capture: Capture,
    /// The data.
    pub data: Data,
}

/// The trajectory of one body of a robot.
struct BodyTrajectory<'a> {
    trajectory: &'a dyn StateTrajectory,
    body: usize,
}

impl StateTrajectory for BodyTrajectory<'_> {
    fn state(&self, time: f64) -> MotionState {
        self.trajectory.state_of(self.body, time)
    }
}

/// A run of all sensors of a rig.
///
/// [`RigRun::advance`] moves it along a trajectory. Captures begin before the end of the run;
/// [`RigRun::is_done`] is true when all are delivered.
pub struct RigRun<'a> {
    rig: &'a Rig,
    scene: &'a Scene,
    environment: &'a Environment,
    sensors: Vec<RunningSensor<'a>>,
    processor: Option<&'a dyn Processor>,
}

/// A running sensor with its filters and pending data.
struct RunningSensor<'a> {
    sensor: &'a MountedSensor,
    instrument: Box<dyn Instrument + 'a>,
    graph: FilterGraphRun,
    /// The next capture; `None` after the end of the run.
    next: Option<Capture>,
    end: i64,
    /// Data that have not arrived, in order of arrival.
    pending: VecDeque<Event>,
}

impl<'a> RigRun<'a> {
    /// Starts all sensors for captures that begin before `end` (ns).
    ///
    /// # Errors
    /// If the data of a material do not cover the wavelength of a lidar or a band of a camera, or those of
    /// a light a band of a camera.
    pub fn new(
        rig: &'a Rig,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        end: i64,
    ) -> Result<Self, RigError> {
        // Start the instrument and the filters of each sensor.
        let running = |(number, sensor): (u32, &'a MountedSensor)| {
            let instrument = sensor
                .device()
                .start(scene, environment, seed, number)
                .map_err(|error| {
                    let sensor = sensor.name().to_owned();
                    match error {
                        StartError::World(source) => RigError::World { sensor, source },
                        StartError::CameraWorld(source) => RigError::CameraWorld { sensor, source },
                    }
                })?;
            // Schedule its first capture.
            let first = sensor.clock().capture(0);
            Ok(RunningSensor {
                instrument,
                graph: sensor.graph().start(seed, number),
                next: Some(first).filter(|capture| capture.start < end),
                end,
                pending: VecDeque::new(),
                sensor,
            })
        };
        let sensors = (0..).zip(rig.sensors()).map(running);
        Ok(Self {
            sensors: sensors.collect::<Result<_, RigError>>()?,
            rig,
            scene,
            environment,
            processor: None,
        })
    }

    /// The same run with the sweeps and frames of another processor, one after the other.
    #[must_use]
    pub fn with_processor(mut self, processor: &'a dyn Processor) -> Self {
        self.processor = Some(processor);
        self
    }

    /// The rig.
    pub fn rig(&self) -> &'a Rig {
        self.rig
    }

    /// Simulates every capture that ends by `to` (ns), and returns the data that arrive by then, ordered by
    /// arrival and sensor. `trajectory` must cover the time from [`RigRun::earliest_needed`] to `to`.
    pub fn advance(&mut self, trajectory: &dyn StateTrajectory, to: i64) -> Vec<Event> {
        // Capture: the sensors of another processor one after the other, all others in parallel.
        let (scene, environment, processor) = (self.scene, self.environment, self.processor);
        let due = |running: &RunningSensor| running.next.is_some_and(|capture| capture.end <= to);
        let capture_all = |(number, running): (usize, &mut RunningSensor)| {
            while let Some(capture) = running.next.filter(|capture| capture.end <= to) {
                running.capture(number, capture, trajectory, (scene, environment, processor));
            }
        };
        if processor.is_some() {
            let sensors = self.sensors.iter_mut().enumerate();
            let sees = |device: &Device| matches!(device, Device::Lidar(_) | Device::Camera(_));
            sensors
                .filter(|(_, running)| sees(running.sensor.device()))
                .for_each(capture_all);
        }
        if self.sensors.iter().any(due) {
            let sensors = self.sensors.par_iter_mut().enumerate();
            sensors.for_each(capture_all);
        }

        // Deliver in order of arrival.
        let mut events = Vec::new();
        for running in &mut self.sensors {
            let has_arrived = |event: &Event| event.capture.arrival <= to;
            while running.pending.front().is_some_and(has_arrived) {
                events.extend(running.pending.pop_front());
            }
        }
        events.sort_by_key(|event| (event.capture.arrival, event.sensor));
        events
    }

    /// Earliest time (ns) for which the trajectory is still needed.
    pub fn earliest_needed(&self) -> i64 {
        let needs = self.sensors.iter().filter_map(|running| {
            let next = running.next?;
            // One more period: wheel encoders integrate since the previous capture.
            let before = next.number.saturating_sub(1);
            Some(running.sensor.clock().capture(before).start)
        });
        needs.min().unwrap_or(i64::MAX)
    }

    /// Time of the next arrival (ns), if there is one.
    pub fn next_arrival(&self) -> Option<i64> {
        let arrivals = self.sensors.iter().filter_map(|running| {
            let pending = running.pending.front().map(|event| event.capture);
            pending.or(running.next).map(|capture| capture.arrival)
        });
        arrivals.min()
    }

    /// Whether every capture is delivered.
    pub fn is_done(&self) -> bool {
        let done = |running: &RunningSensor| running.next.is_none() && running.pending.is_empty();
        self.sensors.iter().all(done)
    }
}

impl RunningSensor<'_> {
    /// Simulates and filters one capture.
    fn capture(
        &mut self,
        number: usize,
        capture: Capture,
        trajectory: &dyn StateTrajectory,
        (scene, environment, processor): (&Scene, &Environment, Option<&dyn Processor>),
    ) {
        // Simulate the sensor.
        let clock = self.sensor.clock();
        let capture_context = CaptureContext {
            capture,
            period: clock.rate.period(),
            trajectory: &BodyTrajectory {
                trajectory,
                body: self.sensor.body(),
            },
            body_from_sensor: *self.sensor.body_from_sensor(),
            environment,
            scene,
            processor,
        };
        let data = self.instrument.capture(&capture_context);
        // Filter its data.
        let context = FilterContext::new(&capture_context);
        for (output, data) in self.graph.apply(data, &context) {
            self.pending.push_back(Event {
                sensor: number,
                output,
                capture,
                data,
            });
        }
        // Schedule the next capture.
        let next = clock.capture(capture.number + 1);
        self.next = Some(next).filter(|capture| capture.start < self.end);
    }
}
