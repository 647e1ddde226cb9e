//! Pictures on surfaces.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of texels are not negative and fit"
)]

use etendue_raycast::{Hit, ObjectId};
use nalgebra::{Point3, Vector3};
use std::sync::Arc;
use thiserror::Error;

/// A picture of linear colours (red, green, blue) in [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    width: u32,
    texels: Vec<[f32; 3]>,
}

/// The texels make no picture.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{texels} texels are no picture of width {width}")]
pub struct TextureError {
    /// How many there are.
    pub texels: usize,
    /// The width.
    pub width: u32,
}

/// How a picture lies on an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Mapping {
    /// Coordinates of each triangle's corners: (0, 0) is the picture's upper left corner, (1, 1)
    /// the lower right; it repeats.
    Corners(Arc<Vec<[[f32; 2]; 3]>>),
    /// Projected onto each face along the axis of the object's frame that its normal is nearest
    /// to; one picture covers this length and height, m.
    Box([f64; 2]),
}

/// Which picture is where on an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Pictures {
    /// The same everywhere.
    One(Arc<Texture>),
    /// Each triangle's own, where it has one.
    Triangles {
        /// The pictures.
        pictures: Vec<Arc<Texture>>,
        /// The number of each triangle's picture.
        of_triangle: Vec<Option<u32>>,
    },
}

/// Pictures on an object; the diffuse reflectance is multiplied by their colour.
#[derive(Clone, Debug, PartialEq)]
pub struct TexturedObject {
    /// The pictures.
    pub pictures: Pictures,
    /// How they lie.
    pub mapping: Mapping,
}

/// The pictures on a scene's objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Textures {
    of_object: Vec<Option<TexturedObject>>,
}

impl Texture {
    /// A picture, row by row from above.
    ///
    /// # Errors
    /// Where the number of texels is no multiple of the width.
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

    /// The colour at coordinates, bilinear between the texels' middles.
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
        let [a, b] = [texel(x[0], y[0]), texel(x[1], y[0])];
        let [c, d] = [texel(x[0], y[1]), texel(x[1], y[1])];
        [0, 1, 2].map(|i| {
            let [a, b, c, d] = [a, b, c, d].map(|texel| f64::from(texel[i]));
            let (above, below) = (a + (b - a) * right, c + (d - c) * right);
            above + (below - above) * low
        })
    }
}

/// The two texels about a coordinate of a repeating picture, and how near to the second.
fn split(coordinate: f64, count: usize) -> ([usize; 2], f64) {
    let place = coordinate.rem_euclid(1.0) * count as f64 - 0.5;
    let first = place.floor();
    let index = |i: f64| i.rem_euclid(count as f64) as usize % count;
    ([index(first), index(first + 1.0)], place - first)
}

impl Textures {
    /// Puts a picture on an object.
    pub fn put(&mut self, object: ObjectId, textured: TexturedObject) {
        let number = object.0 as usize;
        if self.of_object.len() <= number {
            self.of_object.resize(number + 1, None);
        }
        self.of_object[number] = Some(textured);
    }

    /// Whether there is no picture.
    pub fn is_empty(&self) -> bool {
        self.of_object.is_empty()
    }

    /// The picture on an object.
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
    /// The colour where a hit is, given its place and normal in the object's frame; `None` where
    /// there is no picture.
    pub fn colour(
        &self,
        hit: &Hit,
        place: &Point3<f64>,
        normal: &Vector3<f64>,
    ) -> Option<[f64; 3]> {
        let picture = self.pictures.of(hit.triangle)?;
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
