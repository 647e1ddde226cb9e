//! A recorded drive, played back.

use super::cab;
use crate::failure::Failure;
use crate::output::{print, print_json};
use etendue::io::ros2::{Said, SaidMessage, drive_command, read_drive};
use etendue::sensors::rig::{Environment, seconds};
use etendue_experiments::demo::street::{Driver, Heard, Route, What};
use serde::Serialize;
use std::path::Path;

/// How a replay went.
#[derive(Default, Serialize)]
struct Outcome {
    /// Messages that the driver heard.
    heard: u32,
    commands: u32,
    /// Commands whose bytes are those of the recording.
    same: u32,
    duration_s: f64,
}

/// Plays a recording on its stamps through the driver, and compares the commands.
pub fn replay(recording: &Path, json: bool) -> Result<(), Failure> {
    let route = Route::round_the_middle();
    let mut driver = cab::driver(&route, &Environment::default());
    let mut outcome = Outcome::default();
    read_drive(recording, |said| outcome.play(&mut driver, &said))?;
    if outcome.commands == 0 {
        return Err(Failure::Usage {
            message: format!("{} holds no command of a driver", recording.display()),
            remedy: "give a recording of `etendue demo street`".into(),
        });
    }
    if outcome.same < outcome.commands {
        return Err(Failure::Usage {
            message: format!(
                "{} of {} commands are not those of the recording",
                outcome.commands - outcome.same,
                outcome.commands
            ),
            remedy: "record the drive again with this version of the program".into(),
        });
    }
    if json {
        return print_json(&outcome);
    }
    print(&format!(
        "{} messages over {:.1} s heard again: all of {} commands the same, byte for byte\n",
        outcome.heard, outcome.duration_s, outcome.commands
    ))
}

impl Outcome {
    fn play(&mut self, driver: &mut Driver, said: &Said) {
        self.duration_s = seconds(said.time);
        if let SaidMessage::Command(recorded) = &said.message {
            let command = driver.decide(said.time);
            self.commands += 1;
            self.same += u32::from(drive_command(said.time, "base", &command) == *recorded);
        } else if let Some(heard) = heard(said) {
            self.heard += 1;
            driver.hear(&heard);
        }
    }
}

/// What the driver hears of a message.
fn heard(said: &Said) -> Option<Heard> {
    let (stamp, what) = match said.message {
        SaidMessage::Imu {
            stamp,
            angular_velocity,
        } => (stamp, What::Turning(angular_velocity.z)),
        SaidMessage::Joint { stamp, position } => {
            let side = usize::from(said.topic == "/right_wheel");
            (stamp, What::Wheel(side, position))
        }
        SaidMessage::Fix {
            stamp,
            degrees,
            height,
            variance,
        } => {
            let what = What::Fix {
                degrees,
                height,
                variance,
            };
            (stamp, what)
        }
        SaidMessage::Command(_) => return None,
    };
    Some(Heard { stamp, what })
}
