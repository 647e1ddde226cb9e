//! Topics of a bag, and the choice of one with the measurements of a lidar.

use super::laser_scan::RecordedScan;
use super::message::{LASER_SCAN, POINT_CLOUD, TRANSFORMS};
use super::packets::PacketLayout;
use super::point_cloud::RecordedCloud;
use super::transform::{StampedTransform, TransformTree};
use super::{BAG_ENDINGS, Bag};
use crate::input::read_bytes;
use crate::{FileLocation, FormatError};
use std::path::Path;

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

    /// Measurements of a lidar in its messages; `None` for other messages.
    pub fn measurement(&self) -> Option<Measurement> {
        Measurement::of(&self.kind)
    }

    /// Name and type, for messages.
    fn named(&self) -> String {
        format!("{} ({})", self.name, self.kind)
    }
}

/// The topics of a bag by name, with the warnings of its reader.
///
/// # Errors
/// If the file cannot be read or is no bag.
pub fn read_topics(path: &Path) -> Result<(Vec<Topic>, Vec<String>), FormatError> {
    let bytes = read_bytes(path)?;
    let Some(bag) = Bag::of(path, &bytes) else {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "this is not a bag",
            format!(
                "give a file with one of the endings {}",
                BAG_ENDINGS.join(", ")
            ),
        ));
    };
    let mut warnings = Vec::new();
    let topics = topics_of(bag, &mut warnings)?;
    Ok((topics, warnings))
}

/// The topics of a bag by name.
fn topics_of(bag: Bag, warnings: &mut Vec<String>) -> Result<Vec<Topic>, FormatError> {
    let mut topics: Vec<Topic> = Vec::new();
    bag.for_each(warnings, |message| {
        match topics.iter_mut().find(|topic| topic.name == message.topic) {
            Some(topic) => {
                topic.messages += 1;
                topic.times[1] = message.time;
            }
            None => topics.push(Topic {
                name: message.topic.to_owned(),
                kind: message.kind.to_owned(),
                messages: 1,
                times: [message.time; 2],
            }),
        }
        Ok(())
    })?;
    topics.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(topics)
}

/// Measurements of one lidar.
pub(crate) enum Measured {
    /// Planar scans.
    Scans(Vec<RecordedScan>),
    /// Clouds.
    Clouds(Vec<RecordedCloud>),
    /// Packets of the device.
    Packets(Vec<Vec<u8>>),
}

/// The topics of a bag with measurements of lidars.
pub(crate) struct SensorTopics<'a> {
    bag: Bag<'a>,
    all: Vec<Topic>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

impl<'a> SensorTopics<'a> {
    /// Lists the topics.
    pub fn of(bag: Bag<'a>) -> Result<Self, FormatError> {
        let mut warnings = Vec::new();
        Ok(Self {
            all: topics_of(bag, &mut warnings)?,
            bag,
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

    /// Decodes the messages of a topic.
    pub fn measurements(&self, topic: &Topic) -> Result<Measured, FormatError> {
        let mut scans = Vec::new();
        let mut clouds = Vec::new();
        let mut packets = Vec::new();
        let path = self.bag.path;
        // The list of the topics has the warnings.
        self.bag.for_each(&mut Vec::new(), |message| {
            if message.topic == topic.name {
                match Measurement::of(message.kind) {
                    Some(Measurement::Scans) => scans.push(message.scan(path)?),
                    Some(Measurement::Clouds) => clouds.push(message.cloud(path)?),
                    Some(Measurement::Packets) => packets.extend(message.packets(path)?),
                    None => {}
                }
            }
            Ok(())
        })?;
        Ok(match topic.measurement() {
            Some(Measurement::Scans) => Measured::Scans(scans),
            Some(Measurement::Packets) => Measured::Packets(packets),
            Some(Measurement::Clouds) | None => Measured::Clouds(clouds),
        })
    }

    /// The transforms of the bag.
    pub fn transforms(&self) -> Result<TransformTree, FormatError> {
        let mut transforms: Vec<StampedTransform> = Vec::new();
        let is_transform = |topic: &Topic| TRANSFORMS.contains(&topic.kind.as_str());
        if self.all.iter().any(is_transform) {
            self.bag.for_each(&mut Vec::new(), |message| {
                if TRANSFORMS.contains(&message.kind) {
                    transforms.extend(message.transforms(self.bag.path));
                }
                Ok(())
            })?;
        }
        Ok(TransformTree::new(transforms))
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
