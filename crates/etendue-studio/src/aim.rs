//! Live aim: the panel before a sensor while its scans arrive, and what its recording lacks.
//!
//! The panel is found in each ten scans, as `etendue calibrate aim` does with all scans so far. Beams count while it
//! stays where it is; when it is moved, they count from zero.

use crate::recording::Recording;
use crate::refusal::Refusal;
use crate::session::PanelHintRequest;
use etendue::calibrate::noise::panel::find_panel;
use etendue::calibrate::noise::{
    BEAMS_PER_BAND, IncidenceCoverage, Panel, PanelBeams, PanelRecording, PanelSearch,
};
use etendue::io::FormatError;
use etendue::io::scan_log::{ScanStream, Source, open_stream};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Number of scans between two looks at the panel.
const EVERY: u32 = 10;

/// Time between two looks at a recording, which is read faster than it was made.
const RECORDED_PERIOD: Duration = Duration::from_millis(150);

/// Largest changes of a panel that stays: distance (m), bearing and tilt (rad).
const REST: [f64; 3] = [0.02, 0.035, 0.035];

/// Largest number of shown points.
const MAX_POINTS: usize = 4000;

/// Incidence below which the end of the panel is a lack, degrees.
const WANTED_INCIDENCE: f64 = 60.0;

/// Where scans come from.
#[derive(Clone, Debug)]
pub enum AimSource {
    /// A recording, or the output of a driver: standard input, a socket, a device or a pipe.
    Word(String),
    /// The recording of the page.
    Recording(Arc<Recording>),
}

/// An open source.
enum Scans {
    /// A driver that is writing them.
    Live(Box<ScanStream<Source>>),
    /// A recording.
    Recorded(PanelRecording),
}

impl AimSource {
    /// Checks that a source which is a file can be read. Other sources are opened with the aim.
    ///
    /// # Errors
    /// If there is no such file, and the word names no socket and not the standard input.
    pub fn check(word: &str) -> Result<(), Refusal> {
        let path = Path::new(word);
        let port = word.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        let read = match std::fs::metadata(path) {
            _ if word == "-" => Ok(()),
            Ok(found) if found.is_file() => File::open(path).map(|_| ()),
            Ok(_) => Ok(()),
            Err(_) if matches!(port, Some(Ok(_))) => Ok(()),
            Err(error) => Err(error),
        };
        Ok(read.map_err(|error| FormatError::cannot_read(path, error))?)
    }

    fn name(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Recording(recording) => &recording.name,
        }
    }

    fn open(&self) -> Result<Scans, Refusal> {
        let word = match self {
            Self::Word(word) => word,
            Self::Recording(recording) => return Ok(Scans::Recorded(recording.by_direction()?)),
        };
        if let Some(stream) = open_stream(word)? {
            return Ok(Scans::Live(Box::new(stream)));
        }
        let recording = Recording {
            name: word.clone(),
            file: Some(Path::new(word).to_owned()),
            ..Recording::default()
        };
        Ok(Scans::Recorded(recording.by_direction()?))
    }
}

/// A message of the aim.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum AimEvent {
    /// More scans have arrived.
    Scans(Box<AimView>),
    /// The source has ended.
    Done,
    /// The source cannot be read.
    Failed(Refusal),
}

/// What the scans show.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AimView {
    /// Number of scans so far.
    scans: usize,
    /// Positions of the newest scan in the frame of the sensor, x and y, m.
    points: Vec<[f64; 2]>,
    panel: Option<PanelView>,
    /// Why there is no panel.
    problem: Option<String>,
    /// Number of scans for which the panel has not moved.
    rested: usize,
    /// Beams of bands of 10 degrees of incidence since then.
    bands: [usize; 9],
    /// Number of beams that a band needs.
    needed: usize,
    /// Distances of the panel at which every band has enough beams, m.
    complete: Vec<f64>,
    /// What is missing, in words.
    next: Vec<String>,
}

/// The panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PanelView {
    distance: f64,
    bearing_deg: f64,
    tilt_deg: f64,
    /// Greatest incidence, degrees.
    incidence_deg: f64,
    /// Fraction of the beams that returned.
    returned: f64,
    /// Its ends from above, m.
    ends: [[f64; 2]; 2],
}

/// What is known so far.
#[derive(Default)]
struct Aim {
    scans: usize,
    /// Distance, bearing and tilt at which the panel rests.
    place: Option<[f64; 3]>,
    rested: usize,
    coverage: IncidenceCoverage,
    complete: Vec<f64>,
}

