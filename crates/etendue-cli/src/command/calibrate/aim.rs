//! `etendue calibrate aim`.

use super::figures;
use super::hints::Hints;
use super::load;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_text, warn};
use clap::Args;
use etendue::calibrate::noise::panel::find_panel;
use etendue::calibrate::noise::{
    IncidenceCoverage, NoiseError, Panel, PanelBeams, PanelRecording, PanelSearch,
};
use etendue::io::scan_log::{ScanStream, Source, open_stream};
use std::path::{Path, PathBuf};

/// Arguments of `etendue calibrate aim`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue calibrate aim --source recording.txt -o aim\n          \
    ultra_simple --channel --serial /dev/ttyUSB0 115200 | etendue calibrate aim --source - -o aim\n          \
    etendue calibrate aim --source 192.168.0.7:4000 --scans 300\n\n\
    A recording is replayed as if it were live. A driver that writes a scan log line by line can \
    be connected through standard input, a named pipe, a serial port (configured with stty) or a \
    socket; the picture is then updated with each printed line. Each band of 10 degrees of \
    incidence needs 400 beams, which determine a drop-out rate of 5 % to within about 2 %."
)]
pub struct Aim {
    /// A recording, or the output of a driver: - (standard input), host:port, a device or a pipe
    #[arg(long, value_name = "FILE|DEVICE", allow_hyphen_values = true)]
    source: String,
    /// Scans per printed line
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Number of scans to read [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    scans: Option<u32>,
    #[command(flatten)]
    lidar: LidarOptions,
    #[command(flatten)]
    hints: Hints,
    /// Folder for the picture [default: no picture]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Aim {
    /// Finds the panel, and prints its pose as scans arrive.
    pub fn run(self) -> Result<(), Failure> {
        let last = match open_stream(&self.source)? {
            Some(stream) => self.live(stream)?,
            None => self.recorded()?,
        };
        let (recording, panel) = last?;
        warn(&panel.warnings);
        let files = self.draw(&recording, &panel)?;
        match files.first() {
            Some(file) => print(&format!("wrote {}\n", file.display())),
            None => Ok(()),
        }
    }

    /// Replays a recording.
    fn recorded(&self) -> Result<Found, Failure> {
        let loaded = load::recording(Path::new(&self.source), &self.lidar)?;
        let scans = u32::try_from(loaded.recording.scans).unwrap_or(u32::MAX);
        let scans = scans.min(self.scans.unwrap_or(u32::MAX));
        let mut seen = self.every.min(scans);
        loop {
            let found = self.print_panel(loaded.recording.of_scans(|scan| scan < seen))?;
            if seen >= scans {
                return Ok(found);
            }
            seen = (seen + self.every).min(scans);
        }
    }

    /// Reads the scans of a driver as they arrive.
    fn live(&self, mut stream: ScanStream<Source>) -> Result<Found, Failure> {
        let most = self.scans.map_or(usize::MAX, |scans| scans as usize);
        let mut scans = Vec::new();
        let mut found = None;
        while scans.len() < most {
            let more = stream.next_scans(self.every as usize)?;
            if more.is_empty() {
                break;
            }
            scans.extend(more);
            scans.truncate(most);
            let now = self.print_panel(PanelRecording::from_scans(&self.source, &scans)?)?;
            if let Ok((recording, panel)) = &now {
                self.draw(recording, panel)?;
            }
            found = Some(now);
        }
        let nothing = || NoiseError::Empty {
            recording: self.source.clone(),
        };
        Ok(found.unwrap_or_else(|| Err(nothing())))
    }

    /// Finds the panel and prints a line with its pose.
    fn print_panel(&self, recording: PanelRecording) -> Result<Found, Failure> {
        let found = find_panel(&recording, &self.hints.hint(), &PanelSearch::default());
        print_text(&match &found {
            Ok(panel) => line(&recording, panel),
            Err(error) => format!("{:>5} scans: {error}\n", recording.scans),
        })?;
        Ok(found.map(|panel| (recording, panel)))
    }

    /// Draws the panel if there is an output folder.
    fn draw(&self, recording: &PanelRecording, panel: &Panel) -> Result<Vec<PathBuf>, Failure> {
        let Some(output) = &self.output else {
            return Ok(Vec::new());
        };
        let mut folder = Folder::new(output);
        let drawing = figures::from_above(recording, panel, "panel and beams from above");
        folder.picture("aim", &drawing)?;
        folder.commit()
    }
}

/// A recording and the panel in it.
type Found = Result<(PanelRecording, Panel), NoiseError>;

/// Line with the pose of a panel and the bands of incidence with too few beams.
fn line(recording: &PanelRecording, panel: &Panel) -> String {
    // List the bands with too few beams
    let beams = PanelBeams::of(recording, panel);
    let coverage = IncidenceCoverage::of(&beams);
    let sparse: Vec<String> = coverage
        .sparse()
        .map(|(band, beams)| format!("{}-{} deg: {beams}", 10 * band, 10 * band + 10))
        .collect();
    // Line with the pose of the panel and these bands
    format!(
        "{:>5} scans: panel at {:.3} m, bearing {:.1} deg, tilt {:+.1} deg, incidence up to {:.0} \
         deg, {:.0} % returned; {}\n",
        recording.scans,
        panel.plane.distance,
        panel.bearing().to_degrees(),
        panel.tilt().to_degrees(),
        panel.sector.edges[1]
            .max(-panel.sector.edges[0])
            .to_degrees(),
        1e2 * beams.returned() as f64 / beams.beams.len().max(1) as f64,
        if sparse.is_empty() {
            "enough beams in every band".to_owned()
        } else {
            format!("too few beams yet ({})", sparse.join(", "))
        }
    )
}
