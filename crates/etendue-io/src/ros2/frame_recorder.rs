//! Recordings of one camera.

use super::channel::{add_channel, ros2_options};
use super::definition::{CAMERA_INFO, CLOCK, Definition, IMAGE, TRANSFORMS};
use super::image::{camera_info, depth, picture, raw, stamp};
use super::message::{check_stamp, clock, nanoseconds, transform};
use super::open_writer::{LEAST_CHUNK, OpenWriter};
use super::recorder::{failed, new_file};
use crate::FormatError;
use etendue_physics::camera::body_from_optical;
use etendue_sensors::camera::{Camera, CameraFrame, FrameTruth};
use mcap::records::MessageHeader;
use nalgebra::Isometry3;
use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// Writer of an MCAP recording of a camera: `/camera/image` (display image), `/camera/image_raw`
/// (digital numbers of the detector), `/camera/depth` (planar depth, m), `/camera/camera_info`,
/// `/tf` of the optical frame, and `/clock`.
pub struct FrameRecorder<W: Write + Seek> {
    path: PathBuf,
    writer: OpenWriter<W>,
    channels: Channels,
    sequence: u32,
}

/// Channel number of each topic.
struct Channels {
    image: u16,
    image_raw: u16,
    camera_info: u16,
    tf: u16,
    clock: u16,
    depth: u16,
}

/// Optical frame of the camera: z forward, x right, y down.
const OPTICAL_FRAME: &str = "camera_optical";

impl FrameRecorder<BufWriter<File>> {
    /// Begins a recording at `path` and replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be written, or another process writes it.
    pub fn create(path: &Path) -> Result<Self, FormatError> {
        Self::over(path, BufWriter::new(new_file(path)?))
    }
}

impl FrameRecorder<Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn in_memory() -> Result<Self, FormatError> {
        Self::over(Path::new("memory"), Cursor::new(Vec::new()))
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

impl<W: Write + Seek> FrameRecorder<W> {
    /// Begins a recording that is written to `sink`. Errors name `path`.
    ///
    /// # Errors
    /// If the sink cannot be written.
    pub fn over(path: &Path, sink: W) -> Result<Self, FormatError> {
        let fail = |error| failed(path, error);
        let options = ros2_options().chunk_size(None);
        let mut writer = OpenWriter::new(options.create(sink).map_err(fail)?);
        let mut add = |topic: &str, definition: &Definition| {
            add_channel(&mut writer, topic, definition).map_err(fail)
        };
        let channels = Channels {
            image: add("/camera/image", &IMAGE)?,
            image_raw: add("/camera/image_raw", &IMAGE)?,
            camera_info: add("/camera/camera_info", &CAMERA_INFO)?,
            tf: add("/tf", &TRANSFORMS)?,
            clock: add("/clock", &CLOCK)?,
            depth: add("/camera/depth", &IMAGE)?,
        };
        Ok(Self {
            path: path.to_owned(),
            writer,
            channels,
            sequence: 0,
        })
    }

    /// Appends a frame, its true depth and the pose of the camera body (x forward) at the exposure.
    /// Frames are on disk in chunks of at least 64 KiB.
    ///
    /// # Errors
    /// If the file cannot be written, or the frame's time is negative or beyond 2^32 s.
    pub fn record(
        &mut self,
        frame: &CameraFrame,
        truth: &FrameTruth,
        camera: &Camera,
        world_from_camera: &Isometry3<f64>,
    ) -> Result<(), FormatError> {
        // Compute the pose of the optical frame
        let time = stamp(frame);
        check_stamp(&self.path, time)?;
        let optical = world_from_camera * body_from_optical();
        // Encode all messages of the frame
        let channels = &self.channels;
        let messages = [
            (channels.clock, clock(time)),
            (
                channels.tf,
                transform(time, "world", OPTICAL_FRAME, &optical),
            ),
            (
                channels.camera_info,
                camera_info(camera, time, OPTICAL_FRAME),
            ),
            (
                channels.depth,
                depth(frame, &truth.depth, time, OPTICAL_FRAME),
            ),
            (channels.image_raw, raw(frame, time, OPTICAL_FRAME)),
            (channels.image, picture(frame, time, OPTICAL_FRAME)),
        ];
        // Write the messages with the time of the frame
        for (channel_id, bytes) in messages {
            let header = MessageHeader {
                channel_id,
                sequence: self.sequence,
                log_time: nanoseconds(time),
                publish_time: nanoseconds(time),
            };
            let written = self.writer.append(&header, &bytes);
            written.map_err(|error| failed(&self.path, error))?;
        }
        self.sequence += 1;
        let flushed = self.writer.flush_from(LEAST_CHUNK);
        flushed.map_err(|error| failed(&self.path, error))
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
