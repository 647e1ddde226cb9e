//! Runs from beginning to end: along a known motion, or in a closed loop.

use super::run::{Event, RigRun};
use crate::capture::{Rate, seconds};
use crate::dynamics::{Dynamics, SampledTrajectories, StateTrajectory};
use etendue_physics::inertial::MotionState;
use std::ops::ControlFlow;

/// What a controller knows: the latest data of every output, and all that is new.
#[derive(Clone, Debug, Default)]
pub struct LatestData {
    events: Vec<Event>,
    news: Vec<Event>,
}

impl LatestData {
    /// The latest data of a sensor's output, if there are any yet.
    pub fn of(&self, sensor: usize, output: usize) -> Option<&Event> {
        let wanted = |event: &&Event| event.sensor == sensor && event.output == output;
        let new = self.news.iter().rev().find(wanted);
        new.or_else(|| self.events.iter().find(wanted))
    }

    /// Everything that has arrived since the command before, in its order.
    pub fn news(&self) -> &[Event] {
        &self.news
    }

    /// Adds what has arrived.
    pub fn put(&mut self, event: Event) {
        self.news.push(event);
    }

    /// What was new is known from now on; of each output only the latest is kept.
    pub fn settle(&mut self) {
        for event in std::mem::take(&mut self.news) {
            let same =
                |known: &&mut Event| known.sensor == event.sensor && known.output == event.output;
            match self.events.iter_mut().find(same) {
                Some(known) => *known = event,
                None => self.events.push(event),
            }
        }
    }
}

/// How a closed loop is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlPlan {
    /// Steps of the dynamics a second.
    pub dynamics: Rate,
    /// Commands a second; each holds until the next.
    pub control: Rate,
}

/// Time that a known motion is advanced by at once, ns. Results do not depend on it: it bounds the
/// memory for data that wait.
const STRIDE: i64 = 100_000_000;

/// Follows a known motion until every capture is delivered. `visit` sees each event in its order
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

/// Who watches a run, and may stop it.
pub trait Observer {
    /// Data have arrived.
    fn received(&mut self, event: &Event) -> ControlFlow<()>;

    /// The dynamics have made a step: how each body moves at a time (ns), the base first.
    fn moved(&mut self, _time: i64, _states: &[MotionState]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Event) -> ControlFlow<()>> Observer for F {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        self(event)
    }
}

/// Closes the loop until every capture is delivered: sensors to `controller` to `dynamics` to
/// sensors. The controller is a function of the latest data and of the time (ns) to a command; it
/// sees what has arrived by then, never more.
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
        let states = dynamics.states();
        trajectories.push(now, &states);
        let stop = observer.moved(now, &states);
        if stop.is_break() || receive(run, &trajectories, now, &mut latest, observer).is_break() {
            return;
        }
        if run.is_done() {
            return;
        }
        if plan.control.tick(commands) <= now {
            command = controller(&latest, now);
            latest.settle();
            commands += 1;
        }
        let next = plan.dynamics.tick(step);
        dynamics.step(&command, seconds(next - now));
        now = next;
        trajectories.forget_before(run.needs_from().min(now));
    }
}

/// Takes what has arrived by now.
fn receive(
    run: &mut RigRun,
    trajectories: &SampledTrajectories,
    now: i64,
    latest: &mut LatestData,
    observer: &mut impl Observer,
) -> ControlFlow<()> {
    for event in run.advance(trajectories, now) {
        observer.received(&event)?;
        latest.put(event);
    }
    ControlFlow::Continue(())
}
