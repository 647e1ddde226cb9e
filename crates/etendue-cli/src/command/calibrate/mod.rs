//! `etendue calibrate`.

mod adapt;
mod aim;
mod ask;
mod figures;
mod hold_out;
mod identify;
mod load;
mod panel_view;
mod profiles;
mod quantity;
mod report;
mod view;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Arguments of `etendue calibrate`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples: etendue calibrate bench.toml -o profiles\n          \
    etendue calibrate --recording wood_data.txt --material wood --width 1.25\n          \
    etendue calibrate data.config --holdout -o profiles\n          \
    etendue calibrate view profiles/wood.toml -o wood\n          \
    etendue calibrate identify scan.txt --profiles profiles\n          \
    etendue calibrate aim --source recording.txt\n\n\
    A bench file names recordings of panels of known materials; ApolloSim's data.config is read \
    too. The panel is found in the recording: declared numbers are hints, and told where they \
    disagree. A scene's material uses a profile by profile = \"profiles/wood.toml\"."
)]
pub struct Calibrate {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    profiles: profiles::Profiles,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Draw a profile: the panel from above, and curves over incidence
    View(view::View),
    /// Say which material a panel in a recording is
    Identify(identify::Identify),
    /// Help to set up: the panel found, its distance and tilt, and whether enough was seen
    Aim(aim::Aim),
    /// Guess the profile of a material that nobody recorded from the nearest recorded one
    Adapt(adapt::Adapt),
}

impl Calibrate {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Some(Verb::View(verb)) => verb.run(),
            Some(Verb::Identify(verb)) => verb.run(),
            Some(Verb::Aim(verb)) => verb.run(),
            Some(Verb::Adapt(verb)) => verb.run(),
            None => self.profiles.run(),
        }
    }
}