/// Looks for the panel until the source ends, or `stop` is set.
pub fn run(
    source: &AimSource,
    hint: PanelHintRequest,
    stop: &AtomicBool,
    send: &impl Fn(AimEvent),
) {
    let mut scans = match source.open() {
        Ok(scans) => scans,
        Err(refusal) => return send(AimEvent::Failed(refusal)),
    };
    let mut aim = Aim::default();
    let mut seen = 0;
    while !stop.load(Ordering::Relaxed) {
        // The next scans
        let batch = match &mut scans {
            Scans::Live(stream) => match stream.next_scans(EVERY as usize) {
                Ok(scans) if scans.is_empty() => break,
                Ok(scans) => {
                    PanelRecording::from_scans(source.name(), &scans).map_err(Refusal::from)
                }
                Err(error) => Err(error.into()),
            },
            Scans::Recorded(recording) => {
                if seen as usize >= recording.scans {
                    break;
                }
                sleep(RECORDED_PERIOD);
                let scans = seen..seen + EVERY;
                seen += EVERY;
                Ok(recording.of_scans(|scan| scans.contains(&scan)))
            }
        };
        // The panel in them
        match batch {
            Ok(batch) => send(AimEvent::Scans(Box::new(aim.view(&batch, hint)))),
            Err(refusal) => return send(AimEvent::Failed(refusal)),
        }
    }
    send(AimEvent::Done);
}

impl Aim {
    /// What scans show, after those before.
    fn view(&mut self, batch: &PanelRecording, hint: PanelHintRequest) -> AimView {
        self.scans += batch.scans;
        let mut view = AimView {
            scans: self.scans,
            points: newest_points(batch),
            needed: BEAMS_PER_BAND,
            ..AimView::default()
        };
        match find_panel(batch, &hint.hint(), &PanelSearch::default()) {
            Ok(panel) => {
                let beams = PanelBeams::of(batch, &panel);
                self.count(&panel, &beams, batch.scans);
                view.panel = Some(PanelView::of(&panel, &beams, batch));
                view.next = self.next(&panel);
            }
            Err(error) => {
                self.place = None;
                (self.rested, self.coverage) = (0, IncidenceCoverage::default());
                view.problem = Some(error.to_string());
                view.next = vec![error.remedy().to_owned()];
            }
        }
        view.rested = self.rested;
        view.bands = self.coverage.beams;
        view.complete.clone_from(&self.complete);
        view
    }

    /// Counts beams; from zero where the panel has moved.
    fn count(&mut self, panel: &Panel, beams: &PanelBeams, scans: usize) {
        let place = [panel.plane.distance, panel.bearing(), panel.tilt()];
        let rests = self.place.is_some_and(|before| {
            let changes = before.iter().zip(place).zip(REST);
            let mut moved = changes.map(|((before, now), most)| (now - before).abs() > most);
            !moved.any(|moved| moved)
        });
        if !rests {
            self.place = Some(place);
            (self.rested, self.coverage) = (0, IncidenceCoverage::default());
        }
        self.rested += scans;
        let was_complete = self.is_complete();
        self.coverage.add(&IncidenceCoverage::of(beams));
        if self.is_complete() && !was_complete {
            self.complete.push(panel.plane.distance);
        }
    }

    /// Whether every band with beams has enough.
    fn is_complete(&self) -> bool {
        self.coverage.beams[0] > 0 && self.coverage.sparse().next().is_none()
    }

    /// What the recording at this place lacks.
    fn next(&self, panel: &Panel) -> Vec<String> {
        let mut next: Vec<String> = self
            .coverage
            .sparse()
            .map(|(band, beams)| {
                let more = (BEAMS_PER_BAND - beams) * self.rested.max(1);
                let scans = more.div_ceil(beams);
                format!(
                    "{} to {} degrees: about {scans} more scans",
                    10 * band,
                    10 * band + 10
                )
            })
            .collect();
        if next.is_empty() {
            next.push("every band has enough beams: this place is complete".into());
        }
        let end = greatest_incidence(panel);
        if end < WANTED_INCIDENCE {
            next.push(format!(
                "the panel ends at {end:.0} degrees of incidence: nearer, turned or wider it shows more"
            ));
        }
        next
    }
}

/// Greatest incidence on a panel, degrees.
fn greatest_incidence(panel: &Panel) -> f64 {
    let [low, high] = panel.sector.edges;
    high.max(-low).to_degrees()
}

impl PanelView {
    fn of(panel: &Panel, beams: &PanelBeams, batch: &PanelRecording) -> Self {
        let cells = &panel.sector.cells;
        let hit = |cell: Option<&usize>| {
            let direction = cell.map_or_else(Default::default, |cell| batch.cells[*cell].direction);
            let at = direction * panel.plane.range(&direction);
            [at.x, at.y]
        };
        Self {
            distance: panel.plane.distance,
            bearing_deg: panel.bearing().to_degrees(),
            tilt_deg: panel.tilt().to_degrees(),
            incidence_deg: greatest_incidence(panel),
            returned: beams.returned() as f64 / beams.beams.len().max(1) as f64,
            ends: [hit(cells.first()), hit(cells.last())],
        }
    }
}

/// The points of the newest scan.
fn newest_points(batch: &PanelRecording) -> Vec<[f64; 2]> {
    let points = batch.cells.iter().filter_map(|cell| {
        let range = cell.samples.last()?.range?;
        let at = cell.direction * range;
        let rounded = |metres: f64| (metres * 1e4).round() / 1e4;
        Some([rounded(at.x), rounded(at.y)])
    });
    let every = batch.cells.len().div_ceil(MAX_POINTS).max(1);
    points.step_by(every).collect()
}
