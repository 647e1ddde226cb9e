//! Camera frames as ROS 2 messages.

use super::cdr::CdrWriter;
use super::message::header;
use etendue_physics::camera::Lens;
use etendue_sensors::camera::{Camera, CameraFrame};

/// A `sensor_msgs/msg/Image` in CDR of the display image of a frame (`mono8` or `rgb8`), stamped
/// `time` (s).
pub fn picture(frame: &CameraFrame, time: f64, frame_id: &str) -> Vec<u8> {
    let encoding = if frame.bands == 1 { "mono8" } else { "rgb8" };
    let header = Header { time, frame_id };
    image(frame, &header, encoding, frame.bands, &frame.picture)
}

/// A `sensor_msgs/msg/Image` in CDR of the digital numbers of the detector (`mono16`, `rgb16` or a
/// 16-bit Bayer mosaic), stamped `time` (s).
pub fn raw(frame: &CameraFrame, time: f64, frame_id: &str) -> Vec<u8> {
    let encoding = match frame.mosaic {
        Some(pattern) => format!("bayer_{}16", pattern.name()),
        None if frame.bands == 1 => "mono16".to_owned(),
        None => "rgb16".to_owned(),
    };
    let pixels = (frame.width * frame.height) as usize;
    let channels = frame.raw.len() / pixels;
    let bytes: Vec<u8> = frame
        .raw
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let header = Header { time, frame_id };
    image(frame, &header, &encoding, 2 * channels, &bytes)
}

/// A `sensor_msgs/msg/Image` (`32FC1`, m) in CDR of the planar depth of each pixel. The depth is
/// NaN where there is no surface (REP 118).
pub fn depth(frame: &CameraFrame, depth: &[f32], time: f64, frame_id: &str) -> Vec<u8> {
    let bytes: Vec<u8> = depth.iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = Header { time, frame_id };
    image(frame, &header, "32FC1", 4, &bytes)
}

struct Header<'a> {
    time: f64,
    frame_id: &'a str,
}

/// An `Image` message with a given number of bytes per pixel.
fn image(frame: &CameraFrame, head: &Header, encoding: &str, bytes: usize, data: &[u8]) -> Vec<u8> {
    let mut message = CdrWriter::new();
    header(&mut message, head.time, head.frame_id);
    message.u32(frame.height).u32(frame.width).text(encoding);
    message
        .u8(0)
        .length(frame.width as usize * bytes)
        .blob(data);
    message.finish()
}

/// Time of the middle of the first row's exposure, s.
pub fn stamp(frame: &CameraFrame) -> f64 {
    frame.start + 0.5 * frame.exposure
}

/// A `sensor_msgs/msg/CameraInfo` in CDR, stamped `time` (s).
///
/// Lens models have the names of ROS: `plumb_bob`, `rational_polynomial`, `thin_prism` (12
/// parameters), and `equidistant` for the Kannala-Brandt model and the FOV lens.
pub fn camera_info(camera: &Camera, time: f64, frame_id: &str) -> Vec<u8> {
    let mut message = CdrWriter::new();
    header(&mut message, time, frame_id);
    let (model, distortion) = distortion(&camera.intrinsics.lens);
    message.u32(camera.height).u32(camera.width).text(model);
    message.length(distortion.len());
    let ([fx, fy], [cx, cy]) = (camera.intrinsics.focal, camera.intrinsics.centre);
    let intrinsic = [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0];
    let rectifying = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let projection = [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0];
    let matrices = intrinsic.into_iter().chain(rectifying).chain(projection);
    for value in distortion.into_iter().chain(matrices) {
        message.f64(value);
    }
    // No binning; the region of interest is the whole image.
    for value in [0; 6] {
        message.u32(value);
    }
    message.u8(0);
    message.finish()
}

fn distortion(lens: &Lens<f64>) -> (&'static str, Vec<f64>) {
    match lens {
        Lens::Pinhole => ("plumb_bob", vec![0.0; 5]),
        Lens::Fov => ("equidistant", vec![0.0; 4]),
        Lens::KannalaBrandt(lens) => ("equidistant", lens.k.to_vec()),
        Lens::BrownConrady(lens) => {
            let all = lens.to_opencv();
            let used = all
                .iter()
                .rposition(|value| *value != 0.0)
                .map_or(0, |last| last + 1);
            match used {
                0..=5 => ("plumb_bob", all[..5].to_vec()),
                6..=8 => ("rational_polynomial", all[..8].to_vec()),
                _ => ("thin_prism", all.to_vec()),
            }
        }
    }
}
