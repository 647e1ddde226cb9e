//! `etendue calibrate` without a subcommand: recordings to profile files.

use super::beside_truth::TruthReport;
use super::figures;
use super::hints::Hints;
use super::hold_out::HoldOutReport;
use super::load::{Loaded, profile, recording};
use super::panel_picture;
use super::report::{MaterialReport, text};
use super::verdict::VerdictReport;
use crate::device::LidarOptions;
use crate::failure::{DOUBTFUL_EXIT_CODE, Failure, REFUSED_EXIT_CODE};
use crate::folder::Folder;
use crate::output::{print_report, warn};
use crate::sequence::bar;
use clap::Args;
use etendue::calibrate::noise::score::{hold_out, hold_out_quickly};
use etendue::calibrate::noise::truth::Truth;
use etendue::calibrate::noise::verdict::{Grade, Verdict, judge};
use etendue::calibrate::noise::{
    CalibrationOptions, NoiseCalibration, Panel, PanelBeams, PanelHint, PanelRecording,
    RangingPrinciple, calibrate,
};
use etendue::config::profile::{
    CalibrationSetup, ProfileFile, Provenance, Quality, SetupPanel, load_calibration_setup,
};
use etendue::physics::profile::Profile;
use indicatif::ProgressBar;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `etendue calibrate` without a subcommand.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the command line"
)]
pub struct Profiles {
    /// Calibration setup file (.toml), or an ApolloSim data.config
    #[arg(required_unless_present = "recording", conflicts_with = "recording")]
    setup: Option<PathBuf>,
    /// Recording of one panel, instead of a setup file: a scan log, bag (MCAP, ROS 1, ROS 2), packet
    /// capture, cloud or folder of clouds; several recordings of one material give one profile
    #[arg(long, value_name = "FILE", requires = "material")]
    recording: Vec<PathBuf>,
    /// Material of the panel
    #[arg(long, requires = "recording")]
    material: Option<String>,
    /// Name of the sensor
    #[arg(long, default_value = "sensor", conflicts_with = "setup")]
    sensor: String,
    /// The sensor measures the time of flight (pulse or phase); otherwise it triangulates
    #[arg(long, conflicts_with = "setup")]
    time_of_flight: bool,
    #[command(flatten)]
    lidar: LidarOptions,
    #[command(flatten)]
    hints: Hints,
    /// Report the test on held-out scans, with all of them, and compare with three baselines; without it
    /// the test is made on up to 20,000 beams, for the verdict only
    #[arg(long)]
    holdout: bool,
    /// Write doubtful profiles, too; they state their verdict and its reasons
    #[arg(long)]
    accept_doubtful: bool,
    /// Also draw the profiles
    #[arg(long)]
    figures: bool,
    /// Profile of the panel of a simulated recording, by name or file: report the deviations of the result from it in
    /// stated standard errors, and draw both
    #[arg(
        long,
        value_name = "PROFILE",
        requires = "material",
        conflicts_with = "setup"
    )]
    truth: Option<String>,
    /// Folder for the profiles, one file per material
    #[arg(short, long, default_value = "out/profiles", value_name = "DIR")]
    output: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Number of stages per material that the progress bar shows.
const STAGES: usize = 3;

/// The recordings of one material.
struct Task {
    options: CalibrationOptions,
    panels: Vec<(SetupPanel, PanelHint, Loaded)>,
}

/// Printed results.
#[derive(Serialize)]
struct Results {
    materials: Vec<MaterialReport>,
    hold_out: Vec<HoldOutReport>,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
}

