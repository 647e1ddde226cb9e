//! Sweeps of one lidar in many environments on a device.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::lidar::{GpuLidar, GpuSweepError, List};
use crate::numbers::pose;
use crate::receive::{Detecting, channel_records, receive_parameters};
use crate::scene::Placement;
use crate::steps::{Aimed, ShotRecord, Steps};
use crate::transfers::Scratch;
use crate::velocities::Velocities;
use etendue_scene::ObjectId;
use etendue_sensors::lidar::{DirectReceiver, DirectSweep, Return, Shot, Sweep, SweepSettings};
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::ops::Range;

/// Label of cells that the host simulates.
const ON_HOST: i32 = i32::MIN;

/// The poses of many environments: one lidar in copies of one scene.
#[derive(Clone, Copy, Debug)]
pub struct Environments<'a> {
    /// Poses of the sensor, world from sensor, one per environment. The sensor is at rest during the sweep.
    pub sensors: &'a [Isometry3<f64>],
    /// Poses of some objects in each environment, world from object, in which they are at rest during the sweep. The others move
    /// as in the scene.
    pub bodies: &'a [(ObjectId, Vec<Isometry3<f64>>)],
}

/// Sweeps of many environments in the memory of a device.
///
/// Each environment has an image of the first returns, with a cell per shot: rows of channels, the highest ring first,
/// and columns in the order of time, as [`Sweep::image`](etendue_sensors::lidar::Sweep::image).
pub struct GpuBatch<'a> {
    device: &'a GpuDevice,
    ranges: Scratch<'a>,
    intensities: Scratch<'a>,
    labels: Scratch<'a>,
    /// Number of columns of the sweep of each environment.
    columns: Vec<u32>,
    /// The channel of each row.
    channels: Vec<u32>,
    /// Size of an image: rows, columns.
    shape: [usize; 2],
    /// Bytes on the device beyond the images.
    scratch: u64,
}

/// Images of some environments of a batch, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchImages {
    /// Range of the first return of each shot, m; not a number without one.
    pub range: Vec<f32>,
    /// Its intensity, counts; not a number without one.
    pub intensity: Vec<f32>,
    /// Index of the object that the return comes from; -1 for none.
    pub label: Vec<i32>,
    /// Number of shots that the host simulated.
    pub on_host: usize,
}

/// Memory for the images of some environments, one after the other: as [`BatchImages`].
#[derive(Debug)]
pub struct ImageSlices<'a> {
    /// Ranges, m.
    pub range: &'a mut [f32],
    /// Intensities, counts.
    pub intensity: &'a mut [f32],
    /// Indices of objects.
    pub label: &'a mut [i32],
}

