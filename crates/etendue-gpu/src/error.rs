//! Errors of devices.

use thiserror::Error;

/// Why a device cannot be used, or failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter.
    #[error(
        "no GPU was found: install a driver for Vulkan, Metal or Direct3D 12, or Mesa's lavapipe (Debian: mesa-vulkan-drivers), \
         which runs on the CPU"
    )]
    NoAdapter,
    /// There is no adapter of this number.
    #[error("there is no GPU {number}: the numbers are 0 to {last} (`etendue inspect --devices`)")]
    NoSuchAdapter {
        /// The number.
        number: usize,
        /// The largest number.
        last: usize,
    },
    /// The driver refused to open the adapter.
    #[error("{adapter} cannot be opened: {reason}")]
    NotOpened {
        /// Name of the adapter.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
    /// Data exceed the largest buffer of the adapter.
    #[error(
        "{what} take {bytes} bytes, {adapter} has buffers of at most {most} bytes: use another GPU, or the CPU"
    )]
    TooLarge {
        /// The data.
        what: &'static str,
        /// Their size, bytes.
        bytes: u64,
        /// The largest size, bytes.
        most: u64,
        /// Name of the adapter.
        adapter: String,
    },
    /// The device has too little memory.
    #[error(
        "{adapter} has too little memory for {what} ({bytes} bytes): use another GPU, or the CPU"
    )]
    OutOfMemory {
        /// The data.
        what: &'static str,
        /// Their size, bytes.
        bytes: u64,
        /// Name of the adapter.
        adapter: String,
    },
    /// The tree of a mesh is too deep for the stack of the shader.
    #[error(
        "the tree of the scene has {depth} levels, more than the {most} that the GPU traverses: use the CPU"
    )]
    TooDeep {
        /// Number of levels.
        depth: usize,
        /// Largest number.
        most: usize,
    },
    /// The device was lost, for example because the driver was reset or the device was removed.
    #[error("{adapter} was lost ({reason}): start again, or use the CPU")]
    Lost {
        /// Name of the adapter.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
}
