//! Transfers between host and device, and buffers that are used again: drivers take long for new memory, above all for
//! memory that both reach.

use crate::device::GpuDevice;
use crate::error::GpuError;
use bytemuck::{Pod, cast_slice};
use rayon::prelude::*;
use std::ops::Deref;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wgpu::util::StagingBelt;
use wgpu::{Buffer, BufferSize, BufferUsages, CommandEncoderDescriptor, Device, MapMode};

/// Size of the pieces of memory through which the host writes; larger contents have pieces of their own, bytes.
const STAGING: u64 = 4 << 20;

/// Most bytes that the host reads at a time, and that a thread copies.
const READ: usize = 32 << 20;
const COPY: usize = 1 << 18;

/// Time after which the device is polled again for a copy that has ended on another thread.
const CALLBACK: Duration = Duration::from_millis(10);

/// Most buffers that are kept, and size below which any buffer is used again, bytes.
const MOST_UNUSED: usize = 24;
const SMALL: u64 = 1 << 16;

/// The memory of transfers, and buffers that are not in use.
pub(crate) struct Transfers {
    /// Memory through which the host writes.
    staging: Mutex<StagingBelt>,
    /// Buffers of each purpose.
    unused: [Mutex<Vec<Buffer>>; 2],
}

impl Transfers {
    pub fn new(device: &Device) -> Self {
        Self {
            staging: Mutex::new(StagingBelt::new(device.clone(), STAGING)),
            unused: [Mutex::default(), Mutex::default()],
        }
    }
}

impl GpuDevice {
    /// Writes the start of a buffer.
    pub(crate) fn write(&self, buffer: &Buffer, content: &[u8]) {
        let Some(size) = BufferSize::new(content.len() as u64) else {
            return;
        };
        let descriptor = CommandEncoderDescriptor::default();
        let mut encoder = self.device.create_command_encoder(&descriptor);
        let mut staging = self
            .transfers
            .staging
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        staging
            .write_buffer(&mut encoder, buffer, 0, size)
            .copy_from_slice(content);
        staging.finish();
        self.queue.submit([encoder.finish()]);
        staging.recall();
    }

    /// A buffer of shaders that is used again after it is dropped. Its content is that of its last use.
    pub(crate) fn scratch(&self, what: &'static str, bytes: u64) -> Result<Scratch<'_>, GpuError> {
        self.reused(what, bytes, Purpose::Shaders)
    }

    /// [`GpuDevice::scratch`] with its content.
    pub(crate) fn scratch_with<T: Pod>(
        &self,
        what: &'static str,
        content: &[T],
    ) -> Result<Scratch<'_>, GpuError> {
        let scratch = self.scratch(what, size_of_val(content) as u64)?;
        self.write(&scratch, cast_slice(content));
        Ok(scratch)
    }

    /// An unused buffer of at least a size and at most twice that, or a new one.
    fn reused(
        &self,
        what: &'static str,
        bytes: u64,
        purpose: Purpose,
    ) -> Result<Scratch<'_>, GpuError> {
        let mut unused = self.transfers.unused[purpose as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Buffer| (bytes..=2 * bytes + SMALL).contains(&buffer.size());
        let found = (0..unused.len())
            .filter(|place| fits(&unused[*place]))
            .min_by_key(|place| unused[*place].size());
        let buffer = match found {
            Some(place) => unused.swap_remove(place),
            None => self.buffer(what, bytes, purpose.usage())?,
        };
        Ok(Scratch {
            device: self,
            buffer,
            purpose,
        })
    }

    /// Reads the start of a buffer.
    pub(crate) fn read_vec<T: Pod + Send + Sync>(
        &self,
        from: &Buffer,
        count: usize,
    ) -> Result<Vec<T>, GpuError> {
        let mut found = bytemuck::zeroed_vec(count);
        self.read(from, 0, &mut found)?;
        Ok(found)
    }

    /// Reads elements of a buffer, from one of an index on.
    pub(crate) fn read<T: Pod + Send + Sync>(
        &self,
        from: &Buffer,
        first: usize,
        to: &mut [T],
    ) -> Result<(), GpuError> {
        let together = READ / size_of::<T>();
        for (number, part) in to.chunks_mut(together).enumerate() {
            self.read_part(from, first + number * together, part)?;
        }
        Ok(())
    }

    fn read_part<T: Pod + Send + Sync>(
        &self,
        from: &Buffer,
        first: usize,
        to: &mut [T],
    ) -> Result<(), GpuError> {
        // Copy to a buffer that the host can map.
        self.check()?;
        let bytes = size_of_val(to) as u64;
        let start = (first * size_of::<T>()) as u64;
        let readable = self.reused("results", bytes, Purpose::Results)?;
        let descriptor = CommandEncoderDescriptor::default();
        let mut encoder = self.device.create_command_encoder(&descriptor);
        encoder.copy_buffer_to_buffer(from, start, &readable, 0, bytes);
        self.queue.submit([encoder.finish()]);

        // Map it. The callback runs on the thread that learns of the end of the copy, which may be another one.
        let (of_callback, mapped) = mpsc::channel();
        readable.map_async(MapMode::Read, 0..bytes, move |result| {
            _ = of_callback.send(result);
        });
        let result = loop {
            self.wait()?;
            match mapped.recv_timeout(CALLBACK) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
                Ok(result) => break Some(result),
            }
        };
        if !matches!(result, Some(Ok(()))) {
            return Err(self.lost("results could not be read"));
        }
        let view = readable
            .get_mapped_range(0..bytes)
            .map_err(|reason| self.lost(&reason.to_string()))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(to);
        { bytes.par_chunks_mut(COPY) }
            .zip(view.par_chunks(COPY))
            .for_each(|(to, from)| to.copy_from_slice(from));
        drop(view);
        readable.unmap();
        Ok(())
    }
}

/// What a buffer that is used again is for.
#[derive(Clone, Copy)]
enum Purpose {
    Shaders,
    Results,
}

impl Purpose {
    fn usage(self) -> BufferUsages {
        match self {
            Self::Shaders => {
                BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST
            }
            Self::Results => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        }
    }
}

/// A buffer that goes back to the unused ones of the device when it is dropped. Commands that use it and are submitted
/// before run before those of its next use.
pub(crate) struct Scratch<'a> {
    device: &'a GpuDevice,
    buffer: Buffer,
    purpose: Purpose,
}

impl Deref for Scratch<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.buffer
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let unused = &self.device.transfers.unused[self.purpose as usize];
        let mut unused = unused.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() == MOST_UNUSED {
            unused.remove(0);
        }
        unused.push(self.buffer.clone());
    }
}