impl GpuLidar<'_> {
    /// Simulates a sweep in each environment. The sweep of environment `i` is that of
    /// [`simulate`](etendue_sensors::lidar::simulate()) with the index `settings.sweep + i`, which begins at
    /// `settings.start`, or at 0. The results stay on the device until [`GpuBatch::read`].
    ///
    /// Rays, hits and echoes of a million rays at a time share their memory. Beyond the images, an environment takes
    /// 96 bytes for the pose of the sensor and for that of each body. Objects that move in the scene take as many for each time of
    /// a shot, for all environments together.
    ///
    /// # Errors
    /// Where the lidar, the scene or the settings have a property that the device form lacks, or the device fails.
    ///
    /// # Panics
    /// If a body has not one pose per environment.
    pub fn simulate_batch(
        &self,
        settings: &SweepSettings,
        environments: &Environments,
    ) -> Result<GpuBatch<'_>, GpuSweepError> {
        // Prepare the shots, those of the longest sweep.
        let Environments { sensors, bodies } = *environments;
        for (_, poses) in bodies {
            assert_eq!(poses.len(), sensors.len(), "a pose per environment");
        }
        let sweeps = (0..index(sensors.len())).map(|number| settings.sweep.wrapping_add(number));
        let of_sweeps = { sweeps.clone() }.map(|sweep| self.lidar.columns_of_sweep(sweep));
        let columns: Vec<u32> = of_sweeps.collect();
        let longest = sweeps.zip(&columns).max_by_key(|(_, columns)| **columns);
        let longest = SweepSettings {
            sweep: longest.map_or(settings.sweep, |(sweep, _)| sweep),
            start: Some(settings.start.unwrap_or(0.0)),
            ..settings.clone()
        };
        let at_rest = |_: f64| Isometry3::identity();
        let sweep = DirectSweep::new(self.world, self.lidar, &longest, &at_rest, Sweep::default())?;
        if let DirectReceiver::OnHost(reason) = sweep.receiver() {
            return Err(GpuSweepError::NotDirect(*reason));
        }
        let (shots, times) = shots_in_columns(&sweep, self.caster.scene().has_moving_objects())?;
        let count = shots.len();
        let placement = Placement {
            times: &times,
            bodies,
        };
        let steps = Steps::new(self, &sweep, placement, count, sensors.len())?;

        // Copy shots, poses, and what is common to all shots of a channel.
        let device = self.device;
        let shots = device.scratch_with("the shots", &shots)?;
        let poses: Vec<[f32; 24]> = sensors.par_iter().map(pose).collect();
        let poses = device.scratch_with("the poses of the sensor", &poses)?;
        let channels = self.lidar.channels.len();
        let records = self.channels_of(&sweep, settings.sweep, sensors.len());
        let per_environment = if records.len() > channels {
            channels
        } else {
            0
        };
        let records = device.scratch_with("the channels", &records)?;

        // Make the buffers of the images.
        let shape = [channels, self.lidar.columns() as usize];
        let of_all = (sensors.len() * shape[0] * shape[1] * 4) as u64;
        let images = ["the ranges", "the intensities", "the labels"];
        let [ranges, intensities, labels] = images.map(|what| device.scratch(what, of_all));
        let (ranges, intensities, labels) = (ranges?, intensities?, labels?);

        // Simulate as many environments at a time as the steps hold.
        let noise = sweep.correlated_noise();
        let detecting = Detecting::new(device, &sweep, &steps, "receive_images")?;
        let list = List::new(device, &sweep, &steps, 0)?;
        let velocities = match sweep.receiver() {
            DirectReceiver::Fmcw(_) => Some(Velocities::new(self, &sweep, &steps, placement)?),
            _ => None,
        };
        let simulated = if count == 0 { 0 } else { sensors.len() };
        for first in (0..simulated).step_by(steps.together) {
            let own = steps.together.min(sensors.len() - first);
            let mut parameters = receive_parameters(&sweep, noise.as_ref(), &steps.beam);
            parameters.environments = [count, first, per_environment, shape[1]].map(index);
            parameters.set_sweep(settings.sweep);
            let aimed = Aimed {
                shots: &shots,
                poses: &poses,
                environments: [index(count), index(first), 1, 0],
                velocities: velocities.as_ref(),
            };
            let mut outputs = vec![
                (5, &*records),
                (7, &*ranges),
                (8, &*intensities),
                (9, &*labels),
            ];
            outputs.extend(list.as_ref().map(List::binding));
            let shots = index(own * count);
            steps.submit(self, shots, &aimed, &detecting, parameters, &outputs)?;
        }
        device.wait()?;
        Ok(GpuBatch {
            device,
            ranges,
            intensities,
            labels,
            columns,
            channels: self.channels_of_rows(),
            shape,
            scratch: steps.bytes() + poses.size() + records.size(),
        })
    }

    /// The records of the channels: of each environment where their noise depends on the sweep, else one for all.
    fn channels_of(&self, sweep: &DirectSweep, first: u32, environments: usize) -> Vec<[f32; 4]> {
        let noise = sweep.correlated_noise();
        if self.lidar.noise.scan == 0.0 || noise.is_none() {
            return channel_records(sweep, noise.as_ref()).collect();
        }
        let of_environment = |number: usize| {
            let noise = sweep.correlated_noise_of(first.wrapping_add(index(number)));
            channel_records(sweep, noise.as_ref()).collect::<Vec<_>>()
        };
        let all = (0..environments).into_par_iter();
        all.flat_map_iter(of_environment).collect()
    }

    /// The channel of each row of an image.
    fn channels_of_rows(&self) -> Vec<u32> {
        let channels = &self.lidar.channels;
        let mut rows = vec![0; channels.len()];
        for (number, channel) in (0..).zip(channels) {
            rows[channels.len() - 1 - usize::from(channel.ring)] = number;
        }
        rows
    }
}

/// The shots of a sweep, in the frame of the sensor, if they are ordered by columns and channels, and the times that they refer to:
/// one of all if objects do not move.
fn shots_in_columns(
    sweep: &DirectSweep,
    is_moving: bool,
) -> Result<(Vec<ShotRecord>, Vec<f64>), GpuSweepError> {
    let channels = sweep.lidar().channels.len();
    let is_in_columns = { sweep.shots().iter().enumerate() }.all(|(number, shot)| {
        let place = (usize::from(shot.channel), shot.column as usize);
        place == (number % channels, number / channels)
    });
    if !is_in_columns {
        return Err(GpuSweepError::Order);
    }
    let own = Isometry3::identity();
    let mut times: Vec<f64> = vec![];
    let record = |shot: Shot| {
        let is_new = is_moving && times.last() != Some(&shot.time);
        if is_new || times.is_empty() {
            times.push(shot.time);
        }
        let time = index(times.len() - 1);
        ShotRecord::new(&shot.origin, &sweep.frame_of(&shot), &own, time)
    };
    let shots = sweep.shots().iter().map(record).collect();
    Ok((shots, times))
}

