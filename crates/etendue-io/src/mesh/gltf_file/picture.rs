//! Textures of base colours, in buffers, data URIs or separate files.

use super::Reader;
use crate::image::picture_of;
use etendue_scene::Texture;
use gltf::image::{Image, Source};
use std::sync::Arc;

impl Reader<'_> {
    /// The index of an image of the file among those that were read. An unreadable image is skipped
    /// with a warning, because most sensors measure shapes.
    pub(super) fn picture(&mut self, image: &Image<'_>) -> Option<u32> {
        if let Some(known) = self.known.get(&image.index()) {
            return *known;
        }
        let picture = match self.read_picture(image) {
            Ok(picture) => {
                self.pictures.push(Arc::new(picture));
                u32::try_from(self.pictures.len() - 1).ok()
            }
            Err(message) => {
                let number = image.index();
                let name = image.name().map(|name| format!(" (\"{name}\")"));
                let name = name.unwrap_or_default();
                let warning = format!("image {number}{name} was skipped: {message}");
                self.file.warnings.push(warning);
                None
            }
        };
        self.known.insert(image.index(), picture);
        picture
    }

    fn read_picture(&mut self, image: &Image<'_>) -> Result<Texture, String> {
        let bytes = match image.source() {
            Source::View { view, .. } => {
                let buffer = &self.buffers[view.buffer().index()];
                let end = view.offset().checked_add(view.length());
                end.and_then(|end| buffer.get(view.offset()..end))
                    .ok_or("the image extends beyond the end of its buffer")?
                    .to_vec()
            }
            Source::Uri { uri, .. } => self.read_uri(uri).map_err(|error| error.to_string())?,
        };
        let picture = picture_of(&bytes)?;
        Texture::new(picture.width, picture.pixels).map_err(|error| error.to_string())
    }
}
