//! `etendue calibrate adapt`.

use super::load;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::print;
use clap::Args;
use etendue::calibrate::noise::transfer::{Backscatter, adapt, nearest};
use etendue::config::material::find;
use etendue::config::profile::ProfileFile;
use etendue::physics::profile::Profile;
use std::path::PathBuf;

/// Arguments of `etendue calibrate adapt`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue calibrate adapt brick --profiles profiles -o profiles/brick.toml\n\n\
    The recorded profile whose fitted reflectance falls most alike with incidence is corrected by \
    the ratio of both reflectances. It is a guess, and marked as one."
)]
pub struct Adapt {
    /// A ready material (see `etendue materials`)
    material: String,
    /// Folder of profiles to start from; without it, the ready ones
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Reflectance of the recorded panel at normal incidence, if known: then levels count, not only
    /// shapes
    #[arg(long, value_name = "R")]
    reflectance: Option<f64>,
    /// The profile to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Where profiles do not say, nm.
const USUAL_WAVELENGTH: f64 = 785e-9;

impl Adapt {
    /// Guesses and writes.
    pub fn run(self) -> Result<(), Failure> {
        let material = find(&self.material)?;
        let known = load::profiles(self.profiles.as_deref())?;
        let profiles: Vec<&Profile> = known.iter().map(|(_, profile)| &**profile).collect();
        let wavelength = profiles
            .iter()
            .find_map(|p| p.wavelength)
            .unwrap_or(USUAL_WAVELENGTH);
        let at = material
            .material
            .at(wavelength)
            .map_err(|error| Failure::Usage {
                message: format!("{}: {error}", self.material),
                remedy: "choose another material".into(),
            })?;
        let backscatter = Backscatter(&at);
        let Some(recorded) = nearest(backscatter, &profiles) else {
            return Err(etendue::calibrate::noise::NoiseError::NoProfiles.into());
        };
        let guess = adapt(recorded, backscatter, &self.material, self.reflectance);
        let mut file = ProfileFile::of(&guess);
        file.description = format!(
            "a guess: {} from {}, by the ratio of their reflectances",
            self.material, recorded.material
        );
        let name = self
            .output
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut folder = Folder::new(self.output.parent().unwrap_or(std::path::Path::new("")));
        folder.text(&name, file.to_toml());
        folder.commit()?;
        print(&format!(
            "{}: nearest recorded material {}; wrote {} (extrapolated)\n",
            self.material,
            recorded.material,
            self.output.display()
        ))
    }
}
