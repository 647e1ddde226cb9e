//! Recordings of one camera.

use super::definition::{CAMERA_INFO, CLOCK, Definition, IMAGE, TRANSFORMS};
use super::image::{camera_info, depth, picture, raw, stamp};
use super::message::{check_stamp, clock, nanoseconds, transform};
use super::recorder::{QOS, failed};
use crate::FormatError;
use etendue_physics::camera::body_from_optical;
use etendue_sensors::camera::{Camera, CameraFrame, FrameTruth};
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

/// An MCAP recording of a camera in the making: `/camera/image` (the picture), `/camera/image_raw`
/// (the detector's numbers), `/camera/depth` (planar, m), `/camera/camera_info`, `/tf` of the optical
/// frame, and `/clock`.
pub struct FrameRecorder {
    writer: Writer<Cursor<Vec<u8>>>,
    channels: [u16; 6],
    sequence: u32,
}

/// The frame of the optical axes: z forward, x right, y down.
const OPTICAL_FRAME: &str = "camera_optical";

impl FrameRecorder {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice: memory does not refuse.
    pub fn new() -> Result<Self, FormatError> {
        let options = WriteOptions::new()
            .compression(None)
            .profile("ros2")
            .library("etendue")
            .chunk_size(None);
        let fail = |error| failed(Path::new("memory"), error);
        let mut writer = options.create(Cursor::new(Vec::new())).map_err(fail)?;
        let mut channel = |topic: &str, definition: &Definition| {
            let schema = definition.schema();
            let schema = writer.add_schema(definition.name, "ros2msg", schema.as_bytes())?;
            let qos = BTreeMap::from([("offered_qos_profiles".to_owned(), QOS.to_owned())]);
            writer.add_channel(schema, topic, "cdr", &qos)
        };
        let [image, numbers, info, tf, clock, depth] = [
            channel("/camera/image", &IMAGE),
            channel("/camera/image_raw", &IMAGE),
            channel("/camera/camera_info", &CAMERA_INFO),
            channel("/tf", &TRANSFORMS),
            channel("/clock", &CLOCK),
            channel("/camera/depth", &IMAGE),
        ];
        let all = || Ok([image?, numbers?, info?, tf?, clock?, depth?]);
        let channels = all().map_err(fail)?;
        Ok(Self {
            writer,
            channels,
            sequence: 0,
        })
    }

    /// Appends a frame that was taken where the camera's body (x forward) then was, and what it
    /// truly shows.
    ///
    /// # Errors
    /// Where the frame's time is negative or beyond 2^32 s.
    pub fn record(
        &mut self,
        frame: &CameraFrame,
        truth: &FrameTruth,
        camera: &Camera,
        world_from_camera: &Isometry3<f64>,
    ) -> Result<(), FormatError> {
        let time = stamp(frame);
        check_stamp(Path::new("memory"), time)?;
        let optical = world_from_camera * body_from_optical();
        let messages = [
            (4, clock(time)),
            (3, transform(time, "world", OPTICAL_FRAME, &optical)),
            (2, camera_info(camera, time, OPTICAL_FRAME)),
            (5, depth(frame, &truth.depth, time, OPTICAL_FRAME)),
            (1, raw(frame, time, OPTICAL_FRAME)),
            (0, picture(frame, time, OPTICAL_FRAME)),
        ];
        for (channel, bytes) in messages {
            let header = MessageHeader {
                channel_id: self.channels[channel],
                sequence: self.sequence,
                log_time: nanoseconds(time),
                publish_time: nanoseconds(time),
            };
            let written = self.writer.write_to_known_channel(&header, &bytes);
            written.map_err(|error| failed(Path::new("memory"), error))?;
        }
        self.sequence += 1;
        Ok(())
    }

    /// Ends the recording and gives its bytes.
    ///
    /// # Errors
    /// Never in practice: memory does not refuse.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, FormatError> {
        let ended = self.writer.finish();
        ended.map_err(|error| failed(Path::new("memory"), error))?;
        Ok(self.writer.into_inner().into_inner())
    }
}
