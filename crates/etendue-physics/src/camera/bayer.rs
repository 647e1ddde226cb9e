//! Bayer patterns and demosaicing.

/// Bayer colour filter pattern, named by the first two pixels of the first two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BayerPattern {
    /// Red green / green blue.
    Rggb,
    /// Blue green / green red.
    Bggr,
    /// Green red / blue green.
    Grbg,
    /// Green blue / red green.
    Gbrg,
}

impl BayerPattern {
    /// Channel of a pixel: red (0), green (1) or blue (2).
    ///
    /// ```
    /// use etendue_physics::camera::BayerPattern;
    /// assert_eq!(BayerPattern::Rggb.channel(0, 0), 0);
    /// assert_eq!(BayerPattern::Rggb.channel(3, 0), 1);
    /// assert_eq!(BayerPattern::Rggb.channel(3, 1), 2);
    /// ```
    pub fn channel(self, column: u32, row: u32) -> usize {
        let cells = match self {
            Self::Rggb => [0, 1, 1, 2],
            Self::Bggr => [2, 1, 1, 0],
            Self::Grbg => [1, 0, 2, 1],
            Self::Gbrg => [1, 2, 0, 1],
        };
        cells[(row % 2 * 2 + column % 2) as usize]
    }

    /// Prefix of the ROS image encoding, without the number of bits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rggb => "rggb",
            Self::Bggr => "bggr",
            Self::Grbg => "grbg",
            Self::Gbrg => "gbrg",
        }
    }

    /// Demosaics an image of the given width: missing colours of a pixel are the mean of its
    /// nearest neighbours with that colour (bilinear, exact for a field that is linear along both
    /// axes, away from the border).
    pub fn demosaic(self, mosaic: &[f64], width: u32) -> Vec<[f64; 3]> {
        let height = u32::try_from(mosaic.len()).unwrap_or(u32::MAX) / width.max(1);
        let pixels = (0..height).flat_map(|row| (0..width).map(move |column| [column, row]));
        pixels
            .map(|at| self.colours(mosaic, [width, height], at))
            .collect()
    }

    /// The colour of one pixel: for each channel, its own value or the mean of the adjacent pixels of that
    /// channel.
    fn colours(
        self,
        mosaic: &[f64],
        [width, height]: [u32; 2],
        [column, row]: [u32; 2],
    ) -> [f64; 3] {
        let mut sums = [0.0; 3];
        let mut counts = [0.0; 3];
        let own_channel = self.channel(column, row);
        for near_row in row.saturating_sub(1)..(row + 2).min(height) {
            for near in column.saturating_sub(1)..(column + 2).min(width) {
                let channel = self.channel(near, near_row);
                let is_own = near == column && near_row == row;
                // Use the pixel itself for its own channel, also for green, which has green diagonal neighbours.
                if channel != own_channel || is_own {
                    sums[channel] += mosaic[(near_row * width + near) as usize];
                    counts[channel] += 1.0;
                }
            }
        }
        [0, 1, 2].map(|c| {
            if counts[c] > 0.0 {
                sums[c] / counts[c]
            } else {
                0.0
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_image_is_demosaiced_exactly() {
        let [width, height] = [8_u32, 6];
        let truth = |column: u32, row: u32, channel: usize| {
            0.1 + 0.02 * f64::from(column) - 0.01 * f64::from(row) + 0.3 * channel as f64
        };
        for pattern in [
            BayerPattern::Rggb,
            BayerPattern::Bggr,
            BayerPattern::Grbg,
            BayerPattern::Gbrg,
        ] {
            let mosaic: Vec<f64> = (0..width * height)
                .map(|i| truth(i % width, i / width, pattern.channel(i % width, i / width)))
                .collect();
            let image = pattern.demosaic(&mosaic, width);
            for row in 1..height - 1 {
                for column in 1..width - 1 {
                    let pixel = image[(row * width + column) as usize];
                    for (channel, found) in pixel.into_iter().enumerate() {
                        assert!((found - truth(column, row, channel)).abs() < 1e-14);
                    }
                }
            }
        }
    }
}
