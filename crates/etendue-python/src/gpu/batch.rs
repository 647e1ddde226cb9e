//! A batch of environments on a GPU.

use super::{Call, Gpu, Refusal, simulated, warn_of};
use crate::batch::{Arrays, Batch, Number};
use crate::errors::Outcome;
use crate::threads::{Control, Progress};
use etendue::sensors::lidar::{DirectSweep, Return, Sweep};
use etendue_gpu::{Environments, GpuLidar, ImageSlices};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Most cells of the environments that are simulated together: their images are copied from the device, progress is
/// reported and Ctrl-C is noticed after them.
const MOST_CELLS: usize = 1 << 20;

/// Number of cells that a thread converts at a time.
const PART: usize = 1 << 14;

/// Images in the form of the device, for arrays of another type.
#[derive(Default)]
struct Singles {
    range: Vec<f32>,
    intensity: Vec<f32>,
    label: Vec<i32>,
}

impl Gpu {
    /// Simulates all environments of a batch. `false`, after a warning, where the CPU has to.
    pub fn simulate_batch<T: Number>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        arrays: &mut Arrays<T>,
        threads: Option<i64>,
        progress: Option<&Progress>,
    ) -> Outcome<bool> {
        if batch.variations.has_values() {
            let reason =
                "the GPU does not simulate this batch: numbers of materials or of the lidar vary";
            warn_of(py, &simulated(batch.lidar), reason)?;
            return Ok(false);
        }
        let call = Call {
            scene: batch.scene,
            what: simulated(batch.lidar),
            rays: batch.rays(),
            threads,
            progress,
        };
        let result = self.run(py, &call, |device, caster, control| {
            // Prepare the lidar.
            let loaded = batch.scene.loaded();
            let description = &batch.lidar.sensor().lidar;
            let world = (batch.variations).world(0, loaded, &loaded.scene, description)?;
            let lidar = GpuLidar::new(device, caster, &world, description)?;

            // Simulate parts of similar size.
            let (count, cells) = (batch.poses.len(), arrays.cells);
            let parts = count.div_ceil((MOST_CELLS / cells).max(1));
            let together = count.div_ceil(parts.max(1)).max(1);
            let mut singles = Singles::default();
            for first in (0..count).step_by(together) {
                let own = first..count.min(first + together);
                let environments = Environments {
                    sensors: &batch.poses[own.clone()],
                    bodies: &batch.variations.bodies(own.clone()),
                };
                let images = lidar.simulate_batch(&batch.settings(first), &environments)?;
                let mut part = arrays.part(own.clone());
                let mut slices = part.slices(&mut singles);
                images.read_into(0..own.len(), &mut slices, |number, shots| {
                    batch.on_host(first + number, shots, control)
                })?;
                part.finish(&singles);
                control.advance(own.len());
            }
            Ok(())
        })?;
        Ok(result.is_some())
    }
}

impl Batch<'_> {
    /// The first returns of shots of an environment that the GPU does not simulate.
    fn on_host(
        &self,
        number: usize,
        shots: &[u32],
        control: &Control,
    ) -> Result<Vec<Option<Return>>, Refusal> {
        control.check();
        let loaded = self.scene.loaded();
        let description = &self.lidar.sensor().lidar;
        let objects = self.variations.objects(number, &loaded.scene);
        let world = (self.variations).world(number, loaded, &objects, description)?;
        let settings = self.settings(number);
        let pose = |_| self.poses[number];
        let sweep = DirectSweep::new(&world, description, &settings, &pose, Sweep::default());
        let sweep = sweep.map_err(etendue_gpu::GpuSweepError::from)?;
        Ok(sweep.plain_returns(shots))
    }
}

impl<T: Number> Arrays<'_, T> {
    /// Memory in the form of the device: that of the arrays where they have it, else that of `singles`.
    fn slices<'s>(&'s mut self, singles: &'s mut Singles) -> ImageSlices<'s> {
        let count = self.range.len();
        let label = match &mut self.label {
            Some(label) => &mut **label,
            None => resized(&mut singles.label, count),
        };
        match (T::singles(self.range), T::singles(self.intensity)) {
            (Some(range), Some(intensity)) => ImageSlices {
                range,
                intensity,
                label,
            },
            _ => ImageSlices {
                range: resized(&mut singles.range, count),
                intensity: resized(&mut singles.intensity, count),
                label,
            },
        }
    }

    /// Converts the images of the device to the type of the arrays, and marks the valid cells.
    fn finish(&mut self, singles: &Singles) {
        if !singles.range.is_empty() {
            convert(&singles.range, self.range);
            convert(&singles.intensity, self.intensity);
        }
        let ranges = self.range.par_chunks(PART);
        (self.valid.par_chunks_mut(PART).zip(ranges)).for_each(|(valid, range)| {
            for (valid, range) in valid.iter_mut().zip(range) {
                let range: f64 = (*range).into();
                *valid = !range.is_nan();
            }
        });
    }
}

/// A memory of `count` numbers.
fn resized<N: Clone + Default>(memory: &mut Vec<N>, count: usize) -> &mut [N] {
    memory.resize(count, N::default());
    memory
}

/// Converts numbers of the device.
fn convert<T: Number>(from: &[f32], to: &mut [T]) {
    (to.par_chunks_mut(PART).zip(from.par_chunks(PART))).for_each(|(to, from)| {
        for (to, from) in to.iter_mut().zip(from) {
            *to = T::of(f64::from(*from));
        }
    });
}
