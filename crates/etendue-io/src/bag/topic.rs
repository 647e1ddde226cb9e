//! Topics of a bag, and the choice of one with the measurements of a lidar.

use super::laser_scan::RecordedScan;
use super::message::{LASER_SCAN, POINT_CLOUD, TRANSFORMS};
use super::packets::PacketLayout;
use super::point_cloud::RecordedCloud;
use super::transform::{StampedTransform, TransformTree};
use super::{Bag, Message};
use crate::interrupt::Interrupt;
use crate::packets::{
    PacketMetadata, PacketSource, VisitPacket, parse_ouster_metadata, visit_sweeps,
};
use crate::points::{SweepSummary, VisitSweep};
use crate::scan_folder::bag_files;
use crate::{FileLocation, FormatError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Type of messages with a text.
const TEXT: &str = "std_msgs/String";

/// Topic of the driver of an Ouster with the metadata of the sensor (JSON), in its namespace.
const METADATA: &str = "/metadata";

/// Measurements of a lidar in the messages of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measurement {
    /// Planar scans: `LaserScan`.
    Scans,
    /// Clouds: `PointCloud2`.
    Clouds,
    /// Packets of the device ([`crate::packets`]).
    Packets,
}

impl Measurement {
    /// All measurements.
    const ALL: [Self; 3] = [Self::Clouds, Self::Scans, Self::Packets];

    /// Measurements of a message type; `None` for other messages.
    fn of(kind: &str) -> Option<Self> {
        match kind {
            LASER_SCAN => Some(Self::Scans),
            POINT_CLOUD => Some(Self::Clouds),
            _ => PacketLayout::of(kind).map(|_| Self::Packets),
        }
    }
}

/// A topic of a bag.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Name, for example `/points`.
    pub name: String,
    /// Message type, for example `sensor_msgs/PointCloud2`.
    pub kind: String,
    /// Number of messages.
    pub messages: usize,
    /// Times of recording of the first and the last message, s.
    pub times: [f64; 2],
}

impl Topic {
    /// Messages per second; `None` for fewer than two, and for equal times.
    pub fn rate(&self) -> Option<f64> {
        let [first, last] = self.times;
        let intervals = self.messages.checked_sub(1)?;
        (last > first).then(|| intervals as f64 / (last - first))
    }

    /// Measurements of a lidar in its messages; `None` for other messages, and for the packets of the inertial unit of
    /// an Ouster, whose messages have the type of those of the lidar.
    pub fn measurement(&self) -> Option<Measurement> {
        let is_inertial = self.name.ends_with("/imu_packets");
        Measurement::of(&self.kind).filter(|_| !is_inertial)
    }

    /// Whether its messages have single packets, as those of the driver of an Ouster.
    fn has_single_packets(&self) -> bool {
        matches!(PacketLayout::of(&self.kind), Some(PacketLayout::Single))
    }

    /// Name and type, for messages.
    fn named(&self) -> String {
        format!("{} ({})", self.name, self.kind)
    }
}

/// The topics of a bag, or of the one in a folder, by name, with the warnings of its reader.
///
/// # Errors
/// If the bag cannot be read, or there is none.
pub fn read_topics(path: &Path) -> Result<(Vec<Topic>, Vec<String>), FormatError> {
    let files = if path.is_dir() {
        bag_files(path)?
    } else {
        vec![path.to_owned()]
    };
    let contents = Bag::open_all(&files)?;
    let topics = SensorTopics::of(Bag::of_files(path, &files, &contents)?)?;
    Ok((topics.all, topics.warnings))
}

/// A measurement of a lidar in a message.
pub(crate) enum Measured {
    /// A planar scan.
    Scan(RecordedScan),
    /// A cloud.
    Cloud(RecordedCloud),
    /// Packets of the device.
    Packets(Vec<Vec<u8>>),
}

impl Measured {
    /// Decodes a message; `None` for a message without measurements.
    fn of(message: &Message) -> Result<Option<Self>, FormatError> {
        Ok(match Measurement::of(message.kind) {
            Some(Measurement::Scans) => Some(Self::Scan(message.scan()?)),
            Some(Measurement::Clouds) => Some(Self::Cloud(message.cloud()?)),
            Some(Measurement::Packets) => Some(Self::Packets(message.packets()?)),
            None => None,
        })
    }
}

/// The topics of a bag with measurements of lidars.
pub(crate) struct SensorTopics<'a> {
    /// The bag.
    pub bag: Bag<'a>,
    all: Vec<Topic>,
    transforms: TransformTree,
    /// Texts on topics `metadata`, by topic.
    metadata: BTreeMap<String, String>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