impl Profiles {
    /// Calibrates, prints a summary, and writes the profiles. If one of them is refused or doubtful, only the pictures
    /// of the panels are written.
    pub fn run(self) -> Result<(), Failure> {
        // Load and calibrate each material
        let setup = self.setup()?;
        let truth = self.truth()?;
        let progress = bar("reading", STAGES * setup.materials().len());
        let mut calibrations = Vec::new();
        let mut folder = Folder::new(&self.output);
        let mut pictures = Folder::new(&self.output);
        let mut results = Results {
            materials: Vec::new(),
            hold_out: Vec::new(),
            files: Vec::new(),
            warnings: Vec::new(),
        };
        for (material, panels) in setup.materials() {
            progress.set_message(format!("{material}: reading"));
            let task = Task::load(&setup, material, &panels, &self.lidar)?;
            progress.inc(1);
            let (calibration, verdict) = self.calibrate(
                &task,
                truth.as_deref(),
                &mut folder,
                &mut results,
                &progress,
            )?;
            task.add_pictures(&mut pictures, &calibration, &verdict)?;
            calibrations.push(calibration);
        }
        progress.finish_and_clear();

        // Write everything, or the pictures only if a profile is refused or doubtful
        let grade = self.objection_grade(&results);
        if grade.is_none() {
            if self.figures {
                figures::add_overview(&mut folder, &calibrations)?;
            }
            if self.holdout {
                folder.json("holdout.json", &results.hold_out)?;
            }
            folder.append(pictures);
            results.files = folder.commit()?;
        } else {
            results.files = pictures.commit()?;
        }
        let objection = grade.map(|grade| objection(grade, &results));

        // Report; of an objection, the error states the reasons, and JSON all checks
        warn(&results.warnings);
        if self.json || objection.is_none() {
            print_report(self.json, &results, Self::summary)?;
        }
        objection.map_or(Ok(()), Err)
    }

    /// Worst grade of the profiles that prevents writing: refused, or doubtful without `--accept-doubtful`.
    fn objection_grade(&self, results: &Results) -> Option<Grade> {
        let is_any =
            |grade: Grade| (results.materials.iter()).any(|one| one.verdict.grade == grade);
        let doubtful = is_any(Grade::Doubtful) && !self.accept_doubtful;
        if is_any(Grade::Refused) {
            Some(Grade::Refused)
        } else {
            doubtful.then_some(Grade::Doubtful)
        }
    }

    /// The calibration setup file, or one with the recordings of the arguments.
    fn setup(&self) -> Result<CalibrationSetup, Failure> {
        if let Some(path) = &self.setup {
            check_is_setup(path)?;
            return Ok(load_calibration_setup(path)?);
        }
        let material = self.material.clone().unwrap_or_default();
        let panel = |recording: &PathBuf| {
            let hint = self.hints.hint();
            SetupPanel {
                material: material.clone(),
                recording: recording.clone(),
                topic: None,
                distance: hint.distance,
                width: hint.width,
                bearing: hint.bearing,
                sector: None,
                source: String::new(),
            }
        };
        Ok(CalibrationSetup {
            sensor: self.sensor.clone(),
            time_of_flight: self.time_of_flight,
            wavelength: None,
            panels: self.recording.iter().map(panel).collect(),
        })
    }

    /// The profile of `--truth`.
    fn truth(&self) -> Result<Option<Arc<Profile>>, Failure> {
        let Some(name) = &self.truth else {
            return Ok(None);
        };
        if self.recording.len() > 1 {
            let count = self.recording.len();
            return Err(Failure::argument(
                format!("--truth compares one recording with a profile, and {count} are given"),
                "calibrate each recording with --truth, or all of them without it",
            ));
        }
        let (_, profile) = profile(name)?;
        Ok(Some(profile))
    }

