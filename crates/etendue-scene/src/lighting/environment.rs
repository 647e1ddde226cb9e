//! Light of directions without a surface.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of texels are not negative and fit"
)]

use etendue_physics::Spectrum;
use etendue_physics::light::SkyDome;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use thiserror::Error;

/// Light from infinite distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Environment {
    /// No light.
    #[default]
    Dark,
    /// The same radiance from all directions, W m⁻² sr⁻¹ per m of wavelength.
    Uniform(Spectrum),
    /// A sky above, and ground below the horizon.
    Sky(SkyLight),
    /// An image of all directions.
    Map(Arc<EnvironmentMap>),
}

/// A sky above, and diffuse ground below the horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct SkyLight {
    /// Radiance of the sky by direction.
    pub dome: SkyDome,
    /// Irradiance of the whole sky on level ground, W m⁻² per m of wavelength.
    pub irradiance: Spectrum,
    /// Radiance from below the horizon, W m⁻² sr⁻¹ per m of wavelength.
    pub ground: Spectrum,
}

/// An equirectangular image of all directions: rows from the zenith down, columns clockwise (seen from
/// above) from straight behind, with x forward in the middle.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentMap {
    width: u32,
    texels: Vec<[f32; 3]>,
    /// Radiance of a texel of value 1, W m⁻² sr⁻¹ per m of wavelength.
    scale: f64,
    /// Azimuth of the middle of the image, anticlockwise, rad.
    yaw: f64,
    /// Cumulative brightness of the rows, and of the texels of each row.
    rows: Vec<f64>,
    columns: Vec<f64>,
}

/// An error in an environment map.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MapError {
    /// The number of texels is not a multiple of the width.
    #[error("{texels} texels are no picture of width {width}")]
    Size {
        /// Number of texels.
        texels: usize,
        /// Width, texels.
        width: u32,
    },
    /// A texel is negative or not finite.
    #[error("texel ({column}, {row}) is {value}: radiance is finite and not negative")]
    Value {
        /// Column of the texel.
        column: usize,
        /// Row of the texel.
        row: usize,
        /// Value of the texel.
        value: f32,
    },
}

impl EnvironmentMap {
    /// A map of linear colours (red, green, blue), row by row; `scale` is the radiance of a texel
    /// of value 1, `yaw` rotates the map anticlockwise.
    ///
    /// # Errors
    /// Where the number of texels does not fit the width, or one is negative or not finite.
    pub fn new(width: u32, texels: Vec<[f32; 3]>, scale: f64, yaw: f64) -> Result<Self, MapError> {
        // Check the size.
        let columns = width as usize;
        if columns == 0 || texels.is_empty() || !texels.len().is_multiple_of(columns) {
            return Err(MapError::Size {
                texels: texels.len(),
                width,
            });
        }
        // Check the texels.
        let bad = |value: &f32| !(value.is_finite() && *value >= 0.0);
        for (index, texel) in texels.iter().enumerate() {
            if let Some(&value) = texel.iter().find(|value| bad(value)) {
                let column = index % columns;
                let row = index / columns;
                return Err(MapError::Value { column, row, value });
            }
        }
        // Tabulate the distribution of power for sampling.
        let mut map = Self {
            width,
            texels,
            scale,
            yaw,
            rows: vec![],
            columns: vec![],
        };
        map.sum();
        Ok(map)
    }

    fn height(&self) -> u32 {
        u32::try_from(self.texels.len()).unwrap_or(u32::MAX) / self.width
    }

    fn sum(&mut self) {
        let height = self.height();
        let mut whole = 0.0;
        for row in 0..height {
            let sin = (PI * (f64::from(row) + 0.5) / f64::from(height)).sin();
            let mut in_row = 0.0;
            for texel in self.row(row) {
                // A small uniform part, so that every direction with light is drawn.
                in_row += f64::from(texel.iter().sum::<f32>()) + 1e-9;
                self.columns.push(in_row);
            }
            whole += in_row * sin;
            self.rows.push(whole);
        }
    }

    fn row(&self, row: u32) -> Vec<[f32; 3]> {
        let start = (row * self.width) as usize;
        self.texels[start..start + self.width as usize].to_vec()
    }

    /// Column and row (with fractions) of a unit direction.
    fn place(&self, direction: &Vector3<f64>) -> [f64; 2] {
        let azimuth = direction.y.atan2(direction.x) - self.yaw;
        let turn = (0.5 - azimuth / TAU).rem_euclid(1.0);
        let down = direction.z.clamp(-1.0, 1.0).acos() / PI;
        [
            turn * f64::from(self.width),
            down * f64::from(self.height()),
        ]
    }

