//! Choice of the device.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Choice of the device that simulates.
///
/// ```
/// use etendue_gpu::DeviceChoice;
/// assert_eq!("gpu:1".parse(), Ok(DeviceChoice::Gpu(Some(1))));
/// assert!("cuda".parse::<DeviceChoice>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The CPU.
    #[default]
    Cpu,
    /// A GPU: that of a number in the list of [`adapters`](crate::adapters), or the fastest kind.
    Gpu(Option<usize>),
    /// A GPU if there is one that is no software, otherwise the CPU.
    Auto,
}

/// Unknown name of a [`DeviceChoice`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown device \"{0}\": cpu, gpu, gpu:N with a number of `etendue inspect --devices`, or auto"
)]
pub struct UnknownDevice(String);

impl FromStr for DeviceChoice {
    type Err = UnknownDevice;

    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        let unknown = || UnknownDevice(name.to_owned());
        match name {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu(None)),
            "auto" => Ok(Self::Auto),
            _ => {
                let number = name.strip_prefix("gpu:").ok_or_else(unknown)?;
                Ok(Self::Gpu(Some(number.parse().map_err(|_| unknown())?)))
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => to.write_str("cpu"),
            Self::Gpu(None) => to.write_str("gpu"),
            Self::Gpu(Some(number)) => write!(to, "gpu:{number}"),
            Self::Auto => to.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["cpu", "gpu", "gpu:0", "gpu:12", "auto"] {
            let choice: DeviceChoice = name.parse().expect("a known name");
            assert_eq!(choice.to_string(), name);
        }
        for name in ["", "gpu:", "gpu:-1", "GPU", "gpu:one", "cuda:0"] {
            let refused = name.parse::<DeviceChoice>().expect_err("an unknown name");
            assert!(refused.to_string().contains("gpu:N"), "{refused}");
        }
    }
}
