//! Replay of a recorded drive.

use super::driver;
use crate::failure::Failure;
use crate::output::print_report;
use etendue::io::ros2::{LoggedData, LoggedMessage, drive_command, read_drive};
use etendue::sensors::rig::{Environment, seconds};
use etendue_experiments::demo::street::{MessageData, Route, RouteDriver, SensorMessage};
use serde::Serialize;
use std::path::Path;

/// Printed results of a replay.
#[derive(Default, Serialize)]
struct Report {
    /// Messages that the driver received.
    messages: u32,
    commands: u32,
    /// Commands whose bytes equal those of the recording.
    equal: u32,
    duration_s: f64,
}

/// Sends the messages of a recording to the driver at their stamps, and compares the commands.
pub fn replay(recording: &Path, json: bool) -> Result<(), Failure> {
    // Send the messages to a new driver
    let route = Route::around_central_block();
    let mut driver = driver::driver(&route, &Environment::default());
    let mut report = Report::default();
    read_drive(recording, |message| report.play(&mut driver, &message))?;

    // Compare the commands
    if report.commands == 0 {
        return Err(Failure::usage(
            format!("{} has no commands of a driver", recording.display()),
            "give a recording of `etendue demo street`",
        ));
    }
    if report.equal < report.commands {
        return Err(Failure::usage(
            format!(
                "{} of {} commands differ from those of the recording",
                report.commands - report.equal,
                report.commands
            ),
            "record the drive again with this version of the program",
        ));
    }

    // Report
    print_report(json, &report, |report| {
        format!(
            "{} messages over {:.1} s replayed: all {} commands are equal, byte for byte\n",
            report.messages, report.duration_s, report.commands
        )
    })
}

impl Report {
    /// Sends a message to the driver, or compares a command.
    fn play(&mut self, driver: &mut RouteDriver, logged: &LoggedMessage) {
        self.duration_s = seconds(logged.time);
        if let LoggedData::Command(recorded) = &logged.data {
            let command = driver.command(logged.time);
            self.commands += 1;
            self.equal += u32::from(drive_command(logged.time, "base", &command) == *recorded);
        } else if let Some(message) = sensor_message(logged) {
            self.messages += 1;
            driver.receive(&message);
        }
    }
}

/// Message for the driver, if it uses the data.
fn sensor_message(logged: &LoggedMessage) -> Option<SensorMessage> {
    let (stamp, data) = match logged.data {
        LoggedData::Imu {
            stamp,
            angular_velocity,
        } => (stamp, MessageData::YawRate(angular_velocity.z)),
        LoggedData::Joint { stamp, position } => {
            let side = usize::from(logged.topic == "/right_wheel");
            (stamp, MessageData::WheelAngle(side, position))
        }
        LoggedData::Fix {
            stamp,
            degrees,
            height,
            variance,
        } => {
            let fix = MessageData::Fix {
                degrees,
                height,
                variance,
            };
            (stamp, fix)
        }
        LoggedData::Command(_) => return None,
    };
    Some(SensorMessage { stamp, data })
}
