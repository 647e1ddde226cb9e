//! `etendue calibrate aim`.

use super::ask::Hints;
use super::figures;
use super::load;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::print;
use clap::Args;
use etendue::calibrate::noise::panel::find_panel;
use etendue::calibrate::noise::{Panel, PanelBeams, PanelSearch, Recording};
use std::path::PathBuf;

/// Arguments of `etendue calibrate aim`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue calibrate aim --source recording.txt -o aim\n\n\
    Goes through the recording as if it came live, a line a second of scans, and draws what is \
    seen from above. A band of 10 degrees of incidence is enough with 400 beams: then a drop-out \
    of 5 % is known to about 2 %."
)]
pub struct Aim {
    /// A recording that serves as the source
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Scans a line
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    #[command(flatten)]
    hints: Hints,
    /// Folder for the picture; without it, none is drawn
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Beams in a band that are enough.
const ENOUGH: usize = 400;

impl Aim {
    /// Tells what is seen, scan after scan.
    pub fn run(self) -> Result<(), Failure> {
        let loaded = load::recording(&self.source)?;
        let scans = u32::try_from(loaded.recording.scans).unwrap_or(u32::MAX);
        let mut seen = self.every.min(scans);
        let last = loop {
            let recording = loaded.recording.of_scans(|scan| scan < seen);
            let found = find_panel(&recording, &self.hints.hint(), &PanelSearch::default());
            print(&match &found {
                Ok(panel) => line(&recording, panel),
                Err(error) => format!("{seen:>5} scans: {error}\n"),
            })?;
            if seen >= scans {
                break found.map(|panel| (recording, panel));
            }
            seen = (seen + self.every).min(scans);
        };
        let (recording, panel) = last?;
        for remark in &panel.remarks {
            eprintln!("note: {remark}");
        }
        let Some(output) = &self.output else {
            return Ok(());
        };
        let mut folder = Folder::new(output);
        folder.picture(
            "aim",
            &figures::from_above(&recording, &panel, "what the sensor sees"),
        )?;
        let files = folder.commit()?;
        print(&format!("wrote {}\n", files[0].display()))
    }
}

fn line(recording: &Recording, panel: &Panel) -> String {
    let beams = PanelBeams::of(recording, panel);
    let mut bands = [0_usize; 9];
    for beam in &beams.beams {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "incidence is within a quarter turn"
        )]
        let band = (beam.incidence.to_degrees() / 10.0) as usize;
        bands[band.min(8)] += 1;
    }
    let thin: Vec<String> = { bands.iter().enumerate() }
        .filter(|(_, beams)| (1..ENOUGH).contains(*beams))
        .map(|(band, beams)| format!("{}-{} deg: {beams}", 10 * band, 10 * band + 10))
        .collect();
    format!(
        "{:>5} scans: panel at {:.3} m, bearing {:.1} deg, tilt {:+.1} deg, seen to {:.0} deg, {:.0} % returned; {}\n",
        recording.scans,
        panel.plane.distance,
        panel.bearing().to_degrees(),
        panel.tilt().to_degrees(),
        panel.sector.edges[1]
            .max(-panel.sector.edges[0])
            .to_degrees(),
        1e2 * beams.returned() as f64 / beams.beams.len().max(1) as f64,
        if thin.is_empty() {
            "enough beams in every band".to_owned()
        } else {
            format!("too few beams yet ({})", thin.join(", "))
        }
    )
}
