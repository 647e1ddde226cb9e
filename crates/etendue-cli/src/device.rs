//! Source of the packets of a capture.

use crate::failure::Failure;
use etendue::config::sensor::packet_source;
use etendue::io::packets::{
    PacketMetadata, PacketSource, read_ouster_metadata, read_velodyne_calibration,
};
use std::path::Path;

/// Source of packets described by a metadata file (Ouster) or a calibration file (Velodyne);
/// without a file, the packets determine it.
pub fn device(metadata: Option<&Path>) -> Result<PacketSource, Failure> {
    Ok(packet_source(match metadata {
        Some(path) if is_calibration(path) => {
            PacketMetadata::Velodyne(Box::new(read_velodyne_calibration(path)?))
        }
        Some(path) => PacketMetadata::Ouster(Box::new(read_ouster_metadata(path)?)),
        None => PacketMetadata::InPackets,
    }))
}

/// Whether the ending of a file is one of Velodyne's calibration files.
fn is_calibration(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["xml", "yaml", "yml"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}