    fn calibrate(
        &self,
        task: &Task,
        truth: Option<&Profile>,
        folder: &mut Folder,
        results: &mut Results,
        progress: &ProgressBar,
    ) -> Result<(NoiseCalibration, Verdict), Failure> {
        // Fit the profile
        let material = &task.options.material;
        let recordings = task.recordings();
        progress.set_message(format!("{material}: fitting"));
        let calibration = calibrate(&recordings, &task.options)?;
        progress.inc(1);

        // Test it on held-out scans, and judge it
        progress.set_message(format!("{material}: testing on held-out scans"));
        let test = if self.holdout {
            hold_out
        } else {
            hold_out_quickly
        };
        let scores = test(&recordings, &task.options);
        let parts: Vec<&PanelRecording> = recordings.iter().map(|(r, _)| *r).collect();
        let verdict = judge(&parts, &calibration, &scores);
        progress.inc(1);

        // Add its files
        let name = file_name(material);
        let file = task.file(&calibration, &verdict);
        folder.text(&format!("{name}.toml"), file.to_toml())?;
        let recording = &task.panels[0].2.recording;
        let distance = calibration.profile.distance;
        let truth = truth.map(|known| Truth::new(known, &calibration, recording, distance));
        if self.figures || truth.is_some() {
            figures::add(folder, &name, &calibration, recording, truth.as_ref())?;
        }
        if let (true, Ok(scores)) = (self.holdout, &scores) {
            results.hold_out.push(HoldOutReport::of(material, scores));
            if self.figures {
                figures::add_hold_out(folder, &name, scores)?;
            }
        }

        // Collect the warnings and the report
        let panels = task.panels.iter();
        let reading_warnings = panels.flat_map(|(_, _, loaded)| &loaded.warnings);
        for warning in reading_warnings.chain(&calibration.warnings) {
            let warning = format!("{material}: {warning}");
            results.warnings.push(warning);
        }
        let mut report = MaterialReport::of(&calibration, &verdict);
        report.truth = self
            .truth
            .as_ref()
            .zip(truth.as_ref())
            .and_then(|(name, truth)| TruthReport::of(name, truth, &calibration));
        results.materials.push(report);
        Ok((calibration, verdict))
    }

    fn summary(results: &Results) -> String {
        let mut words = text(&results.materials);
        for report in &results.hold_out {
            words += &report.text();
        }
        let files: Vec<String> = results
            .files
            .iter()
            .map(|f| f.display().to_string())
            .collect();
        if !files.is_empty() {
            writeln!(words, "wrote {}", files.join(", "))
                .expect("writing to a string does not fail");
        }
        words
    }
}

/// Endings of recordings that may be taken for setup files.
const RECORDINGS: [&str; 11] = [
    "bag", "csv", "dat", "db3", "las", "laz", "mcap", "npz", "pcap", "pcd", "ply",
];

/// Error where a recording is given as the setup file.
fn check_is_setup(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if !RECORDINGS.contains(&ending) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(
        format!("{path} is a recording, where a calibration setup file is expected"),
        format!("`etendue calibrate --recording {path} --material NAME` calibrates from it"),
    ))
}

/// Error that states the reasons of all profiles of a grade, and names the pictures of the panels.
fn objection(grade: Grade, results: &Results) -> Failure {
    let materials = results.materials.iter();
    let matching = materials.filter(|material| material.verdict.grade == grade);
    let reasons: Vec<String> = matching.map(MaterialReport::objection).collect();
    let is_png = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "png");
    let pictures = results.files.iter().filter(is_png);
    let pictures: Vec<String> = pictures.map(|file| file.display().to_string()).collect();
    let (code, remedy) = match grade {
        Grade::Refused => (
            REFUSED_EXIT_CODE,
            "record again with a flat board before a sensor at rest",
        ),
        _ => (
            DOUBTFUL_EXIT_CODE,
            "record again, or accept the profiles with --accept-doubtful",
        ),
    };
    Failure::ProfileNotWritten {
        message: format!(
            "{}, no profile was written:\n{}",
            grade.name(),
            reasons.join("\n")
        ),
        remedy: format!(
            "{remedy}; what was taken as the panel: {}",
            pictures.join(", ")
        ),
        code,
    }
}

impl Task {
    fn load(
        setup: &CalibrationSetup,
        material: &str,
        panels: &[&SetupPanel],
        lidar: &LidarOptions,
    ) -> Result<Self, Failure> {
        // Load the recording of each panel
        let load = |panel: &&SetupPanel| {
            let hint = PanelHint {
                distance: panel.distance,
                width: panel.width,
                bearing: panel.bearing,
                sector: panel.sector,
            };
            let own = panel.topic.as_ref().map(|topic| lidar.with_topic(topic));
            let loaded = recording(&panel.recording, own.as_ref().unwrap_or(lidar))?;
            Ok(((*panel).clone(), hint, loaded))
        };

        // Options of the calibration
        let principle = if setup.time_of_flight {
            RangingPrinciple::TimeOfFlight
        } else {
            RangingPrinciple::Triangulating
        };
        let options = CalibrationOptions {
            sensor: setup.sensor.clone(),
            material: material.into(),
            principle,
            wavelength: setup.wavelength,
            ..CalibrationOptions::default()
        };

        let panels = panels.iter().map(load).collect::<Result<_, Failure>>()?;
        Ok(Self { options, panels })
    }