impl<'a> SensorTopics<'a> {
    /// Lists the topics by name, and reads the transforms.
    pub fn of(bag: Bag<'a>) -> Result<Self, FormatError> {
        let mut all: Vec<Topic> = Vec::new();
        let mut transforms: Vec<StampedTransform> = Vec::new();
        let mut metadata = BTreeMap::new();
        let mut warnings = Vec::new();
        let visited = bag.for_each(&mut warnings, |message| {
            if TRANSFORMS.contains(&message.kind) {
                transforms.extend(message.transforms());
            }
            if message.kind == TEXT && message.topic.ends_with(METADATA) {
                metadata.insert(message.topic.to_owned(), message.text()?);
            }
            match all.iter_mut().find(|topic| topic.name == message.topic) {
                Some(topic) => {
                    topic.messages += 1;
                    topic.times[1] = message.time;
                }
                None => all.push(Topic {
                    name: message.topic.to_owned(),
                    kind: message.kind.to_owned(),
                    messages: 1,
                    times: [message.time; 2],
                }),
            }
            Ok(())
        });
        Interrupt::result(visited)?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            bag,
            all,
            transforms: TransformTree::new(transforms),
            metadata,
            warnings,
        })
    }

    /// Topics with one kind of measurements.
    fn of_kind(&self, kind: Measurement) -> impl Iterator<Item = &Topic> {
        let is_of_kind = move |topic: &&Topic| topic.measurement() == Some(kind);
        self.all.iter().filter(is_of_kind)
    }

    /// Chooses the requested topic, or else the only one of the first of the `preferred`
    /// measurements that the bag has.
    ///
    /// # Errors
    /// If there is no such topic, or there are several to choose from; the error lists them.
    pub fn choose(
        &self,
        requested: Option<&str>,
        preferred: [Measurement; 3],
    ) -> Result<&Topic, FormatError> {
        let measured = || preferred.into_iter().flat_map(|kind| self.of_kind(kind));
        if let Some(requested) = requested {
            let found = measured().find(|topic| topic.name == requested);
            return found.ok_or_else(|| {
                self.unclear(&format!("there are no points of the topic {requested}"))
            });
        }
        let usual = { preferred.into_iter() }
            .map(|kind| self.of_kind(kind).collect::<Vec<_>>())
            .find(|topics| !topics.is_empty());
        match usual.as_deref() {
            Some([only]) => Ok(only),
            Some(_) => {
                Err(self.unclear("there are points of several sensors, each in a frame of its own"))
            }
            None => Err(self.none()),
        }
    }

    /// Visits the measurements of a topic, one message at a time.
    ///
    /// # Errors
    /// If a message is damaged, or `visit` fails.
    pub fn for_each(
        &self,
        topic: &Topic,
        mut visit: impl FnMut(Measured) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        // The list of the topics has the warnings.
        self.bag.for_each(&mut Vec::new(), |message| {
            if message.topic != topic.name {
                return Ok(());
            }
            match Measured::of(message)? {
                Some(measured) => visit(measured),
                None => Ok(()),
            }
        })
    }

    /// Decodes the packets in the messages of a topic, and visits their sweeps one after another. `source` describes the
    /// device; without metadata, that of an Ouster is the text on the topic `metadata` of its driver.
    ///
    /// # Errors
    /// If a message is damaged, no packet is one of a known lidar, or `visit` fails.
    pub fn visit_sweeps_of_packets(
        &self,
        topic: &Topic,
        source: &PacketSource,
        summary: &mut SweepSummary,
        visit: VisitSweep,
    ) -> Result<(), Interrupt> {
        let source = self.packet_source(topic, source)?;
        let packets = |_: &mut Vec<String>, visit: VisitPacket| self.for_each_packet(topic, visit);
        visit_sweeps(self.bag.path, &packets, &source, summary, visit)
    }

    /// The given description of the device of a topic, with the metadata of the bag if it has none.
    fn packet_source<'s>(
        &self,
        topic: &Topic,
        given: &'s PacketSource,
    ) -> Result<Cow<'s, PacketSource>, FormatError> {
        let (namespace, _) = topic.name.rsplit_once('/').unwrap_or_default();
        let published = self.metadata.get(&format!("{namespace}{METADATA}"));
        let is_given = given.metadata != PacketMetadata::InPackets;
        let Some(text) = published.filter(|_| !is_given && topic.has_single_packets()) else {
            return Ok(Cow::Borrowed(given));
        };
        let metadata = parse_ouster_metadata(self.bag.path, text)?;
        Ok(Cow::Owned(PacketSource {
            metadata: PacketMetadata::Ouster(Box::new(metadata)),
            tables: given.tables,
        }))
    }

    /// Visits the packets in the messages of a topic.
    fn for_each_packet(&self, topic: &Topic, visit: VisitPacket) -> Result<(), Interrupt> {
        self.for_each(topic, |measured| match measured {
            Measured::Packets(packets) => packets.iter().try_for_each(|bytes| visit(bytes)),
            Measured::Scan(_) | Measured::Cloud(_) => Ok(()),
        })
    }

    /// The transforms of the bag.
    pub fn transforms(&self) -> &TransformTree {
        &self.transforms
    }

    /// An error that lists the topics with points.
    fn unclear(&self, why: &str) -> FormatError {
        let topics = { Measurement::ALL.into_iter() }.flat_map(|kind| self.of_kind(kind));
        let names: Vec<String> = topics.map(Topic::named).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        FormatError::malformed(
            self.bag.path,
            FileLocation::File,
            format!("{why}; topics with points: {names}"),
            "choose one topic with --topic NAME",
        )
    }

    /// The error of a bag without points.
    fn none(&self) -> FormatError {
        let found = if self.all.is_empty() {
            "the recording has no messages".to_owned()
        } else {
            let topics: Vec<String> = self.all.iter().map(Topic::named).collect();
            format!("the recording has {}", topics.join(", "))
        };
        FormatError::malformed(
            self.bag.path,
            FileLocation::File,
            format!(
                "there is neither a LaserScan nor a PointCloud2 topic, nor packets of a lidar: {found}"
            ),
            "record the topic of the lidar",
        )
    }
}
