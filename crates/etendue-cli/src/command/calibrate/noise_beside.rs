//! The noise of a recording beside that of a simulated sensor.

use super::noise::PartsReport;
use crate::failure::Failure;
use crate::source;
use etendue::calibrate::noise::score::{kolmogorov_smirnov, kolmogorov_smirnov_p};
use etendue::calibrate::standing::{PlanePatch, StandingBeam, StandingRecording, estimate_noise};
use etendue::physics::Spectrum;
use etendue::physics::surface::{Lobe, Material};
use etendue::scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder};
use etendue::sensors::lidar::{Lidar, Return, SweepSettings, simulate};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use serde::Serialize;
use std::fmt::{self, Write};

/// Edges of the range bands, m.
const BANDS: [f64; 9] = [0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0];

/// Diffuse reflectance of the simulated surfaces.
const REFLECTANCE: f64 = 0.5;

/// Number of simulated sweeps, if the recording has more.
const MOST_SWEEPS: usize = 40;

/// A simulated sensor beside a recording.
#[derive(Serialize)]
pub struct Comparison {
    sensor: String,
    parts: PartsReport,
    spread: Vec<Band>,
    second_differences: SecondDifferences,
}

/// Median standard deviation over time of directions in a range band.
#[derive(Serialize)]
struct Band {
    from_m: f64,
    to_m: f64,
    directions: usize,
    recorded_mm: f64,
    simulated_mm: f64,
}

/// Distributions of the second differences of neighbouring ranges in one scan.
#[derive(Serialize)]
struct SecondDifferences {
    recorded: usize,
    simulated: usize,
    recorded_sd_mm: f64,
    simulated_sd_mm: f64,
    kolmogorov_smirnov_p: f64,
}

impl Comparison {
    /// Simulates a sensor before the planes of a recording and compares both.
    pub fn with(name: &str, recorded: &StandingRecording) -> Result<Self, Failure> {
        let (sensor, _) = source::sensor(name)?;
        let scene = scene_of(&recorded.planes()).ok_or_else(|| {
            Failure::usage(
                "the recording shows no plane surface",
                "record before walls, or omit --sensor",
            )
        })?;
        let simulated = sweeps(&scene, &sensor.lidar, recorded.scans.min(MOST_SWEEPS))?;
        let parts = PartsReport::of(&estimate_noise(&simulated)?, &simulated);
        Ok(Self {
            sensor: sensor.name,
            parts,
            spread: bands(recorded, &simulated),
            second_differences: SecondDifferences::of(recorded, &simulated),
        })
    }

    /// Writes the comparison.
    pub fn write(&self, out: &mut String) -> fmt::Result {
        // Parts of the noise
        writeln!(
            out,
            "\n# simulated: {}, before the planes of the recording",
            self.sensor
        )?;
        self.parts.write(out)?;
        // Spread by range, and second differences
        writeln!(
            out,
            "\n#       range, m  recorded  simulated, mm (median sd over time)"
        )?;
        for band in &self.spread {
            writeln!(
                out,
                "# {:>5.1} to {:>5.1} {:>9.1} {:>10.1}  ({} directions)",
                band.from_m, band.to_m, band.recorded_mm, band.simulated_mm, band.directions
            )?;
        }
        let differences = &self.second_differences;
        writeln!(
            out,
            "# second differences in a scan: sd {:.1} mm recorded ({}), {:.1} mm simulated ({}), \
             Kolmogorov-Smirnov p {:.3}",
            differences.recorded_sd_mm,
            differences.recorded,
            differences.simulated_sd_mm,
            differences.simulated,
            differences.kolmogorov_smirnov_p
        )
    }
}

impl SecondDifferences {
    fn of(recorded: &StandingRecording, simulated: &StandingRecording) -> Self {
        // The second scan: the first of a capture may be partial.
        let mut samples = [recorded, simulated].map(|one| one.second_differences(1));
        let sd = |sample: &[f64]| {
            let squares: f64 = sample.iter().map(|one| one * one).sum();
            1e3 * (squares / sample.len() as f64).sqrt()
        };
        let [a, b] = &mut samples;
        let counts = [a.len(), b.len()];
        let distance = kolmogorov_smirnov(a, b);
        Self {
            recorded: counts[0],
            simulated: counts[1],
            recorded_sd_mm: sd(a),
            simulated_sd_mm: sd(b),
            kolmogorov_smirnov_p: kolmogorov_smirnov_p(distance, counts.map(|n| n as f64)),
        }
    }
}

/// Spread by range band, where both have directions.
fn bands(recorded: &StandingRecording, simulated: &StandingRecording) -> Vec<Band> {
    let simulated = simulated.spread_by_range(&BANDS);
    let beside = |own: etendue::calibrate::standing::SpreadBand| {
        let other = simulated.iter().find(|other| other.band == own.band)?;
        Some(Band {
            from_m: own.band.start,
            to_m: own.band.end,
            directions: own.directions,
            recorded_mm: own.deviation * 1e3,
            simulated_mm: other.deviation * 1e3,
        })
    };
    recorded
        .spread_by_range(&BANDS)
        .into_iter()
        .filter_map(beside)
        .collect()
}

/// The scene of plane surfaces; `None` without any.
fn scene_of(planes: &[PlanePatch]) -> Option<Scene> {
    let mut mesh = Mesh {
        vertices: Vec::new(),
        triangles: Vec::new(),
        materials: Vec::new(),
    };
    for (plane, first) in planes.iter().zip((0..).step_by(4)) {
        mesh.vertices.extend(plane.corners);
        let triangles = [[0, 1, 2], [0, 2, 3]];
        mesh.triangles
            .extend(triangles.map(|corners| corners.map(|corner| corner + first)));
    }
    let parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "wall".into(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::Constant(REFLECTANCE))],
            },
        }],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "walls".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    };
    parts.build().ok()
}

/// Simulated sweeps at the origin of a scene.
fn sweeps(scene: &Scene, lidar: &Lidar, count: usize) -> Result<StandingRecording, Failure> {
    let world = World::at_wavelength(scene, lidar.wavelength)?;
    let mut scans = Vec::with_capacity(count);
    for (sweep, _) in (0..).zip(0..count) {
        let settings = SweepSettings {
            sweep,
            ..SweepSettings::default()
        };
        let sweep = simulate(&world, lidar, &settings, |_| Isometry3::identity());
        let beam = |point: &Return| {
            let shot = sweep.shots.at(point.shot as usize);
            Some(StandingBeam {
                channel: lidar.channels[usize::from(shot.channel)].ring,
                direction: point.position.coords.try_normalize(0.0)?,
                range: point.range,
            })
        };
        scans.push(sweep.points.iter().filter_map(beam).collect());
    }
    Ok(StandingRecording::from_beams(&scans))
}
