//! Coarse sweeps, shown while a change goes on and the whole sweep takes too long.

use super::{Session, SimulatedSweep};
use crate::refusal::Refusal;
use etendue::sensors::lidar::{Columns, Lidar, ScanPattern, Sweep};
use std::sync::atomic::AtomicBool;

/// Duration of a sweep up to which it is shown as a whole, ms.
const QUICK_MS: f64 = 12.0;

/// Duration of a coarse sweep, ms.
const COARSE_MS: f64 = 3.0;

/// Duration of what a beam takes besides its rays, in rays: a sweep of an OS1-128 in a furnished house takes 162 ms
/// with one ray per beam and 544 ms with seven.
const RAYS_PER_BEAM: f64 = 1.5;

/// Largest distance of the columns of a coarse sweep.
const MAX_EVERY: u32 = 64;

impl Session {
    /// Distance of the columns of a coarse sweep of the inputs; 1 if the whole sweep is quick.
    pub fn coarse_every(&self) -> u32 {
        // The duration of the whole sweep, from that of the last one
        let lidar = self.loaded.lidar();
        let beams = f64::from(lidar.columns()) * lidar.channels.len() as f64;
        let last = self.sweep();
        let whole_ms = last.timing.simulate_ms * beams / last.sweep.shots.len().max(1) as f64;
        every(whole_ms, lidar.beam.ray_count())
    }

    /// A sweep of the inputs with one of `every` columns and one ray per beam; `None` if the pattern of the sensor
    /// cannot be thinned. Its noise is another one than that of the whole sweep.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn simulate_coarse(&mut self, every: u32) -> Result<Option<SimulatedSweep>, Refusal> {
        let Some(lidar) = thinned(self.loaded.lidar(), every) else {
            return Ok(None);
        };
        let never = AtomicBool::new(false);
        let mut memory = Sweep::default();
        self.sweep_task()
            .simulate_with(&lidar, &mut memory, &mut self.scratch, &never)
    }
}

/// Distance of the columns for a whole sweep of a duration with `rays` per beam: a power of two.
fn every(whole_ms: f64, rays: usize) -> u32 {
    if whole_ms <= QUICK_MS {
        return 1;
    }
    let of_one_ray_ms = whole_ms * (RAYS_PER_BEAM + 1.0) / (RAYS_PER_BEAM + rays as f64);
    let mut every = 2;
    while f64::from(every) * COARSE_MS < of_one_ray_ms && every < MAX_EVERY {
        every *= 2;
    }
    every
}

/// The lidar with one ray per beam and about one of `every` columns over the same directions and the same duration;
/// `None` for a pattern without such a form.
fn thinned(lidar: &Lidar, every: u32) -> Option<Lidar> {
    let mut lidar = lidar.clone();
    lidar.beam = lidar.beam.with_one_ray();
    let fewer = |columns: u32| columns.div_ceil(every);
    let columns = match &mut lidar.pattern {
        ScanPattern::Spinning(one) => &mut one.columns,
        ScanPattern::Oscillating(one) => &mut one.columns,
        ScanPattern::Risley(one) => &mut one.columns,
        ScanPattern::Encoder(one) => {
            one.columns = fewer(one.columns);
            one.step *= f64::from(every);
            return Some(lidar);
        }
        // Each line keeps its facet
        ScanPattern::Polygon(one) => {
            one.columns_per_line = fewer(one.columns_per_line);
            return Some(lidar);
        }
        // Rows and columns are thinned alike
        ScanPattern::Raster(one) => {
            let exponent = every.ilog2();
            one.rows = one.rows.div_ceil(1 << (exponent / 2));
            one.columns = one.columns.div_ceil(1 << exponent.div_ceil(2));
            return Some(lidar);
        }
        _ => return None,
    };
    *columns = match *columns {
        Columns::PerSweep { columns, fired } => Columns::PerSweep {
            columns: fewer(columns),
            fired: fired.map(fewer),
        },
        Columns::Period { seconds } => Columns::Period {
            seconds: seconds * f64::from(every),
        },
        Columns::Steps { columns, period } => Columns::Steps {
            columns: fewer(columns),
            period: period * f64::from(every),
        },
    };
    Some(lidar)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use etendue::config::sensor::preset;
    use etendue::sensors::lidar::{Polygon, Raster, Shot};
    use std::f64::consts::TAU;

    #[test]
    fn slow_sweeps_have_fewer_columns() {
        let of_one_ray = [5.0, 12.0, 13.0, 100.0, 1e6].map(|ms| every(ms, 1));
        assert_eq!(of_one_ray, [1, 1, 8, 64, 64]);
        let of_seven_rays = [12.0, 13.0, 100.0, 544.0].map(|ms| every(ms, 7));
        assert_eq!(of_seven_rays, [1, 2, 16, 64]);
        for name in [
            "ouster-os1-128",
            "velodyne-vlp-16",
            "slamtec-rplidar-a1",
            "hokuyo-urg-04lx",
        ] {
            let lidar = preset(name).unwrap().lidar;
            let coarse = thinned(&lidar, 16).unwrap();
            assert_eq!(coarse.columns(), lidar.columns().div_ceil(16), "{name}");
            assert_eq!(coarse.beam.ray_count(), 1, "{name}");
            assert!((coarse.sweep_duration() - lidar.sweep_duration()).abs() < 1e-12);
            // Its columns are among those of the whole sweep, up to half a column
            let step = TAU / f64::from(lidar.columns());
            let channels = lidar.channels.len();
            let whole = lidar.shots(0);
            for (number, shot) in coarse.shots(0).iter().enumerate().step_by(channels) {
                let away = shot.azimuth - whole[16 * number].azimuth;
                assert!(away.sin().abs() <= 0.5 * step, "{name}: {number}, {away}");
            }
        }
    }

    #[test]
    fn coarse_rasters_and_polygons_cover_the_field_of_view() {
        let mut lidar = preset("hokuyo-urg-04lx").unwrap().lidar;
        let raster = Raster {
            rate: 10.0,
            columns: 200,
            rows: 80,
            azimuths: [-0.5, 0.5],
            elevations: [0.2, -0.2],
            serpentine: true,
        };
        let polygon = Polygon {
            rate: 10.0,
            facet_tilts: vec![-0.02, 0.0, 0.02, 0.04],
            azimuths: [-0.5, 0.5],
            columns_per_line: 400,
        };
        for pattern in [ScanPattern::Raster(raster), ScanPattern::Polygon(polygon)] {
            lidar.pattern = pattern;
            for every in [1, 2, 8, 64] {
                let coarse = thinned(&lidar, every).unwrap();
                let [whole, few] = [&lidar, &coarse].map(|lidar| lidar.shots(0));
                let expected = whole.len() as f64 / f64::from(every);
                let ratio = few.len() as f64 / expected;
                assert!((1.0..1.2).contains(&ratio), "{every}: {}", few.len());
                // The same field of view, up to the distance of two columns or rows
                let span = |shots: &[Shot], of: fn(&Shot) -> f64| {
                    let all = shots.iter().map(of);
                    [
                        all.clone().fold(f64::MAX, f64::min),
                        all.fold(f64::MIN, f64::max),
                    ]
                };
                for (of, step) in [
                    ((|shot: &Shot| shot.azimuth) as fn(&Shot) -> f64, 0.005),
                    (|shot: &Shot| shot.elevation, 0.0),
                ] {
                    let [a, b] = [span(&whole, of), span(&few, of)];
                    let away = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
                    assert!(
                        away <= step * f64::from(every) + 1e-9,
                        "{every}: {a:?} {b:?}"
                    );
                }
            }
        }
    }
}
