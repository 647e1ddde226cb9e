//! What dynamics left behind.

use super::Path;
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::collections::VecDeque;

/// States of motion at ascending times. In between, positions follow the cubic through places and
/// velocities (Hermite), everything else the straight line. Before the first state and after the
/// last it stands as there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    states: VecDeque<(i64, MotionState)>,
}

impl Track {
    /// Appends a state at a time, ns. A time that is not later than the last replaces it.
    pub fn push(&mut self, time: i64, state: MotionState) {
        while self.states.back().is_some_and(|(last, _)| *last >= time) {
            self.states.pop_back();
        }
        self.states.push_back((time, state));
    }

    /// Forgets what is not needed at `time` (ns) and later.
    pub fn forget_before(&mut self, time: i64) {
        while self.states.get(1).is_some_and(|(next, _)| *next <= time) {
            self.states.pop_front();
        }
    }

    /// How many states are kept.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state yet.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}

impl Path for Track {
    fn state(&self, time: f64) -> MotionState {
        let seconds = |(at, _): &(i64, MotionState)| *at as f64 * 1e-9;
        let after = self.states.partition_point(|entry| seconds(entry) <= time);
        let last = self.states.len().saturating_sub(1);
        let Some(before) = self.states.get(after.saturating_sub(1)) else {
            return MotionState::still(Isometry3::identity());
        };
        if after == 0 || after > last {
            return before.1;
        }
        let next = &self.states[after];
        let span = seconds(next) - seconds(before);
        between(&before.1, &next.1, span, (time - seconds(before)) / span)
    }
}

/// What dynamics of several bodies left behind: a [`Track`] of each, the base first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracks {
    of_body: Vec<Track>,
}

impl Tracks {
    /// Appends the states of all bodies at a time, ns.
    pub fn push(&mut self, time: i64, states: &[MotionState]) {
        self.of_body.resize_with(states.len(), Track::default);
        for (track, state) in self.of_body.iter_mut().zip(states) {
            track.push(time, *state);
        }
    }

    /// Forgets what is not needed at `time` (ns) and later.
    pub fn forget_before(&mut self, time: i64) {
        for track in &mut self.of_body {
            track.forget_before(time);
        }
    }
}

impl Path for Tracks {
    fn state(&self, time: f64) -> MotionState {
        self.state_of(0, time)
    }

    fn state_of(&self, body: usize, time: f64) -> MotionState {
        match self.of_body.get(body) {
            Some(track) => track.state(time),
            None => MotionState::still(Isometry3::identity()),
        }
    }
}

fn between(from: &MotionState, to: &MotionState, span: f64, share: f64) -> MotionState {
    let lerp = |of: fn(&MotionState) -> Vector3<f64>| of(from).lerp(&of(to), share);
    let [a, b] = [from, to].map(|state| state.world_from_body);
    let (s, s2) = (share, share * share);
    let s3 = s2 * share;
    let place = a.translation.vector * (2.0 * s3 - 3.0 * s2 + 1.0)
        + from.velocity * (span * (s3 - 2.0 * s2 + s))
        + b.translation.vector * (3.0 * s2 - 2.0 * s3)
        + to.velocity * (span * (s3 - s2));
    // By the angle between: the usual formula divides by a sine that a small step leaves no
    // digits of.
    let turn = (a.rotation.inverse() * b.rotation).scaled_axis() * share;
    let turn = a.rotation * UnitQuaternion::from_scaled_axis(turn);
    MotionState {
        world_from_body: Isometry3::from_parts(
            Translation3::from(place),
            UnitQuaternion::new_normalize(turn.into_inner()),
        ),
        velocity: lerp(|state| state.velocity),
        acceleration: lerp(|state| state.acceleration),
        angular_velocity: lerp(|state| state.angular_velocity),
        angular_acceleration: lerp(|state| state.angular_acceleration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::Circle;

    fn circle() -> Circle {
        Circle {
            start: Isometry3::identity(),
            radius: 5.0,
            speed: 3.0,
        }
    }

    /// A circle sampled at 1 kHz: 1e-14 m and 3e-10 m/s off in between measured.
    #[test]
    fn between_states_the_motion_goes_on_smoothly() {
        let mut track = Track::default();
        for step in 0..=1000 {
            track.push(step * 1_000_000, circle().state(step as f64 * 1e-3));
        }
        for k in 0..97 {
            let time = 0.01025 * f64::from(k);
            let (read, truth) = (track.state(time), circle().state(time));
            let off =
                read.world_from_body.translation.vector - truth.world_from_body.translation.vector;
            assert!(off.norm() < 1e-12, "{off}");
            assert!((read.velocity - truth.velocity).norm() < 1e-6);
            let [turn, real] = [read, truth].map(|state| state.world_from_body.rotation);
            assert!((turn.coords.norm() - 1.0).abs() < 1e-15);
            assert!((turn.inverse() * real).scaled_axis().norm() < 1e-9);
        }
    }

    #[test]
    fn old_states_are_forgotten_and_the_rest_stays() {
        let mut track = Track::default();
        for step in 0..10 {
            track.push(
                step,
                MotionState::still(Isometry3::translation(step as f64, 0.0, 0.0)),
            );
        }
        let before = track.state(6.5e-9);
        track.forget_before(6);
        assert_eq!(track.len(), 4);
        assert_eq!(track.state(6.5e-9), before);
    }
}