    fn texel(&self, [column, row]: [f64; 2]) -> usize {
        let clip = |value: f64, count: u32| (value as u32).min(count - 1);
        (clip(row, self.height()) * self.width + clip(column, self.width)) as usize
    }

    /// Radiance (red, green, blue) from a unit direction, W m⁻² sr⁻¹ per m of wavelength.
    pub fn radiance(&self, direction: &Vector3<f64>) -> [f64; 3] {
        let texel = self.texels[self.texel(self.place(direction))];
        texel.map(|value| f64::from(value) * self.scale)
    }

    /// A unit direction drawn with a density proportional to brightness.
    pub fn sample(&self, [u, v]: [f64; 2]) -> Vector3<f64> {
        let (row, down) = draw(&self.rows, u);
        let width = self.width as usize;
        let (column, across) = draw(&self.columns[row * width..(row + 1) * width], v);
        let zenith = PI * (row as f64 + down) / f64::from(self.height());
        let azimuth = self.yaw + TAU * (0.5 - (column as f64 + across) / f64::from(self.width));
        let (sin, cos) = zenith.sin_cos();
        Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos)
    }

    /// Density of drawing a unit direction, 1/sr.
    pub fn pdf(&self, direction: &Vector3<f64>) -> f64 {
        let index = self.texel(self.place(direction));
        let width = self.width as usize;
        let row = index / width;
        let column = index % width;
        let step = |sums: &[f64], i: usize| {
            (sums[i] - if i > 0 { sums[i - 1] } else { 0.0 }) / sums[sums.len() - 1]
        };
        let in_row = &self.columns[row * width..(row + 1) * width];
        let chance = step(&self.rows, row) * step(in_row, column);
        let sin = (1.0 - direction.z * direction.z).max(0.0).sqrt().max(1e-9);
        chance * self.texels.len() as f64 / (2.0 * PI * PI * sin)
    }
}

/// The interval of cumulative sums that contains `u` in [0, 1), and the fraction within it.
fn draw(sums: &[f64], u: f64) -> (usize, f64) {
    let target = u * sums[sums.len() - 1];
    let piece = sums
        .partition_point(|sum| *sum <= target)
        .min(sums.len() - 1);
    let before = if piece > 0 { sums[piece - 1] } else { 0.0 };
    (
        piece,
        ((target - before) / (sums[piece] - before)).clamp(0.0, 1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> EnvironmentMap {
        let texels = (0..32 * 16).map(|i| [1.0 + (i % 7) as f32, 0.5, (i / 100) as f32]);
        EnvironmentMap::new(32, texels.collect(), 2.0, 0.3).expect("a picture")
    }

    #[test]
    fn directions_are_drawn_with_the_stated_density() {
        let map = map();
        let mut sum = 0.0;
        let steps = 200;
        for i in 0..steps {
            for j in 0..steps {
                let [u, v] = [i, j].map(|k| (f64::from(k) + 0.5) / f64::from(steps));
                sum += 1.0 / map.pdf(&map.sample([u, v])) / f64::from(steps * steps);
            }
        }
        // The whole sphere.
        assert!((sum - 4.0 * PI).abs() < 0.01, "{sum}");
    }

    #[test]
    fn a_texel_is_seen_in_its_direction() {
        let mut texels = vec![[0.0; 3]; 8 * 4];
        // Upper rows, left quarter of the map: left is anticlockwise of forward.
        texels[8 + 2] = [3.0, 2.0, 1.0];
        let map = EnvironmentMap::new(8, texels, 1.0, 0.0).expect("a picture");
        let azimuth = TAU * (0.5 - 2.5 / 8.0);
        let zenith = PI * 1.5 / 4.0;
        let direction = Vector3::new(
            zenith.sin() * azimuth.cos(),
            zenith.sin() * azimuth.sin(),
            zenith.cos(),
        );
        assert!(direction.y > 0.0 && direction.z > 0.0);
        assert_eq!(map.radiance(&direction), [3.0, 2.0, 1.0]);
        assert_eq!(map.radiance(&-direction), [0.0; 3]);
    }

    #[test]
    fn a_texel_that_is_no_radiance_is_refused() {
        let error = EnvironmentMap::new(2, vec![[0.0; 3], [0.0, -1.0, 0.0]], 1.0, 0.0);
        assert_eq!(
            error,
            Err(MapError::Value {
                column: 1,
                row: 0,
                value: -1.0
            })
        );
        assert!(EnvironmentMap::new(2, vec![[0.0; 3]; 3], 1.0, 0.0).is_err());
    }
}
