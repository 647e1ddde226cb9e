//! Runs from beginning to end: along a known motion, or in a closed loop.

use super::{Event, Rate, RigRun, seconds};
use crate::dynamics::{Dynamics, Path, Track};
use etendue_physics::inertial::MotionState;
use std::ops::ControlFlow;

/// The latest data of every output of a rig.
#[derive(Clone, Debug, Default)]
pub struct Latest {
    events: Vec<Event>,
}

impl Latest {
    /// The latest data of a sensor's output, if there are any yet.
    pub fn of(&self, sensor: usize, output: usize) -> Option<&Event> {
        let wanted = |event: &&Event| event.sensor == sensor && event.output == output;
        self.events.iter().find(wanted)
    }

    /// Replaces what is there of the same output.
    pub fn put(&mut self, event: Event) {
        let same =
            |known: &&mut Event| known.sensor == event.sensor && known.output == event.output;
        match self.events.iter_mut().find(same) {
            Some(known) => *known = event,
            None => self.events.push(event),
        }
    }
}

/// How a closed loop is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
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
pub fn replay(run: &mut RigRun, path: &dyn Path, mut visit: impl FnMut(Event) -> ControlFlow<()>) {
    let mut now = 0;
    while !run.is_done() {
        now += STRIDE;
        for event in run.advance(path, now) {
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

    /// The dynamics have made a step: how the base moves at a time, ns.
    fn moved(&mut self, _time: i64, _state: &MotionState) -> ControlFlow<()> {
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
    plan: &Plan,
    mut controller: impl FnMut(&Latest, i64) -> D::Command,
    observer: &mut impl Observer,
) {
    let mut track = Track::default();
    let mut latest = Latest::default();
    let mut command = controller(&latest, 0);
    let mut commands = 1;
    let mut now = 0;
    for step in 1.. {
        let state = dynamics.state();
        track.push(now, state);
        let stop = observer.moved(now, &state);
        if stop.is_break() || receive(run, &track, now, &mut latest, observer).is_break() {
            return;
        }
        if run.is_done() {
            return;
        }
        if plan.control.tick(commands) <= now {
            command = controller(&latest, now);
            commands += 1;
        }
        let next = plan.dynamics.tick(step);
        dynamics.step(&command, seconds(next - now));
        now = next;
        track.forget_before(run.needs_from().min(now));
    }
}

/// Takes what has arrived by now.
fn receive(
    run: &mut RigRun,
    track: &Track,
    now: i64,
    latest: &mut Latest,
    observer: &mut impl Observer,
) -> ControlFlow<()> {
    for event in run.advance(track, now) {
        observer.received(&event)?;
        latest.put(event);
    }
    ControlFlow::Continue(())
}
