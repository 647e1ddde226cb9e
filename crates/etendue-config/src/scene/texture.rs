//! Textures of objects.

use crate::ConfigError;
use crate::toml_file::resolve;
use crate::toml_file::{Document, TomlProblem};
use etendue_io::image::read_picture;
use etendue_scene::{Mapping, Pictures, Texture, TexturedObject};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Spanned;

/// A texture that multiplies the diffuse reflectance. It is visible to cameras, not to lidars.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureTable {
    /// A .png or .hdr image, relative to the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Length and height of one repetition. The image is projected onto each face along the axis
    /// nearest to its normal. Default: the texture coordinates of the mesh file.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 2]>")]
    pub size_m: Option<Spanned<[f64; 2]>>,
}

impl TextureTable {
    /// The texture of an object with the texture coordinates of its mesh file, and the image file.
    pub(super) fn textured(
        &self,
        document: &Document,
        corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    ) -> Result<(TexturedObject, PathBuf), ConfigError> {
        let mapping = self.mapping(document, corners)?;
        let path = resolve(document, &self.file)?;
        let picture = read_picture(&path)?;
        let texture = Texture::new(picture.width, picture.pixels).map_err(|error| {
            let problem = TomlProblem::value(error.to_string(), "save the image again");
            document.error(self.file.span(), problem)
        })?;
        let pictures = Pictures::One(texture.into());
        Ok((TexturedObject { pictures, mapping }, path))
    }

    fn mapping(
        &self,
        document: &Document,
        corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    ) -> Result<Mapping, ConfigError> {
        match (&self.size_m, corners) {
            // Box projection with the given lengths.
            (Some(size), _) => {
                let lengths = *size.get_ref();
                if lengths
                    .iter()
                    .all(|length| *length > 0.0 && length.is_finite())
                {
                    return Ok(Mapping::Box(lengths));
                }
                let problem = TomlProblem::value(
                    "the size of the texture is not positive",
                    "give lengths above zero",
                );
                Err(document.error(size.span(), problem).into())
            }
            // Texture coordinates of the mesh.
            (None, Some(corners)) => Ok(Mapping::Corners(corners)),
            (None, None) => {
                let problem = TomlProblem::value(
                    "the object has no texture coordinates",
                    "add size_m = [length, height] to project the image onto it",
                );
                Err(document.error(self.file.span(), problem).into())
            }
        }
    }
}
