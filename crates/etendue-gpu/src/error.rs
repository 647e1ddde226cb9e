//! Errors of devices.

use thiserror::Error;

/// Errors of the choice and the use of a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter.
    #[error("there is no GPU")]
    NoAdapter,
    /// There is no adapter of this number.
    #[error("there is no GPU {number}: {}", numbers(*.last))]
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
    #[error("{what} take {bytes} bytes, {adapter} has buffers of at most {most} bytes")]
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
    #[error("{adapter} has too little memory for {what} ({bytes} bytes)")]
    OutOfMemory {
        /// The data.
        what: &'static str,
        /// Their size, bytes.
        bytes: u64,
        /// Name of the adapter.
        adapter: String,
    },
    /// The caster or the world has other objects or meshes than the scene on the device.
    #[error("the objects are not those of the scene on the GPU")]
    OtherScene,
    /// The tree of a mesh is too deep for the stack of the shader.
    #[error(
        "the tree of the scene has {depth} levels, more than the {most} that the GPU traverses"
    )]
    TooDeep {
        /// Number of levels.
        depth: usize,
        /// Largest number.
        most: usize,
    },
    /// The device was lost, for example because the driver was reset or the device was removed.
    #[error("{adapter} was lost: {reason}")]
    Lost {
        /// Name of the adapter.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
}

impl GpuError {
    /// What helps.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoAdapter => {
                "install a driver for Vulkan, Metal or Direct3D 12, or Mesa's lavapipe, which runs on the CPU (Debian: \
                 mesa-vulkan-drivers); or simulate on the CPU"
            }
            Self::NoSuchAdapter { .. } => "`etendue inspect --devices` lists them",
            Self::NotOpened { .. } => "update its driver, or choose another device",
            Self::TooLarge { .. } | Self::OutOfMemory { .. } | Self::TooDeep { .. } => {
                "choose another device, or the CPU"
            }
            Self::OtherScene => "copy the scene to the GPU again",
            Self::Lost { .. } => "start again, or simulate on the CPU",
        }
    }
}

/// The numbers of the adapters, in words.
fn numbers(last: usize) -> String {
    match last {
        0 => "the only one has the number 0".into(),
        _ => format!("the numbers are 0 to {last}"),
    }
}
