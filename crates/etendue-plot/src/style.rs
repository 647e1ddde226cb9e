//! Colours and strokes.

/// sRGB colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red, green and blue, 0 to 255.
    pub rgb: [u8; 3],
    /// Opacity: 0 is transparent, 1 is opaque.
    pub opacity: f32,
}

impl Color {
    /// Opaque colour from `0xRRGGBB`.
    ///
    /// ```
    /// use etendue_plot::Color;
    /// assert_eq!(Color::hex(0xE69F00).rgb, [230, 159, 0]);
    /// ```
    pub const fn hex(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    /// The same colour with another opacity, 0 to 1.
    #[must_use]
    pub const fn fade(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }
}

/// Style of a line: colour, width and dashes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour of the line.
    pub color: Color,
    /// Width of the line, page units.
    pub width: f64,
    /// Lengths of dash and gap, page units; `None` for a solid line.
    pub dash: Option<[f64; 2]>,
}

impl Stroke {
    /// Solid line.
    pub const fn new(color: Color, width: f64) -> Self {
        Self {
            color,
            width,
            dash: None,
        }
    }

    /// The same line with dashes, page units.
    #[must_use]
    pub const fn dashed(self, dash: f64, gap: f64) -> Self {
        Self {
            dash: Some([dash, gap]),
            ..self
        }
    }
}
