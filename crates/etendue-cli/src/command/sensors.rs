//! `etendue sensors`.

use crate::failure::Failure;
use crate::output::{print, print_json};
use clap::Args;
use etendue::config::presets::{DEVICES, Preset, SENSORS};
use etendue::config::sensor::{Sensor, preset, presets};
use serde_json::json;
use std::fmt::Write;

/// Arguments of `etendue sensors`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue sensors hokuyo-urg-04lx > mine.toml\n  \
    prints the preset as a sensor file; edit it and run `etendue simulate --sensor mine.toml`."
)]
pub struct Sensors {
    /// Preset whose sensor file is printed
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sensors {
    /// Prints the list, or the file of one sensor.
    pub fn run(self) -> Result<(), Failure> {
        if let Some(name) = &self.name {
            if let Ok(device) = DEVICES.find(name) {
                return print(device.text);
            }
            return print(SENSORS.find(name)?.text);
        }
        let sensors = presets()
            .iter()
            .map(|known| Ok((known, preset(known.name)?)));
        let sensors = sensors.collect::<Result<Vec<_>, Failure>>()?;
        if self.json {
            print_json(&sensors.iter().map(as_json).collect::<Vec<_>>())
        } else {
            print(&(list(&sensors) + &devices()))
        }
    }
}

fn as_json((preset, sensor): &(&Preset, Sensor)) -> serde_json::Value {
    json!({
        "preset": preset.name,
        "name": sensor.name,
        "description": sensor.description,
        "sources": sensor.sources,
    })
}

/// Devices that only robots have: IMUs, GNSS receivers, barometers.
fn devices() -> String {
    let mut text = String::from("for robots (`etendue run`):\n");
    for device in DEVICES.all() {
        let _ = writeln!(text, "{}\n    {}", device.name, device.description());
    }
    text
}

fn list(sensors: &[(&Preset, Sensor)]) -> String {
    let mut text = String::new();
    for (preset, sensor) in sensors {
        let _ = writeln!(text, "{}", preset.name);
        let _ = writeln!(text, "    {}. {}", sensor.name, sensor.description);
        for source in &sensor.sources {
            let _ = writeln!(text, "    source: {source}");
        }
    }
    text
}