impl GpuBatch<'_> {
    /// Number of environments.
    pub fn environments(&self) -> usize {
        self.columns.len()
    }

    /// Rows and columns of an image.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Memory on the device beyond the images, per environment, bytes; 0 without environments.
    pub fn bytes_per_environment(&self) -> f64 {
        self.scratch as f64 / self.environments().max(1) as f64
    }

    /// Copies the images of some environments from the device.
    ///
    /// Shots with more light paths or echoes than the device lists are not simulated on it: `on_host` computes the first returns of
    /// such shots, from the number of the environment and the indices of the shots ([`DirectSweep::plain_returns`]).
    ///
    /// # Errors
    /// Where the device fails, or the first error of `on_host`.
    ///
    /// # Panics
    /// If there are no such environments, or `on_host` gives another number of returns than shots.
    pub fn read<E: From<GpuError> + Send>(
        &self,
        environments: Range<usize>,
        on_host: impl Fn(usize, &[u32]) -> Result<Vec<Option<Return>>, E> + Sync,
    ) -> Result<BatchImages, E> {
        let cells = environments.len() * self.shape[0] * self.shape[1];
        let mut images = BatchImages {
            range: bytemuck::zeroed_vec(cells),
            intensity: bytemuck::zeroed_vec(cells),
            label: bytemuck::zeroed_vec(cells),
            on_host: 0,
        };
        let mut slices = ImageSlices {
            range: &mut images.range,
            intensity: &mut images.intensity,
            label: &mut images.label,
        };
        images.on_host = self.read_into(environments, &mut slices, on_host)?;
        Ok(images)
    }

    /// [`GpuBatch::read`] into existing memory. Returns the number of shots that the host simulated.
    ///
    /// # Errors
    /// As [`GpuBatch::read`].
    ///
    /// # Panics
    /// As [`GpuBatch::read`], and if a slice has not a number per cell of the images.
    pub fn read_into<E: From<GpuError> + Send>(
        &self,
        environments: Range<usize>,
        images: &mut ImageSlices,
        on_host: impl Fn(usize, &[u32]) -> Result<Vec<Option<Return>>, E> + Sync,
    ) -> Result<usize, E> {
        // Copy the images.
        let cells = self.shape[0] * self.shape[1];
        let first = environments.start * cells;
        let sizes = [
            images.range.len(),
            images.intensity.len(),
            images.label.len(),
        ];
        assert_eq!(sizes, [environments.len() * cells; 3], "a number per cell");
        self.device.read(&self.ranges, first, images.range)?;
        self.device
            .read(&self.intensities, first, images.intensity)?;
        self.device.read(&self.labels, first, images.label)?;

        // Complete each environment.
        let ranges = images.range.par_chunks_mut(cells.max(1));
        let intensities = images.intensity.par_chunks_mut(cells.max(1));
        let labels = images.label.par_chunks_mut(cells.max(1));
        environments
            .into_par_iter()
            .zip(ranges.zip(intensities).zip(labels))
            .map(|(number, ((range, intensity), label))| {
                let image = ImageSlices {
                    range,
                    intensity,
                    label,
                };
                self.complete(number, image, &on_host)
            })
            .sum()
    }

    /// Empties the cells of columns that the sweep of an environment does not have, and adds the shots that the host
    /// simulates. Returns the number of these.
    fn complete<E>(
        &self,
        number: usize,
        mut image: ImageSlices,
        on_host: impl Fn(usize, &[u32]) -> Result<Vec<Option<Return>>, E>,
    ) -> Result<usize, E> {
        let width = self.shape[1];
        let columns = self.columns[number] as usize;
        let (mut cells, mut shots) = (vec![], vec![]);
        for (row, channel) in self.channels.iter().enumerate() {
            for column in 0..width {
                let cell = row * width + column;
                if column >= columns {
                    image.set(cell, None);
                } else if image.label[cell] == ON_HOST {
                    cells.push(cell);
                    shots.push(index(column * self.channels.len()) + channel);
                }
            }
        }
        if shots.is_empty() {
            return Ok(0);
        }
        let returns = on_host(number, &shots)?;
        assert_eq!(returns.len(), shots.len(), "a result per shot");
        for (cell, found) in cells.into_iter().zip(&returns) {
            image.set(cell, found.as_ref());
        }
        Ok(shots.len())
    }
}

impl ImageSlices<'_> {
    /// Sets a cell.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "the image has single precision, and object indices are small"
    )]
    fn set(&mut self, cell: usize, found: Option<&Return>) {
        self.range[cell] = found.map_or(f32::NAN, |found| found.range as f32);
        self.intensity[cell] = found.map_or(f32::NAN, |found| found.intensity as f32);
        let source = found.and_then(|found| found.source);
        self.label[cell] = source.map_or(-1, |source| source.instance.0 as i32);
    }
}
