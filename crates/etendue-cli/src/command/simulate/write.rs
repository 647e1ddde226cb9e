//! The files of a run.

use crate::failure::Failure;
use crate::interrupt;
use crate::view::top_view::TopView;
use etendue::io::output::{OutputSet, Run, RunMetadata};
use etendue::io::points::{write_pcd, write_ply};
use etendue::io::scan_log::{write_sweeps_csv, write_sweeps_npz};
use etendue::io::table::{Encoding, PointTable};
use etendue_plot::{Drawing, png, svg};
use std::path::{Path, PathBuf};

/// A format that a run is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Npz,
    Pcd,
    Ply,
    Json,
    Png,
    Svg,
}

/// Every format with the name of its file.
const ALL: [(Format, &str); 7] = [
    (Format::Csv, "scan.csv"),
    (Format::Npz, "scan.npz"),
    (Format::Pcd, "scan.pcd"),
    (Format::Ply, "scan.ply"),
    (Format::Json, "run.json"),
    (Format::Png, "scan.png"),
    (Format::Svg, "scan.svg"),
];

/// Pixels per page unit.
const PNG_SCALE: f64 = 2.0;

/// A run and what is told of it.
pub struct Results<'a> {
    /// What was measured.
    pub run: Run<'a>,
    /// What the run was.
    pub metadata: &'a RunMetadata,
    /// The sensor's longest range, m.
    pub max_range: f64,
}

/// What is written to `output`: a folder, or a path without an ending, gets everything.
pub fn formats(output: &Path) -> Result<Vec<(Format, PathBuf)>, Failure> {
    let ending = match output.extension() {
        Some(ending) if !output.is_dir() => ending,
        _ => return Ok(ALL.map(|(format, name)| (format, output.join(name))).into()),
    };
    let named = ALL.iter().find(|(_, name)| {
        Path::new(name)
            .extension()
            .is_some_and(|own| own.eq_ignore_ascii_case(ending))
    });
    let (format, _) = named.ok_or_else(|| Failure::Ending {
        path: output.into(),
    })?;
    Ok(vec![(*format, output.into())])
}

impl Results<'_> {
    /// Writes every file.
    pub fn write(
        &self,
        outputs: &mut OutputSet,
        files: &[(Format, PathBuf)],
    ) -> Result<(), Failure> {
        for (format, path) in files {
            self.add(outputs, *format, path)?;
            interrupt::check()?;
        }
        Ok(())
    }

    fn add(&self, outputs: &mut OutputSet, format: Format, path: &Path) -> Result<(), Failure> {
        let points = || PointTable::of_run(self.run);
        match format {
            Format::Csv => write_sweeps_csv(outputs, path, self.run)?,
            Format::Npz => write_sweeps_npz(outputs, path, self.run)?,
            Format::Pcd => write_pcd(outputs, path, &points(), Encoding::Binary)?,
            Format::Ply => write_ply(outputs, path, &points(), Encoding::Binary)?,
            Format::Json => self.metadata.write(outputs, path)?,
            Format::Png => {
                let png = png::render(&self.picture(), PNG_SCALE)?;
                outputs.add(path, |file| file.write_all(&png))?;
            }
            Format::Svg => {
                let svg = svg::write(&self.picture());
                outputs.add(path, |file| file.write_all(svg.as_bytes()))?;
            }
        }
        Ok(())
    }

    fn picture(&self) -> Drawing {
        let RunMetadata {
            scene,
            sensor,
            seed,
            sweeps,
            ..
        } = self.metadata;
        let turns = if *sweeps == 1 {
            "one sweep".into()
        } else {
            format!("{sweeps} sweeps")
        };
        TopView {
            title: &format!("{} in {}", sensor.name, scene.name),
            subtitle: &format!("top view, {turns}, seed {seed}"),
            scene: self.run.scene,
            sweeps: self.run.sweeps,
            max_range: self.max_range,
        }
        .draw()
    }
}
