//! One sweep on a GPU.

use super::{Call, Gpu, simulated, warn};
use crate::errors::Outcome;
use crate::simulate::Single;
use etendue::sensors::lidar::Sweep;
use etendue_gpu::GpuLidar;
use pyo3::prelude::*;

impl Gpu {
    /// Simulates a sweep. `None`, after a warning, where the CPU has to.
    pub fn simulate(
        &self,
        py: Python<'_>,
        single: &Single,
        threads: Option<i64>,
    ) -> Outcome<Option<Sweep>> {
        let call = Call {
            scene: single.scene,
            what: simulated(single.lidar),
            rays: single.rays(),
            threads,
            progress: None,
        };
        let found = self.run(py, &call, |device, caster, control| {
            let objects = single.objects();
            let world = single.world(&objects)?;
            let own = GpuLidar::new(device, caster, &world, single.description)?;
            Ok(own.simulate(&single.settings, |time| single.pose(time, control))?)
        })?;
        let Some(found) = found else {
            return Ok(None);
        };
        if let Some(reason) = found.receiver_on_host {
            let name = &single.lidar.sensor().name;
            let text =
                format!("{name}: light paths were found on the GPU, echoes on the CPU: {reason}");
            warn(py, &text)?;
        }
        Ok(Some(found.sweep))
    }
}
