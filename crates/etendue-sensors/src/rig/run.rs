//! A run of all sensors of a rig.

use super::device::{Instrument, StartError};
use super::{Capture, Data, Environment, MountedSensor, Rig, RigError};
use crate::dynamics::StateTrajectory;
use crate::filter::{FilterContext, GraphRun};
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Data that a robot is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number of the sensor in its rig.
    pub sensor: usize,
    /// Which of the sensor's outputs: 0 is behind all filters, the others are taps
    /// ([`MountedSensor::outputs`]).
    pub output: usize,
    /// When the data were gathered, and when they are there.
    pub capture: Capture,
    /// The data.
    pub data: Data,
}

/// What surrounds one capture.
pub struct Moment<'a> {
    /// When it is.
    pub capture: Capture,
    /// Time between captures, s.
    pub period: f64,
    /// How the body moves that carries the sensor.
    pub path: &'a dyn StateTrajectory,
    /// Where the sensor sits on it.
    pub body_from_sensor: Isometry3<f64>,
    /// Where the run is.
    pub environment: &'a Environment,
    /// What stands around.
    pub scene: &'a Scene,
}

impl Moment<'_> {
    /// How the sensor moves at a time, ns.
    pub fn at(&self, time: i64) -> MotionState {
        self.path
            .state(super::seconds(time))
            .mounted(&self.body_from_sensor)
    }

    /// Where the sensor is at a time, s.
    pub fn world_from_sensor(&self, time: f64) -> Isometry3<f64> {
        self.path.state(time).world_from_body * self.body_from_sensor
    }
}

/// How one body of a robot moves.
struct OfBody<'a> {
    path: &'a dyn StateTrajectory,
    body: usize,
}

impl StateTrajectory for OfBody<'_> {
    fn state(&self, time: f64) -> MotionState {
        self.path.state_of(self.body, time)
    }
}

/// All sensors of a rig, switched on.
///
/// Feed it with motion: [`RigRun::advance`]. Captures begin before the end that the run was given;
/// each delivers, [`RigRun::is_done`] says when all have.
pub struct RigRun<'a> {
    rig: &'a Rig,
    scene: &'a Scene,
    environment: &'a Environment,
    stations: Vec<Station<'a>>,
}

/// A sensor at work.
struct Station<'a> {
    sensor: &'a MountedSensor,
    instrument: Instrument<'a>,
    graph: GraphRun,
    /// The next capture to be made; none when the run's end is reached.
    next: Option<Capture>,
    end: i64,
    /// What was captured and is not there yet, in the order of arrival.
    waiting: VecDeque<Event>,
}

impl<'a> RigRun<'a> {
    /// Switches all sensors on for captures that begin before `end` (ns).
    ///
    /// # Errors
    /// Where the scene's materials do not cover a sensor's wavelength, or a camera's lights its
    /// bands.
    pub fn new(
        rig: &'a Rig,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        end: i64,
    ) -> Result<Self, RigError> {
        let station = |(number, sensor): (u32, &'a MountedSensor)| {
            let instrument = sensor
                .device
                .start(scene, environment, seed, number)
                .map_err(|error| {
                    let sensor = sensor.name.clone();
                    match error {
                        StartError::World(source) => RigError::World { sensor, source },
                        StartError::CameraWorld(source) => RigError::CameraWorld { sensor, source },
                    }
                })?;
            let first = sensor.clock.capture(0);
            Ok(Station {
                instrument,
                graph: sensor.graph.start(seed, number),
                next: Some(first).filter(|capture| capture.start < end),
                end,
                waiting: VecDeque::new(),
                sensor,
            })
        };
        let stations = (0..).zip(&rig.sensors).map(station);
        Ok(Self {
            stations: stations.collect::<Result<_, RigError>>()?,
            rig,
            scene,
            environment,
        })
    }

    /// The rig.
    pub fn rig(&self) -> &'a Rig {
        self.rig
    }

    /// Makes every capture that has ended by `to` (ns), and gives what has arrived by then, in the
    /// order of arrival and of the sensors. `path` must tell the motion from
    /// [`RigRun::needs_from`] to `to`.
    pub fn advance(&mut self, path: &dyn StateTrajectory, to: i64) -> Vec<Event> {
        let (scene, environment) = (self.scene, self.environment);
        let due = |station: &Station| station.next.is_some_and(|capture| capture.end <= to);
        if self.stations.iter().any(due) {
            let stations = self.stations.par_iter_mut().enumerate();
            stations.for_each(|(number, station)| {
                while let Some(capture) = station.next.filter(|capture| capture.end <= to) {
                    station.capture(number, capture, path, scene, environment);
                }
            });
        }
        let mut events = Vec::new();
        for station in &mut self.stations {
            let there = |event: &Event| event.capture.arrival <= to;
            while station.waiting.front().is_some_and(there) {
                events.extend(station.waiting.pop_front());
            }
        }
        events.sort_by_key(|event| (event.capture.arrival, event.sensor));
        events
    }

    /// The earliest time (ns) whose motion is needed yet.
    pub fn needs_from(&self) -> i64 {
        let needs = self.stations.iter().filter_map(|station| {
            let next = station.next?;
            // One period more: a wheel adds up its way since the capture before.
            let before = next.number.saturating_sub(1);
            Some(station.sensor.clock.capture(before).start)
        });
        needs.min().unwrap_or(i64::MAX)
    }

    /// When the next data will be there (ns), if any will.
    pub fn next_arrival(&self) -> Option<i64> {
        let arrivals = self.stations.iter().filter_map(|station| {
            let waiting = station.waiting.front().map(|event| event.capture);
            waiting.or(station.next).map(|capture| capture.arrival)
        });
        arrivals.min()
    }

    /// Whether every capture has been made and delivered.
    pub fn is_done(&self) -> bool {
        let done = |station: &Station| station.next.is_none() && station.waiting.is_empty();
        self.stations.iter().all(done)
    }
}

impl Station<'_> {
    fn capture(
        &mut self,
        number: usize,
        capture: Capture,
        path: &dyn StateTrajectory,
        scene: &Scene,
        environment: &Environment,
    ) {
        let clock = &self.sensor.clock;
        let moment = Moment {
            capture,
            period: clock.rate.period(),
            path: &OfBody {
                path,
                body: self.sensor.body,
            },
            body_from_sensor: self.sensor.body_from_sensor,
            environment,
            scene,
        };
        let data = self.instrument.capture(&moment);
        let context = FilterContext::new(&moment);
        for (output, data) in self.graph.apply(data, &context) {
            self.waiting.push_back(Event {
                sensor: number,
                output,
                capture,
                data,
            });
        }
        let next = clock.capture(capture.number + 1);
        self.next = Some(next).filter(|capture| capture.start < self.end);
    }
}
