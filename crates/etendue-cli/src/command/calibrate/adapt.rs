//! `etendue calibrate adapt`.

use super::load;
use crate::failure::Failure;
use crate::number;
use crate::output::{commit, print};
use clap::Args;
use etendue::calibrate::noise::transfer::{MaterialBackscatter, adapt, nearest};
use etendue::config::material::find;
use etendue::config::profile::ProfileFile;
use etendue::io::output::OutputSet;
use etendue::physics::profile::Profile;
use std::path::PathBuf;

/// Arguments of `etendue calibrate adapt`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue calibrate adapt brick --profiles profiles -o profiles/brick.toml\n\n\
    The recorded profile whose fitted reflectance is most similar over incidence is scaled by the \
    ratio of both reflectances. The result is marked as extrapolated."
)]
pub struct Adapt {
    /// Built-in material (see `etendue materials`)
    material: String,
    /// Folder of recorded profiles [default: the built-in profiles]
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Reflectance of the recorded panel at normal incidence, if known; the levels are then
    /// compared as well as the shapes
    #[arg(long, value_name = "R", value_parser = number::positive)]
    reflectance: Option<f64>,
    /// Profile file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Wavelength of profiles without one, m.
const DEFAULT_WAVELENGTH: f64 = 785e-9;

impl Adapt {
    /// Estimates and writes the profile.
    pub fn run(self) -> Result<(), Failure> {
        let material = find(&self.material)?;
        let known = load::profiles(self.profiles.as_deref())?;
        let profiles: Vec<&Profile> = known.iter().map(|(_, profile)| &**profile).collect();
        let wavelength = profiles
            .iter()
            .find_map(|p| p.wavelength)
            .unwrap_or(DEFAULT_WAVELENGTH);
        let at = material.material.at(wavelength).map_err(|error| {
            let message = format!("{}: {error}", self.material);
            Failure::usage(message, "choose another material")
        })?;
        let backscatter = MaterialBackscatter(&at);
        let Some(recorded) = nearest(backscatter, &profiles) else {
            return Err(etendue::calibrate::noise::NoiseError::NoProfiles.into());
        };

        // Profile file
        let estimate = adapt(recorded, backscatter, &self.material, self.reflectance);
        let mut file = ProfileFile::of(&estimate);
        file.description = format!(
            "extrapolated: {} from {}, by the ratio of their reflectances",
            self.material, recorded.material
        );
        let mut outputs = OutputSet::new();
        let text = file.to_toml();
        outputs.add(&self.output, |sink| sink.write_all(text.as_bytes()))?;
        commit(outputs)?;
        print(&format!(
            "{}: most similar recorded material {}; wrote {} (extrapolated)\n",
            self.material,
            recorded.material,
            self.output.display()
        ))
    }
}
