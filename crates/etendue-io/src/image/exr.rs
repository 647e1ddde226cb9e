//! OpenEXR: images with any number of floating-point and integer channels. Needs the feature `exr`.

use super::Picture;
use std::borrow::Cow;
use std::io;

/// A channel of an EXR image, row by row from the upper left pixel.
#[derive(Clone, Debug)]
pub struct ExrChannel<'a> {
    /// Name of the channel; `R`, `G`, `B`, `Y`, `Z` have their standard meaning.
    pub name: &'a str,
    /// Values.
    pub data: ExrData<'a>,
}

/// Values of a channel.
#[derive(Clone, Debug)]
pub enum ExrData<'a> {
    /// 32-bit floating point.
    Float(Cow<'a, [f32]>),
    /// 32-bit unsigned integers.
    Uint(Cow<'a, [u32]>),
}

/// Whether this build reads and writes EXR files: the feature `exr`.
pub const EXR_SUPPORTED: bool = cfg!(feature = "exr");

/// Encodes an EXR file (scan lines, ZIP compression) with the given width and height.
///
/// # Errors
/// If a channel does not have one value per pixel, the image has no pixel or channel, or this build
/// lacks the feature `exr`.
pub fn exr(width: u32, height: u32, channels: &[ExrChannel]) -> io::Result<Vec<u8>> {
    codec::encode(width, height, channels)
}

/// Decodes the channels R, G and B, or Y, of an image.
pub(super) fn read(bytes: &[u8]) -> Result<Picture, String> {
    codec::decode(bytes)
}

#[cfg(not(feature = "exr"))]
mod codec {
    use super::{ExrChannel, Picture};
    use std::io::{self, ErrorKind};

    const DISABLED: &str =
        "this build does not support EXR images: build it with `cargo build --features exr`";

    pub fn encode(_: u32, _: u32, _: &[ExrChannel]) -> io::Result<Vec<u8>> {
        Err(io::Error::new(ErrorKind::Unsupported, DISABLED))
    }

    pub fn decode(_: &[u8]) -> Result<Picture, String> {
        Err(DISABLED.into())
    }
}

#[cfg(feature = "exr")]
mod codec {
    use super::{ExrChannel, ExrData, Picture};
    use exr::prelude::{
        AnyChannel, AnyChannels, Compression, Encoding, FlatSamples, Image, Layer, LayerAttributes,
        ReadChannels, ReadLayers, WritableImage, read,
    };
    use std::io::{self, Cursor, ErrorKind};

    pub fn encode(width: u32, height: u32, channels: &[ExrChannel]) -> io::Result<Vec<u8>> {
        let size = (width as usize, height as usize);
        let pixels = size.0 * size.1;
        let fits = |channel: &ExrChannel| channel.data.len() == pixels;
        if channels.is_empty() || pixels == 0 || !channels.iter().all(fits) {
            let message = "every channel of an EXR image needs one value per pixel";
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        let channel = |channel: &ExrChannel| AnyChannel::new(channel.name, channel.data.samples());
        let channels = AnyChannels::sort(channels.iter().map(channel).collect());
        let encoding = Encoding {
            compression: Compression::ZIP16,
            ..Encoding::default()
        };
        let layer = Layer::new(size, LayerAttributes::default(), encoding, channels);
        let mut file = Cursor::new(Vec::new());
        Image::from_layer(layer)
            .write()
            .non_parallel()
            .to_buffered(&mut file)
            .map_err(io::Error::other)?;
        Ok(file.into_inner())
    }

    impl ExrData<'_> {
        fn len(&self) -> usize {
            match self {
                Self::Float(values) => values.len(),
                Self::Uint(values) => values.len(),
            }
        }

        fn samples(&self) -> FlatSamples {
            match self {
                Self::Float(values) => FlatSamples::F32(values.to_vec()),
                Self::Uint(values) => FlatSamples::U32(values.to_vec()),
            }
        }
    }

    pub fn decode(bytes: &[u8]) -> Result<Picture, String> {
        // Read the first layer at full resolution
        check_size(bytes)?;
        let image = read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .non_parallel()
            .from_buffered(Cursor::new(bytes))
            .map_err(|error| error.to_string())?;
        // Find the channels of colour or luminance
        let layer = &image.layer_data;
        let channel = |name: &str| {
            let mut channels = layer.channel_data.list.iter();
            channels.find(|channel| channel.name.eq(name))
        };
        let colours = channel("R").zip(channel("G")).zip(channel("B"));
        let colours = colours.map(|((red, green), blue)| [red, green, blue]);
        let grey = channel("Y").map(|grey| [grey; 3]);
        let channels = colours
            .or(grey)
            .ok_or("the image has neither channels R, G and B nor Y")?;
        // Interleave them into pixels
        let value = |channel: &AnyChannel<FlatSamples>, pixel| {
            channel.sample_data.value_by_flat_index(pixel).to_f32()
        };
        let pixels = 0..layer.size.area();
        Ok(Picture {
            width: u32::try_from(layer.size.width()).map_err(|_| "the image is too wide")?,
            pixels: pixels
                .map(|pixel| channels.map(|channel| value(channel, pixel)))
                .collect(),
        })
    }

    /// Checks the size of an image before its pixels are allocated.
    fn check_size(bytes: &[u8]) -> Result<(), String> {
        let meta = exr::meta::MetaData::read_from_buffered(Cursor::new(bytes), false)
            .map_err(|error| error.to_string())?;
        meta.headers.iter().try_for_each(|header| {
            let size = header.layer_size;
            let channels = header.channels.list.len();
            super::super::check_size(size.width(), size.height(), channels, bytes.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "exr"))]
    #[test]
    fn a_build_without_the_feature_names_it() {
        let data = ExrData::Float(vec![1.0].into());
        let error = exr(1, 1, &[ExrChannel { name: "Y", data }]).expect_err("no feature");
        assert!(error.to_string().contains("--features exr"), "{error}");
        assert!(
            read(&[])
                .expect_err("no feature")
                .contains("--features exr")
        );
    }

    #[cfg(feature = "exr")]
    #[test]
    fn what_is_written_is_read() {
        // A picture of three channels
        let values: Vec<f32> = (0..5 * 37)
            .map(|i: u16| f32::from(i) * 0.25 - 3.0)
            .collect();
        let plane = |name, scale: f32| ExrChannel {
            name,
            data: ExrData::Float(values.iter().map(|v| v * scale).collect::<Vec<_>>().into()),
        };
        let file = exr(5, 37, &[plane("R", 1.0), plane("G", 2.0), plane("B", 0.5)]);
        let file = file.expect("it fits");
        let picture = read(&file).expect("a picture");
        assert_eq!((picture.width, picture.pixels.len()), (5, 185));
        assert!(
            picture
                .pixels
                .iter()
                .zip(&values)
                .all(|(pixel, value)| { *pixel == [*value, 2.0 * value, 0.5 * value] })
        );
        // Truncated files
        for length in [3, 10, 100, file.len() - 5] {
            assert!(read(&file[..length.max(4)]).is_err(), "{length}");
        }
        // A single channel: luminance is read, others are refused
        let grey = exr(5, 37, &[plane("Y", 1.0)]).expect("it fits");
        assert_eq!(read(&grey).expect("a picture").pixels[7], [values[7]; 3]);
        let nameless = exr(5, 37, &[plane("Z", 1.0)]).expect("it fits");
        assert!(read(&nameless).expect_err("no colours").contains("neither"));
    }
}
