//! The recorded run of a robot, played again and again.

use super::live::Live;
use crate::robot::RobotRun;
use etendue::io::ros2::recorded_messages;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at whether there is something to do.
const IDLE: Duration = Duration::from_millis(50);

/// Plays the recording of a robot at its own pace, from its end to its start again, while a client subscribes and
/// until the run is stopped. It starts when the run has ended.
pub(crate) fn replay(live: Arc<Live>, run: Arc<RobotRun>) {
    let thread = std::thread::Builder::new().name("replay".into());
    // Without a thread Foxglove shows no data, and the page does
    let _ = thread.spawn(move || {
        while !run.is_stopped() {
            if run.is_done() && live.is_wanted() {
                play(&live, &run);
            }
            std::thread::sleep(IDLE);
        }
    });
}

/// Plays the recording once.
fn play(live: &Live, run: &RobotRun) {
    let recording = run.recording().unwrap_or_default();
    let Ok((_, messages)) = recorded_messages(&recording) else {
        return;
    };
    let begin = Instant::now();
    for message in messages.map_while(Result::ok) {
        let at = begin + Duration::from_nanos(message.time);
        while let Some(left) = at.checked_duration_since(Instant::now()) {
            if run.is_stopped() || !live.is_wanted() {
                return;
            }
            std::thread::sleep(left.min(IDLE));
        }
        live.publish(vec![message]);
    }
}
