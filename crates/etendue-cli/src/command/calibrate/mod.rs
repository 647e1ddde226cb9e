//! `etendue calibrate`.

mod adapt;
mod aim;
mod beside_truth;
mod figures;
mod hints;
mod hold_out;
mod identify;
mod load;
mod noise;
mod noise_beside;
mod panel_picture;
mod panel_view;
mod profiles;
mod quantity;
mod report;
mod verdict;
mod view;

use crate::failure::Failure;
use clap::{Args, Subcommand};
use etendue_plot::Drawing;

/// Arguments of `etendue calibrate`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples: etendue calibrate setup.toml -o profiles\n          \
    etendue calibrate --recording wood_data.txt --material wood --width 1.25\n          \
    etendue calibrate data.config --holdout -o profiles\n          \
    etendue calibrate --recording simulated.csv --material wood --truth rplidar-a1-wood\n          \
    etendue calibrate view profiles/wood.toml -o wood\n          \
    etendue calibrate identify scan.txt --profiles profiles\n          \
    etendue calibrate aim --source recording.txt\n          \
    etendue calibrate noise room.pcap\n\n\
    A calibration setup file lists recordings of panels of known materials; a data.config of \
    ApolloSim is accepted too. The pose of the panel is estimated from the recording. Declared \
    dimensions are hints; a warning reports a disagreement. A material of a scene uses a profile \
    with profile = \"profiles/wood.toml\".\n\n\
    The verdict is good, doubtful or refused, from a test on held-out scans and from the data of \
    the fit. A doubtful profile is not written, and the exit code is 3, unless --accept-doubtful is \
    given; a refused profile is never written (exit code 4). NAME-panel.png shows what was taken as the panel, \
    also of a doubtful or refused profile."
)]
pub struct Calibrate {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    profiles: profiles::Profiles,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Draw a profile: the panel from above, and curves over incidence
    View(view::View),
    /// Estimate the parts of the range noise of a standing sensor
    Noise(noise::Noise),
    /// Identify the material of a panel in a recording
    Identify(identify::Identify),
    /// Monitor the set-up of a recording: distance and tilt of the panel, and bands with too few
    /// beams
    Aim(aim::Aim),
    /// Estimate the profile of a material without recordings from the most similar recorded one
    Adapt(adapt::Adapt),
}

impl Calibrate {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self.task {
            Some(Task::View(task)) => task.run(),
            Some(Task::Noise(task)) => task.run(),
            Some(Task::Identify(task)) => task.run(),
            Some(Task::Aim(task)) => task.run(),
            Some(Task::Adapt(task)) => task.run(),
            None => self.profiles.run(),
        }
    }
}

/// Curves of a profile by name or file.
pub fn profile_picture(name: &str) -> Result<Drawing, Failure> {
    let (_, profile) = load::profile(name)?;
    Ok(figures::profile_curves(&profile))
}
