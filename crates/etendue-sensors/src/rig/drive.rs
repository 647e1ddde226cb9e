//! Complete runs: along a known trajectory, or in a closed loop.

use super::run::{Event, RigRun};
use crate::capture::{Rate, seconds};
use crate::dynamics::{Dynamics, SampledTrajectories, StateTrajectory};
use etendue_physics::inertial::MotionState;
use std::ops::ControlFlow;

/// Input of a controller: the latest data of every output, and all new data.
#[derive(Clone, Debug, Default)]
pub struct LatestData {
    /// One per output.
    latest: Vec<Event>,
    new_data: Vec<Event>,
}

impl LatestData {
    /// The latest data of a sensor's output, if any have arrived.
    pub fn of(&self, sensor: usize, output: usize) -> Option<&Event> {
        let is_output = |event: &&Event| event.sensor == sensor && event.output == output;
        let new = self.new_data.iter().rev().find(is_output);
        new.or_else(|| self.latest.iter().find(is_output))
    }

    /// All data that arrived since the previous command, in order of arrival.
    pub fn new_data(&self) -> &[Event] {
        &self.new_data
    }

    /// Adds new data.
    pub fn push(&mut self, event: Event) {
        self.new_data.push(event);
    }

    /// Moves the new data to the latest data of their outputs.
    pub fn merge_new(&mut self) {
        for event in std::mem::take(&mut self.new_data) {
            let same =
                |other: &&mut Event| other.sensor == event.sensor && other.output == event.output;
            match self.latest.iter_mut().find(same) {
                Some(previous) => *previous = event,
                None => self.latest.push(event),
            }
        }
    }
}

/// Step rates of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlPlan {
    /// Rate of the dynamics' steps.
    pub dynamics: Rate,
    /// Rate of commands; each holds until the next.
    pub control: Rate,
}

/// Step of a replay, ns. Results do not depend on it; it bounds the memory of pending data.
const STRIDE: i64 = 100_000_000;

/// Replays a known trajectory until every capture is delivered. `visit` receives each event in order
/// and may stop the run.
pub fn replay(
    run: &mut RigRun,
    trajectory: &dyn StateTrajectory,
    mut visit: impl FnMut(Event) -> ControlFlow<()>,
) {
    let mut now = 0;
    while !run.is_done() {
        now += STRIDE;
        for event in run.advance(trajectory, now) {
            if visit(event).is_break() {
                return;
            }
        }
    }
}

/// Observer of a run, which may stop it.
pub trait Observer {
    /// Called with each arrival of data.
    fn received(&mut self, event: &Event) -> ControlFlow<()>;

    /// Called after each step of the dynamics with the states of motion of the bodies at a time (ns), the
    /// base first.
    fn moved(&mut self, _time: i64, _states: &[MotionState]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Event) -> ControlFlow<()>> Observer for F {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        self(event)
    }
}

/// Runs a closed loop until every capture is delivered: sensors to `controller` to `dynamics` to
/// sensors. The controller maps the latest data and the time (ns) to a command; it receives only data
/// that have arrived by then.
pub fn drive<D: Dynamics>(
    run: &mut RigRun,
    dynamics: &mut D,
    plan: &ControlPlan,
    mut controller: impl FnMut(&LatestData, i64) -> D::Command,
    observer: &mut impl Observer,
) {
    let mut trajectories = SampledTrajectories::default();
    let mut latest = LatestData::default();
    let mut command = controller(&latest, 0);
    let mut commands = 1;
    let mut now = 0;
    for step in 1.. {
        // Record the state and deliver data.
        let states = dynamics.states();
        trajectories.push(now, &states);
        let stop = observer.moved(now, &states);
        if stop.is_break() || receive(run, &trajectories, now, &mut latest, observer).is_break() {
            return;
        }
        if run.is_done() {
            return;
        }

        // Update the command.
        if plan.control.tick(commands) <= now {
            command = controller(&latest, now);
            latest.merge_new();
            commands += 1;
        }

        // Step the dynamics.
        let next = plan.dynamics.tick(step);
        dynamics.step(&command, seconds(next - now));
        now = next;
        trajectories.drop_before(run.earliest_needed().min(now));
    }
}

/// Delivers the data that have arrived by now.
fn receive(
    run: &mut RigRun,
    trajectories: &SampledTrajectories,
    now: i64,
    latest: &mut LatestData,
    observer: &mut impl Observer,
) -> ControlFlow<()> {
    for event in run.advance(trajectories, now) {
        observer.received(&event)?;
        latest.push(event);
    }
    ControlFlow::Continue(())
}
