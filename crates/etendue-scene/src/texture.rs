//! Textures: images on surfaces.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of texels are not negative and fit"
)]

use etendue_raycast::{Hit, ObjectId};
use nalgebra::{Point3, Vector3};
use std::sync::Arc;
use thiserror::Error;

/// An image of linear colours (red, green, blue) in [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    width: u32,
    texels: Vec<[f32; 3]>,
}

/// The number of texels is not a multiple of the width.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{texels} texels are no picture of width {width}")]
pub struct TextureError {
    /// Number of texels.
    pub texels: usize,
    /// Width, texels.
    pub width: u32,
}

/// The mapping of texture coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Mapping {
    /// Texture coordinates of each triangle's corners: (0, 0) is the upper left corner of the image, (1, 1)
    /// the lower right one; the image repeats.
    Corners(Arc<Vec<[[f32; 2]; 3]>>),
    /// Box projection: each face along the axis of the object's frame that is nearest to its normal; one
    /// image covers this length and height, m.
    Box([f64; 2]),
}

/// The images of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Pictures {
    /// One image for all triangles.
    One(Arc<Texture>),
    /// An image per triangle, where it has one.
    Triangles {
        /// The images.
        pictures: Vec<Arc<Texture>>,
        /// The index of each triangle's image.
        of_triangle: Vec<Option<u32>>,
    },
}

/// Images on an object; the diffuse reflectance is multiplied by their colour.
#[derive(Clone, Debug, PartialEq)]
pub struct TexturedObject {
    /// The images.
    pub pictures: Pictures,
    /// The mapping.
    pub mapping: Mapping,
}

/// The images on the objects of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Textures {
    of_object: Vec<Option<TexturedObject>>,
}

impl Texture {
    /// An image, row by row from above.
    ///
    /// # Errors
    /// Where the number of texels is not a multiple of the width.
    pub fn new(width: u32, texels: Vec<[f32; 3]>) -> Result<Self, TextureError> {
        if width == 0 || texels.is_empty() || !texels.len().is_multiple_of(width as usize) {
            return Err(TextureError {
                texels: texels.len(),
                width,
            });
        }
        Ok(Self { width, texels })
    }

    /// The mean of all texels.
    pub fn mean(&self) -> [f64; 3] {
        let count = self.texels.len() as f64;
        [0, 1, 2].map(|i| self.texels.iter().map(|t| f64::from(t[i])).sum::<f64>() / count)
    }

    /// The colour at texture coordinates, interpolated bilinearly.
    ///
    /// ```
    /// use etendue_scene::Texture;
    /// let texture = Texture::new(2, vec![[0.0; 3], [1.0; 3]])?;
    /// assert_eq!(texture.colour([0.25, 0.5]), [0.0; 3]);
    /// assert_eq!(texture.colour([0.5, 0.5]), [0.5; 3]);
    /// assert_eq!(texture.colour([1.75, 0.5]), [1.0; 3]);
    /// # Ok::<(), etendue_scene::TextureError>(())
    /// ```
    pub fn colour(&self, [u, v]: [f64; 2]) -> [f64; 3] {
        let height = self.texels.len() / self.width as usize;
        let (x, right) = split(u, self.width as usize);
        let (y, low) = split(v, height);
        let texel = |column: usize, row: usize| self.texels[row * self.width as usize + column];
        let a = texel(x[0], y[0]);
        let b = texel(x[1], y[0]);
        let c = texel(x[0], y[1]);
        let d = texel(x[1], y[1]);
        [0, 1, 2].map(|i| {
            let [a, b, c, d] = [a, b, c, d].map(|texel| f64::from(texel[i]));
            let above = a + (b - a) * right;
            let below = c + (d - c) * right;
            above + (below - above) * low
        })
    }
}

/// The two texels next to a coordinate of a repeating image, and the weight of the second.
fn split(coordinate: f64, count: usize) -> ([usize; 2], f64) {
    let place = coordinate.rem_euclid(1.0) * count as f64 - 0.5;
    let first = place.floor();
    let index = |i: f64| i.rem_euclid(count as f64) as usize % count;
    ([index(first), index(first + 1.0)], place - first)
}

impl Textures {
    /// Sets the images of an object.
    pub fn put(&mut self, object: ObjectId, textured: TexturedObject) {
        let number = object.0 as usize;
        if self.of_object.len() <= number {
            self.of_object.resize(number + 1, None);
        }
        self.of_object[number] = Some(textured);
    }

    /// Whether no object has an image.
    pub fn is_empty(&self) -> bool {
        self.of_object.is_empty()
    }

    /// The images of an object, if it has any.
    pub fn of(&self, object: ObjectId) -> Option<&TexturedObject> {
        self.of_object.get(object.0 as usize)?.as_ref()
    }
}

impl Pictures {
    fn of(&self, triangle: u32) -> Option<&Texture> {
        match self {
            Self::One(picture) => Some(picture),
            Self::Triangles {
                pictures,
                of_triangle,
            } => {
                let number = of_triangle.get(triangle as usize).copied().flatten()?;
                pictures.get(number as usize).map(|picture| &**picture)
            }
        }
    }
}

impl TexturedObject {
    /// The colour at a hit, given its position and normal in the object's frame; `None` where there is no
    /// image.
    pub fn colour(
        &self,
        hit: &Hit,
        place: &Point3<f64>,
        normal: &Vector3<f64>,
    ) -> Option<[f64; 3]> {
        let picture = self.pictures.of(hit.triangle)?;
        // Map the hit to the coordinates of the image.
        let coordinates = match &self.mapping {
            Mapping::Corners(corners) => {
                let [a, b, c] = corners[hit.triangle as usize];
                let [second, third] = hit.barycentric;
                [0, 1].map(|i| {
                    let [a, b, c] = [a, b, c].map(|corner| f64::from(corner[i]));
                    a + (b - a) * second + (c - a) * third
                })
            }
            Mapping::Box(size) => {
                let [across, up] = match normal.map(f64::abs).imax() {
                    0 => [place.y, place.z],
                    1 => [place.x, place.z],
                    _ => [place.x, place.y],
                };
                [across / size[0], -up / size[1]]
            }
        };
        Some(picture.colour(coordinates))
    }
}