    fn recordings(&self) -> Vec<(&PanelRecording, PanelHint)> {
        let panels = self.panels.iter();
        panels
            .map(|(_, hint, loaded)| (&loaded.recording, *hint))
            .collect()
    }

    /// Adds a picture of what was taken as the panel in each recording.
    fn add_pictures(
        &self,
        folder: &mut Folder,
        calibration: &NoiseCalibration,
        verdict: &Verdict,
    ) -> Result<(), Failure> {
        let name = file_name(&self.options.material);
        let panels = self.panels.iter().zip(&calibration.panels);
        for (number, ((declared, _, loaded), report)) in (1..).zip(panels) {
            let picture = match self.panels.len() {
                1 => format!("{name}-panel"),
                _ => format!("{name}-panel-{number}"),
            };
            let title = format!("{name}, {}", base_name(&declared.recording));
            let drawing = panel_picture::draw(&loaded.recording, &report.panel, verdict, &title);
            folder.picture(&picture, &drawing)?;
        }
        Ok(())
    }

    /// File of a profile, with its verdict, the quality of its fit and its provenance.
    fn file(&self, calibration: &NoiseCalibration, verdict: &Verdict) -> ProfileFile {
        let mut file = ProfileFile::of(&calibration.profile);
        file.description = format!(
            "{} on {}, from {} recordings",
            file.sensor,
            file.material,
            self.panels.len()
        );
        file.warnings.clone_from(&calibration.warnings);
        file.quality = Some(quality(calibration));
        file.verdict = Some(VerdictReport::of(verdict).file());
        let panels = self.panels.iter().zip(&calibration.panels);
        file.provenance = panels
            .map(|((panel, _, loaded), report)| provenance(panel, loaded, &report.panel))
            .collect();
        file
    }
}

/// Number of beams and properties of the fit, rounded for the file.
fn quality(calibration: &NoiseCalibration) -> Quality {
    let beams = calibration.panels.iter().map(|panel| &panel.beams);
    Quality {
        beams: beams.clone().map(|b| b.beams.len()).sum(),
        returned: beams.clone().map(PanelBeams::returned).sum(),
        strays: beams.map(|b| b.strays).sum(),
        bias_penalty: calibration.penalties[0],
        spread_penalty: calibration.penalties[1],
        drop_out_penalty: calibration.penalties[2],
        reflectance_deviance: (calibration.reflectance.deviance * 1e2).round() / 1e2,
        copies: (calibration.neighbour_correlation.copies * 1e3).round() / 1e3,
    }
}

/// Recording of a panel, with the panel found in it, rounded for the file.
fn provenance(declared: &SetupPanel, loaded: &Loaded, found: &Panel) -> Provenance {
    Provenance {
        recording: base_name(&declared.recording),
        sha256: loaded.sha256.clone(),
        source: declared.source.clone(),
        scans: loaded.recording.scans,
        distance_m: (found.plane.distance * 1e5).round() / 1e5,
        distance_error_mm: (found.distance_error * 1e6).round() / 1e3,
        bearing_deg: (found.bearing().to_degrees() * 1e3).round() / 1e3,
        rms_mm: (found.rms * 1e6).round() / 1e3,
        declared_distance_m: declared.distance,
        declared_width_m: declared.width,
    }
}

fn base_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// File name of a material.
fn file_name(material: &str) -> String {
    let plain = |letter: char| {
        if letter.is_alphanumeric() || letter == '-' || letter == '_' {
            letter
        } else {
            '-'
        }
    };
    material.chars().map(plain).collect()
}
