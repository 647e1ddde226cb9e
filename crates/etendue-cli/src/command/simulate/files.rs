//! Files of one lidar.

use super::ending::unknown_ending;
use super::scan::ScanRun;
use super::selection;
use super::trajectory::SensorTrajectory;
use crate::failure::Failure;
use crate::folder::is_file_name;
use crate::interrupt;
use crate::output::{remark, warn};
use crate::view::range_image;
use etendue::io::FormatError;
use etendue::io::output::{OutputSet, RunMetadata, SimulatedSweeps};
use etendue::io::points::{PointFormat, lossy_fields};
use etendue::io::ros2::{LidarRecorder, LidarTopics, bag_metadata};
use etendue::io::scan_log::{write_sweeps_csv, write_sweeps_npz};
use etendue::io::table::{Encoding, PointTable};
use etendue::sensors::lidar::{Lidar, Sweep};
use etendue::sensors::transport::World;
use etendue_plot::{Drawing, png, svg};
use std::cell::OnceCell;
use std::io::Cursor;
use std::path::{Path, PathBuf};

impl ScanRun<'_> {
    /// Adds all files to `outputs`.
    pub fn write(
        &self,
        outputs: &mut OutputSet,
        world: &World<f64>,
        scans: &[Sweep],
        run: SimulatedSweeps,
        metadata: &RunMetadata,
    ) -> Result<(), Failure> {
        // Paths of the files
        let output = &self.arguments.output;
        let single = is_file_name(output);
        let paths: Vec<PathBuf> = if single {
            vec![output.clone()]
        } else {
            let formats = selection::selected(self.arguments.formats.as_deref());
            let files = selection::files(&formats);
            files.iter().map(|name| output.join(name)).collect()
        };

        // Files of all sweeps
        let files = Files {
            table: OnceCell::new(),
            scans,
            metadata,
            picture: &|| self.picture(run, scans, metadata),
            lidar: self.lidar,
            trajectory: &self.trajectory,
            classes: &self.loaded.classes.of_object,
            run,
            is_single: single,
        };
        for path in &paths {
            files.add(outputs, path)?;
            interrupt::check()?;
        }

        // The waveform of one beam
        if let Some(beam) = self.arguments.waveform {
            let drawing = self.waveform(world, &scans[0], beam)?;
            let path = if single {
                output.with_extension("waveform.svg")
            } else {
                output.join("waveform.svg")
            };
            let svg = svg::write(&drawing);
            outputs.add(&path, |file| file.write_all(svg.as_bytes()))?;
        }
        Ok(())
    }
}

/// Data for the files of a run.
struct Files<'a> {
    table: OnceCell<PointTable>,
    scans: &'a [Sweep],
    metadata: &'a RunMetadata,
    run: SimulatedSweeps<'a>,
    picture: &'a dyn Fn() -> Drawing,
    lidar: &'a Lidar,
    trajectory: &'a SensorTrajectory,
    classes: &'a [i32],
    /// Whether the output is a single file.
    is_single: bool,
}

impl Files<'_> {
    /// Adds a file by its name and ending.
    fn add(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), Failure> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let ending = name.rsplit('.').next().unwrap_or_default();

        // Tables of points with semantic classes
        let classified = |mut table: PointTable| {
            table.classify(self.classes);
            table
        };
        let all = || classified(PointTable::of_scans(self.scans));
        let table = || self.table.get_or_init(all);

        // Write the format of the name
        match (name.as_str(), ending) {
            ("range.png", _) => {
                let image = range_image::png(&self.scans[0])?;
                outputs.add(path, |file| file.write_all(&image))?;
            }
            ("intensity.png", _) => {
                let image = range_image::intensity_png(&self.scans[0])?;
                outputs.add(path, |file| file.write_all(&image))?;
            }
            ("grid.pcd", _) => {
                let grid = classified(PointTable::of_scan_grid(&self.scans[0]));
                PointFormat::Pcd.write(outputs, path, &grid, Encoding::Binary)?;
            }
            (name, "csv") if name.ends_with("beams.csv") => {
                write_sweeps_csv(outputs, path, self.run)?;
            }
            (name, "npz") if name.ends_with("beams.npz") => {
                write_sweeps_npz(outputs, path, self.run)?;
            }
            (_, "mcap") => self.add_mcap(outputs, path)?,
            ("metadata.yaml", _) => {
                let recording = Cursor::new(self.recording()?.into_bytes()?);
                let bag = bag_metadata("scan.mcap".as_ref(), recording)?;
                outputs.add(path, |file| file.write_all(bag.as_bytes()))?;
            }
            (_, "json") => self.metadata.write(outputs, path)?,
            (_, "svg") => {
                let svg = svg::write(&(self.picture)());
                outputs.add(path, |file| file.write_all(svg.as_bytes()))?;
            }
            (_, "png") => {
                let png = png::render(&(self.picture)(), 2.0)?;
                outputs.add(path, |file| file.write_all(&png))?;
            }
            _ => {
                let format = PointFormat::of_ending(path).filter(|format| format.is_written());
                let format = format.ok_or_else(|| unknown_ending(path))?;
                self.add_table(outputs, path, format, table())?;
            }
        }
        Ok(())
    }

    /// Adds the points in a format, and reports values that it changes; for a single file, also
    /// fields that it drops.
    fn add_table(
        &self,
        outputs: &mut OutputSet,
        path: &Path,
        format: PointFormat,
        table: &PointTable,
    ) -> Result<(), FormatError> {
        let fields = lossy_fields(table, format);
        for warning in &fields.warnings {
            warn([format!("{}: {warning}", path.display())]);
        }
        if self.is_single && !fields.dropped.is_empty() {
            let dropped = fields.dropped.join(" ");
            remark(format_args!(
                "{} does not store the fields {dropped}",
                path.display()
            ));
        }
        format.write(outputs, path, table, Encoding::Binary)
    }

    fn add_mcap(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), FormatError> {
        let bytes = self.recording()?.into_bytes()?;
        outputs.add(path, |file| file.write_all(&bytes))
    }

    /// Recording in the frame of the sensor, which its messages name.
    fn recording(&self) -> Result<LidarRecorder<Cursor<Vec<u8>>>, FormatError> {
        let recorder = LidarRecorder::in_memory(LidarTopics::default())?;
        let mut recorder = recorder.with_classes(self.classes);
        for scan in self.scans {
            let scan = scan.in_sensor_frame(self.lidar);
            recorder.record(&scan, self.lidar, &|time| self.trajectory.at(time))?;
        }
        recorder.record_last_poses()?;
        Ok(recorder)
    }
}
