//! `etendue scenes`, `cameras`, `devices` and `profiles`: built-in files of one kind.

use crate::failure::Failure;
use crate::output::{print, print_json};
use clap::Args;
use etendue::config::presets::{Preset, Presets};
use serde::Serialize;

/// Arguments of a command that lists built-in files.
#[derive(Debug, Args)]
pub struct List {
    /// Name whose file is printed
    name: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "name")]
    json: bool,
}

/// Line of a list.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    description: String,
}

impl List {
    /// Prints the list of the presets, or the file of one.
    pub fn run(&self, presets: Presets) -> Result<(), Failure> {
        if let Some(name) = &self.name {
            return print(presets.find(name)?.text);
        }
        let rows: Vec<Row> = presets.all().iter().map(Row::of).collect();
        if self.json {
            return print_json(&rows);
        }
        let lines = rows
            .iter()
            .map(|row| format!("{}\n    {}\n", row.name, row.description));
        print(&lines.collect::<String>())
    }
}

impl Row {
    fn of(preset: &Preset) -> Self {
        Self {
            name: preset.name,
            description: preset.description(),
        }
    }
}
