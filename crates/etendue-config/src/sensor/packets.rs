//! Channel tables of the presets, for decoding packet captures.

use super::preset;
use etendue_io::packets::{ChannelTable, ChannelTables, PacketMetadata, PacketSource};
use etendue_sensors::lidar::Columns;

/// A packet source with the channel tables of the presets.
///
/// ```
/// use etendue_config::sensor::packet_source;
/// use etendue_io::packets::PacketMetadata;
/// let source = packet_source(PacketMetadata::InPackets);
/// assert_eq!((source.tables.0)("velodyne-vlp-16").map(|table| table.channels.len()), Some(16));
/// ```
pub fn packet_source(metadata: PacketMetadata) -> PacketSource {
    PacketSource {
        metadata,
        tables: ChannelTables(channel_table),
    }
}

/// The channel table of a preset; `None` for unknown names.
pub fn channel_table(name: &str) -> Option<ChannelTable> {
    let lidar = preset(name).ok()?.lidar;
    let firing_period = match lidar.pattern.columns() {
        Columns::Period { seconds } => seconds,
        Columns::Steps { period, .. } => period,
        Columns::PerSweep { columns, .. } => lidar.sweep_duration() / f64::from(columns),
    };
    Some(ChannelTable {
        channels: lidar.channels,
        firing_period,
    })
}
