//! Pictures on objects.

use super::location::resolve;
use crate::ConfigError;
use crate::toml_file::{Document, TomlProblem};
use etendue_io::image::read_picture;
use etendue_scene::{Mapping, Pictures, Texture, TexturedObject};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Spanned;

/// A picture that the diffuse reflectance is multiplied with; cameras see it, lidars do not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureTable {
    /// A .png or .hdr picture, from the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Length and height that one picture covers: it is projected onto each face along the axis
    /// nearest to its normal, and repeats. Left out: the coordinates of the mesh file are used.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 2]>")]
    pub size_m: Option<Spanned<[f64; 2]>>,
}

impl TextureTable {
    /// The picture on an object whose mesh file gives these coordinates, and its file.
    pub(super) fn textured(
        &self,
        document: &Document,
        corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    ) -> Result<(TexturedObject, PathBuf), ConfigError> {
        let mapping = self.mapping(document, corners)?;
        let path = resolve(document, &self.file)?;
        let picture = read_picture(&path)?;
        let texture = Texture::new(picture.width, picture.pixels).map_err(|error| {
            let problem = TomlProblem::value(error.to_string(), "save the picture again");
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
                let problem =
                    TomlProblem::value("the picture covers nothing", "give lengths above zero");
                Err(document.error(size.span(), problem).into())
            }
            // Texture coordinates of the mesh.
            (None, Some(corners)) => Ok(Mapping::Corners(corners)),
            (None, None) => {
                let problem = TomlProblem::value(
                    "the object has no texture coordinates",
                    "add size_m = [length, height] to project the picture onto it",
                );
                Err(document.error(self.file.span(), problem).into())
            }
        }
    }
}
