//! What sent the packets of a capture, as the user says it.

use crate::failure::Failure;
use etendue::config::sensor::packet_source;
use etendue::io::packets::{
    PacketMetadata, PacketSource, read_ouster_metadata, read_velodyne_calibration,
};
use std::path::Path;

/// The source of packets that a file of metadata (an Ouster's) or calibration (a Velodyne's) tells; without
/// one, what the packets say.
pub fn device(metadata: Option<&Path>) -> Result<PacketSource, Failure> {
    Ok(packet_source(match metadata {
        Some(path) if is_calibration(path) => {
            PacketMetadata::Velodyne(Box::new(read_velodyne_calibration(path)?))
        }
        Some(path) => PacketMetadata::Ouster(Box::new(read_ouster_metadata(path)?)),
        None => PacketMetadata::InPackets,
    }))
}

/// Whether a file's name is one of a Velodyne's calibration.
fn is_calibration(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["xml", "yaml", "yml"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}
