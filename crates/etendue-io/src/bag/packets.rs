//! Messages with the packets of a lidar: `velodyne_msgs/VelodyneScan`, `pandar_msgs/PandarScan`,
//! `nebula_msgs/NebulaPackets`, and `PacketMsg` of the drivers of Ouster.

use super::message_reader::MessageReader;

/// Layout of the packets in a message.
#[derive(Clone, Copy)]
pub(super) enum PacketLayout {
    /// A list of packets of a fixed size. The number of valid bytes follows if `has_size`.
    Fixed { bytes: usize, has_size: bool },
    /// A list of packets with their sizes.
    Sized,
    /// One packet without a header.
    Single,
}

impl PacketLayout {
    /// Layout of a message type; `None` for a type without packets.
    pub fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "velodyne_msgs/VelodyneScan" => Self::Fixed {
                bytes: 1206,
                has_size: false,
            },
            "pandar_msgs/PandarScan" => Self::Fixed {
                bytes: 1500,
                has_size: true,
            },
            "nebula_msgs/NebulaPackets" => Self::Sized,
            "ouster_ros/PacketMsg" | "ouster_msgs/PacketMsg" | "ouster_sensor_msgs/PacketMsg" => {
                Self::Single
            }
            _ => return None,
        })
    }
}

/// Decodes the packets of a message; `None` if it is damaged.
pub(super) fn decode<'a>(
    message: &mut impl MessageReader<'a>,
    layout: PacketLayout,
) -> Option<Vec<Vec<u8>>> {
    if let PacketLayout::Single = layout {
        return Some(vec![message.blob()?.to_vec()]);
    }
    message.header()?;
    let count = message.u32()?;
    let mut packets = Vec::new();
    for _ in 0..count {
        message.stamp()?;
        let packet = match layout {
            PacketLayout::Fixed { bytes, has_size } => {
                let packet = message.bytes(bytes)?;
                let size = if has_size {
                    message.u32()? as usize
                } else {
                    bytes
                };
                packet.get(..size)?
            }
            PacketLayout::Sized | PacketLayout::Single => message.blob()?,
        };
        packets.push(packet.to_vec());
    }
    Some(packets)
}
