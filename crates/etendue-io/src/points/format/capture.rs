//! Packet captures.

use super::FormatEntry;
use crate::packets;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["pcap", "pcapng"],
    recognizes: |_, bytes| packets::is_capture(bytes),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: false,
    read: |file| packets::parse(file.path, &file.bytes, file.options.lidar),
    write: None,
    capacity: None,
    editor: None,
};
