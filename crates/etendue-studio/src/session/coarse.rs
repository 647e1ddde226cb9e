//! Coarse sweeps, shown while a change goes on and the whole sweep takes too long.

use super::{Session, SimulatedSweep};
use crate::refusal::Refusal;
use etendue::sensors::lidar::{Columns, Lidar, ScanPattern, Sweep};

/// Duration of a sweep up to which it is shown as a whole, and that of a coarse sweep, ms.
const DURATION_MS: f64 = 12.0;

/// Largest distance of the columns of a coarse sweep.
const MAX_EVERY: u32 = 64;

impl Session {
    /// A sweep of the inputs with every n-th column, and n; `None` if the whole sweep is quick, or the pattern of the
    /// sensor cannot be thinned. Its noise is another one than that of the whole sweep.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn simulate_coarse(&mut self) -> Result<Option<(SimulatedSweep, u32)>, Refusal> {
        let lidar = self.loaded.lidar();
        // The duration of the whole sweep, from that of the last one
        let beams = f64::from(lidar.columns()) * lidar.channels.len() as f64;
        let last = &*self.sweep;
        let whole_ms = last.timing.simulate_ms * beams / last.sweep.shots.len().max(1) as f64;
        let every = every(whole_ms);
        let Some(thinned) = thinned(lidar, every).filter(|_| every > 1) else {
            return Ok(None);
        };
        let simulated = self.simulate_with(Some(&thinned), Sweep::default())?;
        Ok(Some((simulated, every)))
    }
}

/// Distance of the columns for a whole sweep of a duration: a power of two.
fn every(whole_ms: f64) -> u32 {
    let mut every = 1;
    while f64::from(every) * DURATION_MS < whole_ms && every < MAX_EVERY {
        every *= 2;
    }
    every
}

/// The lidar with every n-th column, if the schedule of its columns can be thinned.
fn thinned(lidar: &Lidar, every: u32) -> Option<Lidar> {
    let mut lidar = lidar.clone();
    let columns = match &mut lidar.pattern {
        ScanPattern::Spinning(one) => &mut one.columns,
        ScanPattern::Oscillating(one) => &mut one.columns,
        ScanPattern::Risley(one) => &mut one.columns,
        _ => return None,
    };
    let fewer = |columns: u32| columns.div_ceil(every);
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

    #[test]
    fn slow_sweeps_have_fewer_columns() {
        assert_eq!([5.0, 12.0, 13.0, 100.0, 1e6].map(every), [1, 1, 2, 16, 64]);
        for name in ["ouster-os1-128", "velodyne-vlp-16", "slamtec-rplidar-a1"] {
            let lidar = preset(name).unwrap().lidar;
            let coarse = thinned(&lidar, 16).unwrap();
            assert_eq!(coarse.columns(), lidar.columns().div_ceil(16), "{name}");
            assert!((coarse.sweep_duration() - lidar.sweep_duration()).abs() < 1e-12);
        }
        assert_eq!(thinned(&preset("hokuyo-urg-04lx").unwrap().lidar, 16), None);
    }
}
