//! `etendue materials`.

use crate::failure::Failure;
use crate::output::{print, print_json};
use clap::Args;
use etendue::config::material::{LIBRARY_WAVELENGTHS, LibraryMaterial, find, library};
use etendue::physics::surface::Side;
use serde::Serialize;
use std::f64::consts::PI;
use std::fmt::Write;

/// Arguments of `etendue materials`.
#[derive(Debug, Args)]
#[command(after_help = "Example: etendue materials window-glass\n  \
    prints its description and the sources of its numbers.\n\nThe columns are wavelengths in nm; the \
    numbers are the backscatter at normal incidence relative to an ideal white diffuse surface (pi \
    times the BRDF), which a lidar measures. A mirror or a pane has none: it reflects or transmits \
    the light to other surfaces.")]
pub struct Materials {
    /// Material to describe
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Printed material.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    description: String,
    source: String,
    /// Wavelength (nm) and backscatter at normal incidence relative to ideal white.
    backscatter: Vec<(f64, Option<f64>)>,
}

impl Materials {
    /// Prints the list, or one material.
    pub fn run(self) -> Result<(), Failure> {
        let rows: Vec<_> = match &self.name {
            Some(name) => vec![Row::of(find(name)?)],
            None => library().iter().map(Row::of).collect(),
        };
        match (&rows[..], &self.name) {
            (rows, _) if self.json => print_json(&rows),
            ([row], Some(_)) => print(&row.details()),
            (rows, _) => print(&table(rows)),
        }
    }
}

impl Row {
    fn of(material: &LibraryMaterial) -> Self {
        let backscatter = LIBRARY_WAVELENGTHS.map(|wavelength| {
            let at_wavelength = material.material.at(wavelength).ok();
            let relative =
                at_wavelength.map(|material| PI * material.backscatter(1.0, Side::Front));
            ((wavelength * 1e9).round(), relative)
        });
        Self {
            name: material.name,
            description: material.description.clone(),
            source: material.source.clone(),
            backscatter: backscatter.to_vec(),
        }
    }

    fn details(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.description);
        let _ = writeln!(text, "source: {}", self.source);
        for (wavelength, relative) in &self.backscatter {
            let number = number(*relative);
            let _ = writeln!(
                text,
                "backscatter at {wavelength} nm, white = 1: {}",
                number.trim()
            );
        }
        text
    }
}

/// Quantity of the columns. It has no unit.
const QUANTITY: &str = "backscatter at normal incidence / that of an ideal white diffuse surface (pi times the BRDF in 1/sr)";

fn table(rows: &[Row]) -> String {
    let mut text = format!("{QUANTITY}, at wavelengths in nm:\n{:24}", "material");
    for wavelength in LIBRARY_WAVELENGTHS {
        let _ = write!(text, "{:>7.0}", wavelength * 1e9);
    }
    text.push('\n');
    for row in rows {
        let _ = write!(text, "{:24}", row.name);
        for (_, relative) in &row.backscatter {
            text.push_str(&number(*relative));
        }
        let _ = writeln!(text, "   {}", row.description);
    }
    text
}

fn number(value: Option<f64>) -> String {
    match value {
        None => format!("{:>7}", "-"),
        Some(value) if value >= 100.0 => format!("{value:>7.0}"),
        Some(value) => format!("{value:>7.3}"),
    }
}
