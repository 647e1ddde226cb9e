//! Sweeps and states for the pages and for Foxglove.

use super::job::Job;
use super::{REST, Worker};
use crate::background;
use crate::message::state::State;
use crate::message::sweep;
use crate::refusal::Refusal;
use crate::session::WholeSweep;
use crate::simulator::Ended;
use etendue::io::ros2::recorded_messages;
use serde_json::json;
use std::time::{Duration, Instant};

impl Worker {
    /// Shows the sweep of the session after a change: the whole one if it is quick or is not changed, else a coarse one
    /// if it may be. The whole one follows.
    pub(super) fn show_change(&mut self, may_be_coarse: bool) {
        let revision = self.session.revision();
        if self.seen == revision {
            return;
        }
        self.seen = revision;
        let rest = if may_be_coarse { REST } else { Duration::ZERO };
        self.rests_at = Instant::now() + rest;
        if self.session.renew_whole() {
            return self.publish_whole();
        }
        let every = self.session.coarse_every();
        if every == 1 {
            match self.session.simulate() {
                Ok(_) => self.publish_whole(),
                Err(refusal) => self.publish_refusal(&refusal),
            }
        } else if !may_be_coarse || !self.show_coarse(every) {
            // A running sweep is shown first, so that a run is seen to go on
            if self.simulator.running().is_none() {
                self.simulate();
            }
        }
    }

    /// Publishes a coarse sweep; not if there is none.
    fn show_coarse(&mut self, every: u32) -> bool {
        // The error of an impossible sweep is that of the whole one
        let Ok(Some(simulated)) = self.session.simulate_coarse(every) else {
            return false;
        };
        self.shown = simulated.revision;
        let message = sweep::encode(&simulated, self.session.loaded(), every);
        self.sweep.send_replace(Some(message.into()));
        true
    }

    /// Takes a whole sweep from the other thread.
    pub(super) fn take(&mut self, ended: Ended) {
        self.simulator.note(&ended);
        match ended.sweep {
            // A quick sweep may have come later, and be here before
            Ok(Some(whole)) if ended.revision > self.session.sweep().revision => {
                self.session.keep_whole(whole);
                self.publish_whole();
            }
            Err(refusal) if ended.revision == self.session.revision() => {
                self.publish_refusal(&refusal);
            }
            _ => {}
        }
    }

    /// Publishes the whole sweep and the state, unless a later sweep is shown.
    fn publish_whole(&mut self) {
        let WholeSweep {
            loaded, simulated, ..
        } = self.session.whole();
        self.whole = simulated.revision;
        if self.shown > self.whole {
            return;
        }
        self.shown = self.whole;
        let message = sweep::encode(simulated, loaded, 1);
        self.sweep.send_replace(Some(message.into()));
        let state = State::of(&self.session, &mut self.meshes, self.robot.as_deref());
        self.show();
        let message = match state {
            Ok(state) => json!({ "state": state }),
            Err(refusal) => json!({ "trouble": refusal }),
        };
        self.state.send_replace(Some(message.to_string().into()));
    }

    /// Publishes why the inputs have no sweep.
    fn publish_refusal(&mut self, refusal: &Refusal) {
        self.whole = self.session.revision();
        let message = json!({ "trouble": refusal }).to_string();
        self.state.send_replace(Some(message.into()));
    }

    /// Shows the sweep in Foxglove, where a client subscribes to it; not while a robot is open, whose run is shown.
    pub(super) fn show(&mut self) {
        let revision = self.session.revision();
        let is_shown = self.whole == revision && self.robot.is_none() && !self.is_recording;
        let Some(live) = self.live.as_ref().filter(|_| is_shown) else {
            return;
        };
        let channels = self.session.loaded().lidar().channels.len();
        if channels == self.shown_channels && !live.is_wanted() {
            return;
        }
        // Record the sweep, on a thread of its own where that takes long
        self.shown_channels = channels;
        self.recorded = revision;
        let (task, jobs) = (self.session.sweep_task(), self.jobs.clone());
        if self.session.coarse_every() == 1 {
            return self.publish_recorded(task.record_own());
        }
        let started = background::start("recording", move || {
            let _ = jobs.send(Job::Recorded(task.record_own()));
        });
        match started {
            Ok(()) => self.is_recording = true,
            Err(refusal) => self.report(&refusal),
        }
    }

    /// Publishes a recorded sweep in Foxglove, and records the next one if there is a later one.
    pub(super) fn publish_recorded(&mut self, recorded: Result<Vec<u8>, Refusal>) {
        self.is_recording = false;
        let Some(live) = self.live.as_ref().filter(|_| self.robot.is_none()) else {
            return;
        };
        let shown = recorded.and_then(|recording| {
            let (topics, messages) = recorded_messages(&recording)?;
            live.set_topics(&topics);
            live.publish(messages.collect::<Result<_, _>>()?);
            Ok(())
        });
        if let Err(refusal) = shown {
            self.report(&refusal);
        }
        if self.recorded != self.session.revision() {
            self.show();
        }
    }
}
