//! `etendue calibrate view`.

use super::{figures, load};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, warn};
use clap::Args;
use etendue::physics::profile::Aspect;
use std::path::PathBuf;

/// Arguments of `etendue calibrate view`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue calibrate view rplidar-a1-wood -o wood\n  \
    draws wood/above.png (the panel from above, beams coloured by the fraction that returns), \
    wood/intensity.png and wood/curves.png."
)]
pub struct View {
    /// A profile file (.toml), or the name of a built-in profile
    profile: String,
    /// Folder for the pictures
    #[arg(short, long, default_value = "out/profile", value_name = "DIR")]
    output: PathBuf,
}

impl View {
    /// Draws the profile and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        let (file, profile) = load::profile(&self.profile)?;
        let mut folder = Folder::new(&self.output);

        // Panel from above, by share of returned beams and by intensity
        let at = |aspect: Aspect| profile.at(aspect, profile.distance / aspect.incidence.cos());
        let returned =
            figures::profile_from_above(&profile, "beams returned", ["all", "none"], |aspect| {
                1.0 - at(aspect).drop_out
            });
        folder.picture("above", &returned)?;
        let brightest = profile
            .knots
            .iter()
            .map(|knot| knot.intensity)
            .fold(0.0, f64::max);
        if brightest > 0.0 {
            let intensity = figures::profile_from_above(
                &profile,
                "mean intensity, dropped beams as zero",
                ["brightest", "none"],
                |aspect| {
                    let here = at(aspect);
                    (1.0 - here.drop_out) * here.intensity / brightest
                },
            );
            folder.picture("intensity", &intensity)?;
        }

        // Curves over incidence
        folder.picture("curves", &figures::profile_curves(&profile))?;
        let files = folder.commit()?;

        // Summary
        warn(&file.warnings);
        let recorded = profile.recorded_to().to_degrees();
        let glare = profile.glare.as_ref().map_or(String::new(), |glare| {
            let reach = glare.reach().to_degrees();
            format!("; a glare within {reach:.0} degrees of the normal")
        });
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        print(&format!(
            "{} on {}: {} knots, recorded to {recorded:.0} degrees at {:.3} m{glare}\nwrote {}\n",
            profile.sensor,
            profile.material,
            profile.knots.len(),
            profile.distance,
            files.join(", ")
        ))
    }
}
