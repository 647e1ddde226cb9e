//! `etendue repair`.

use crate::failure::Failure;
use crate::output::{commit, print, print_json, warn};
use clap::Args;
use etendue::io::output::OutputSet;
use etendue::io::ros2::repair_recording;
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `etendue repair`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue repair drive.mcap\n          \
    etendue repair drive.mcap -o whole.mcap\n\n\
    A recording that a killed run left has no index, and its last chunk may be cut. All messages before the cut are \
    copied, with an index; the file is replaced only by a complete one. A complete recording is not changed.")]
pub struct Repair {
    /// MCAP recording
    recording: PathBuf,
    /// File for the repaired recording [default: the recording is replaced]
    #[arg(short, long, value_name = "FILE.mcap")]
    output: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Repair {
    /// Repairs the recording and prints the number of its messages.
    pub fn run(self) -> Result<(), Failure> {
        let to = self.output.as_ref().unwrap_or(&self.recording);
        let mut outputs = OutputSet::new();
        let repaired = repair_recording(&mut outputs, &self.recording, to)?;
        let files = commit(outputs)?;
        // Report
        let seconds = repaired
            .span
            .map_or(0.0, |[first, last]| (last - first) as f64 * 1e-9);
        warn(&repaired.damage);
        if self.json {
            return print_json(&json!({
                "messages": repaired.messages,
                "seconds": seconds,
                "damage": repaired.damage,
                "files": files,
            }));
        }
        let messages = repaired.messages;
        print(&match files.first() {
            Some(file) => format!(
                "{messages} messages of {seconds:.3} s\n  wrote {}\n",
                file.display()
            ),
            None => format!(
                "{messages} messages of {seconds:.3} s: the recording is complete and was not changed\n"
            ),
        })
    }
}
