//! The lidar of a recording: its topic in a bag, its metadata for a capture.

use crate::failure::Failure;
use crate::source::sweep_of;
use clap::Args;
use etendue::config::sensor::packet_source;
use etendue::io::bag::is_bag;
use etendue::io::input::without_compression;
use etendue::io::packets::{
    PacketMetadata, PacketSource, read_hesai_calibration, read_ouster_metadata,
    read_velodyne_calibration,
};
use etendue::io::points::{ReadOptions, read_points_with};
use etendue::io::table::{PointSweeps, PointTable};
use std::path::{Path, PathBuf};

/// The lidar of a recording.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording")]
pub struct LidarOptions {
    /// Topic of the lidar in a bag; required if the bag has several lidars
    #[arg(long, value_name = "NAME")]
    pub topic: Option<String>,
    /// Metadata (JSON) of the Ouster sensor of a capture, calibration (db.xml or ROS YAML) of
    /// the Velodyne sensor, or angles (CSV) of the Hesai sensor [default: the only .json file of
    /// an Ouster beside the capture with its name or a similar one]
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Numbers per point of a .bin file: x, y, z, and intensity, ring or time [default: detected]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..=6))]
    columns: Option<u8>,
}

impl LidarOptions {
    /// Source of the packets of a capture.
    pub fn device(&self) -> Result<PacketSource, Failure> {
        device(self.metadata.as_deref())
    }

    /// The topic to read from a file: none for a file without topics, so that one option applies to
    /// files of several kinds.
    pub fn topic_in(&self, path: &Path) -> Option<&str> {
        self.topic
            .as_deref()
            .filter(|_| path.is_dir() || is_bag(path))
    }

    /// These options with another topic.
    pub fn with_topic(&self, topic: &str) -> Self {
        Self {
            topic: Some(topic.to_owned()),
            ..self.clone()
        }
    }

    /// Options of the reader, for packets of a lidar and a topic.
    pub fn read_options<'a>(
        &self,
        lidar: &'a PacketSource,
        topic: Option<&'a str>,
    ) -> ReadOptions<'a> {
        ReadOptions {
            lidar,
            topic,
            columns: self.columns.map(usize::from),
        }
    }

    /// The sweeps of a recording or of a cloud.
    pub fn points(&self, path: &Path) -> Result<PointSweeps, Failure> {
        let device = self.device()?;
        let options = self.read_options(&device, self.topic.as_deref());
        Ok(read_points_with(path, options)?)
    }

    /// The points of a sweep of one of several inputs, and warnings: that with an index, or the only one.
    pub fn sweep(
        &self,
        path: &Path,
        number: Option<usize>,
    ) -> Result<(PointTable, Vec<String>), Failure> {
        let device = self.device()?;
        let options = self.read_options(&device, self.topic_in(path));
        let (sweep, warnings) = sweep_of(path, number, options)?;
        Ok((sweep.table, warnings))
    }

    /// One of several inputs: its sweeps, with the topic where it has topics.
    pub fn points_of_one(&self, path: &Path) -> Result<PointSweeps, Failure> {
        let device = self.device()?;
        let options = self.read_options(&device, self.topic_in(path));
        Ok(read_points_with(path, options)?)
    }
}

/// Source of packets described by a metadata file (Ouster) or a calibration file (Velodyne, Hesai), by the ending of its
/// name; without a file, the packets determine it.
pub fn device(metadata: Option<&Path>) -> Result<PacketSource, Failure> {
    let Some(path) = metadata else {
        return Ok(packet_source(PacketMetadata::InPackets));
    };
    let plain = without_compression(path);
    let ending = plain.extension().unwrap_or_default().to_ascii_lowercase();
    Ok(packet_source(match ending.to_str() {
        Some("xml" | "yaml" | "yml") => {
            PacketMetadata::Velodyne(Box::new(read_velodyne_calibration(path)?))
        }
        Some("csv") => PacketMetadata::Hesai(read_hesai_calibration(path)?),
        _ => PacketMetadata::Ouster(Box::new(read_ouster_metadata(path)?)),
    }))
}
