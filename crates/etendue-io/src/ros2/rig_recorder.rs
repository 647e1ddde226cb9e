//! Recordings of all sensors of a rig.

use super::channel::{add_channel, add_topic, ros2_options};
use super::definition::ACKERMANN;
use super::open_writer::OpenWriter;
use super::recorder::{failed, new_file};
use super::rig_message::drive_command;
use super::rig_messages::RigMessages;
use super::topic::TopicMessage;
use crate::FormatError;
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::{Event, Rig};
use mcap::records::MessageHeader;
use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// Bytes of messages in a chunk, after which the recording is flushed to disk.
const CHUNK: usize = 1 << 20;

/// Writer of an MCAP recording of the messages of a rig ([`RigMessages`]).
///
/// Chunks of 1 MiB are on disk when they are complete. Equal events give equal bytes.
pub struct RigRecorder<'r, W: Write + Seek> {
    path: PathBuf,
    rig: &'r Rig,
    messages: RigMessages<'r>,
    writer: OpenWriter<W>,
    /// Number of the channel of each topic in the file.
    channels: Vec<u16>,
    /// Channel of the drive commands, opened with the first command.
    commands: Option<u16>,
    sequence: u32,
}

impl<'r> RigRecorder<'r, BufWriter<File>> {
    /// Begins a recording at `path` and replaces an existing file. `topics` names the outputs of
    /// each sensor.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        let file = new_file(path)?;
        Self::begin(path, rig, topics, BufWriter::new(file))
    }
}

impl<'r> RigRecorder<'r, Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn in_memory(rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        Self::begin("memory".as_ref(), rig, topics, Cursor::new(Vec::new()))
    }

    /// Ends the recording and returns its bytes.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn into_bytes(self) -> Result<Vec<u8>, FormatError> {
        let ended = self.writer.finish();
        Ok(ended
            .map_err(|error| failed(&self.path, error))?
            .into_inner())
    }
}

impl<'r, W: Write + Seek> RigRecorder<'r, W> {
    fn begin(
        path: &Path,
        rig: &'r Rig,
        topics: &[Vec<String>],
        sink: W,
    ) -> Result<Self, FormatError> {
        let fail = |error| failed(path, error);
        let options = ros2_options().chunk_size(None);
        let mut writer = OpenWriter::new(options.create(sink).map_err(fail)?);
        let messages = RigMessages::new(rig, topics);
        let topics = messages.topics().iter();
        let channels: Result<_, _> = topics.map(|topic| add_topic(&mut writer, topic)).collect();
        let mut recorder = Self {
            path: path.to_owned(),
            rig,
            channels: channels.map_err(fail)?,
            messages,
            writer,
            commands: None,
            sequence: 0,
        };
        recorder.append(&recorder.messages.mounts())?;
        Ok(recorder)
    }

    /// Appends messages of a [`RigMessages`] of the same rig and topics.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, messages: &[TopicMessage]) -> Result<(), FormatError> {
        for message in messages {
            self.write(self.channels[message.topic], message.time, &message.bytes)?;
        }
        Ok(())
    }

    /// Appends the data of a sensor.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&mut self, event: &Event) -> Result<(), FormatError> {
        self.append(&self.messages.of_event(event))
    }

    /// Appends the true motion of the robot's bodies at a time (ns), the base first.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record_motion(&mut self, time: i64, states: &[MotionState]) -> Result<(), FormatError> {
        self.append(&self.messages.of_motion(time, states))
    }

    /// Appends a drive command at a time (ns), on `/cmd`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record_command(&mut self, time: i64, command: &DriveCommand) -> Result<(), FormatError> {
        let channel = if let Some(channel) = self.commands {
            channel
        } else {
            let added = add_channel(&mut self.writer, "/cmd", &ACKERMANN);
            added.map_err(|error| failed(&self.path, error))?
        };
        self.commands = Some(channel);
        let message = drive_command(time, self.rig.frames.base(), command);
        self.write(channel, u64::try_from(time).unwrap_or(0), &message)
    }

    fn write(&mut self, channel_id: u16, time: u64, bytes: &[u8]) -> Result<(), FormatError> {
        let header = MessageHeader {
            channel_id,
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let written = self.writer.append(&header, bytes);
        let written = written.and_then(|()| self.writer.flush_from(CHUNK));
        written.map_err(|error| failed(&self.path, error))
    }

    /// Writes the index and ends the recording.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), FormatError> {
        let ended = self.writer.finish();
        ended.map(drop).map_err(|error| failed(&self.path, error))
    }
}
