//! Runs from beginning to end: along a known motion, or in a closed loop.

use super::{Event, Rate, RigRun, seconds};
use crate::dynamics::{Dynamics, Path, Track};
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

/// Closes the loop until every capture is delivered: sensors to `controller` to `dynamics` to
/// sensors. The controller is a function of the latest data and of the time (ns) to a command; it
/// sees what has arrived by then, never more. `visit` sees each event, with the motion so far, and
/// may stop the run.
pub fn drive<D: Dynamics>(
    run: &mut RigRun,
    dynamics: &mut D,
    plan: &Plan,
    mut controller: impl FnMut(&Latest, i64) -> D::Command,
    mut visit: impl FnMut(&Event, &Track) -> ControlFlow<()>,
) {
    let mut track = Track::default();
    let mut latest = Latest::default();
    track.push(0, dynamics.state());
    let mut command = controller(&latest, 0);
    let mut commands = 1;
    let mut now = 0;
    for step in 1.. {
        if run.is_done() {
            return;
        }
        for event in run.advance(&track, now) {
            if visit(&event, &track).is_break() {
                return;
            }
            latest.put(event);
        }
        if plan.control.tick(commands) <= now {
            command = controller(&latest, now);
            commands += 1;
        }
        let next = plan.dynamics.tick(step);
        dynamics.step(&command, seconds(next - now));
        now = next;
        track.push(now, dynamics.state());
        track.forget_before(run.needs_from().min(now));
    }
}
