//! Report of a bag of ROS messages.

use super::cloud::CloudReport;
use super::log::LogReport;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::bag::{self, Measurement, Topic};
use etendue::io::recording::{Content, read_recording};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Printed report of a bag.
#[derive(Serialize)]
pub struct RecordingReport {
    file: String,
    duration_s: f64,
    topics: Vec<TopicReport>,
    /// The measurements of the requested or the only lidar.
    lidar: Option<Measurements>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct TopicReport {
    name: String,
    kind: String,
    messages: usize,
    rate_hz: Option<f64>,
    /// Whether the messages have measurements of a lidar.
    is_lidar: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Measurements {
    Scans(Box<LogReport>),
    Clouds(Box<CloudReport>),
}

impl RecordingReport {
    /// Reads the topics of a bag, and the measurements of its requested or only lidar.
    pub fn of(file: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        let (topics, warnings) = bag::read_topics(file)?;
        let first = topics.iter().map(|topic| topic.times[0]);
        let last = topics.iter().map(|topic| topic.times[1]);
        let duration = last.fold(f64::NEG_INFINITY, f64::max) - first.fold(f64::INFINITY, f64::min);
        Ok(Self {
            file: file.display().to_string(),
            duration_s: duration.max(0.0),
            lidar: Self::measurements(file, lidar, &topics)?,
            topics: topics.iter().map(TopicReport::of).collect(),
            warnings,
        })
    }

    /// Measurements of the requested topic, or of the only topic of a lidar.
    fn measurements(
        file: &Path,
        lidar: &LidarOptions,
        topics: &[Topic],
    ) -> Result<Option<Measurements>, Failure> {
        // Choose a topic
        let lidars = topics.iter().filter(|topic| topic.measurement().is_some());
        let lidars: Vec<&Topic> = lidars.collect();
        let chosen = match (&lidar.topic, &lidars[..]) {
            (Some(name), _) => lidars.iter().find(|topic| topic.name == *name).copied(),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        let Some(chosen) = chosen else {
            return match lidar.topic {
                // The reader lists the topics in its error
                Some(_) => lidar.points(file).map(|_| None),
                None => Ok(None),
            };
        };

        // Describe its planar scans or its clouds
        if chosen.measurement() != Some(Measurement::Scans) {
            let report = CloudReport::of(file, &lidar.with_topic(&chosen.name))?;
            return Ok(Some(Measurements::Clouds(Box::new(report))));
        }
        let read = read_recording(file, &lidar.device()?, Some(&chosen.name))?;
        Ok(match read.content {
            Content::Scans(log) => {
                Some(Measurements::Scans(Box::new(LogReport::of_log(file, log))))
            }
            Content::Clouds(_) => None,
        })
    }

    /// The planar scans, if the bag has them.
    pub fn log(&self) -> Option<&LogReport> {
        match &self.lidar {
            Some(Measurements::Scans(log)) => Some(log),
            _ => None,
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = to_text(|out| self.write(out));
        match &self.lidar {
            Some(Measurements::Scans(log)) => text += &log.text(),
            Some(Measurements::Clouds(cloud)) => text += &cloud.text(),
            None => {}
        }
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: recording of {:.1} s", self.file, self.duration_s)?;
        for topic in &self.topics {
            write!(
                out,
                "  {} ({}): {} messages",
                topic.name, topic.kind, topic.messages
            )?;
            match topic.rate_hz {
                Some(rate) => writeln!(out, ", {rate:.1} per second")?,
                None => writeln!(out)?,
            }
        }
        if self.lidar.is_none() && self.topics.iter().any(|topic| topic.is_lidar) {
            writeln!(
                out,
                "  give --topic NAME to describe the measurements of one lidar"
            )?;
        }
        write_warnings(out, &self.warnings)
    }
}

impl TopicReport {
    fn of(topic: &Topic) -> Self {
        Self {
            name: topic.name.clone(),
            kind: topic.kind.clone(),
            messages: topic.messages,
            rate_hz: topic.rate(),
            is_lidar: topic.measurement().is_some(),
        }
    }
}
