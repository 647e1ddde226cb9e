//! Packet captures.

use super::{FormatEntry, PointReader};
use crate::packets;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["pcap", "pcapng"],
    recognizes: |_, bytes| packets::is_capture(bytes),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: false,
    read: PointReader::Sweeps(|file, summary, visit| {
        let lidar = file.options.lidar;
        packets::visit_sweeps_of_capture(file.path, file.content, lidar, summary, visit)
    }),
    write: None,
    capacity: None,
    editor: None,
};
