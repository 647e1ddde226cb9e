//! Axes of a plot.

/// Axis of a plot: label, limits and scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity with its unit, such as `range, m`.
    pub label: String,
    /// Smallest and largest value shown; `None` for limits from the series with a margin.
    pub limits: Option<[f64; 2]>,
    /// Linear or logarithmic.
    pub scale: AxisScale,
    /// Whether only whole numbers are labelled, as for indices.
    pub is_whole: bool,
}

/// Mapping from a value to its position along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AxisScale {
    /// Position proportional to the value.
    #[default]
    Linear,
    /// Position proportional to the decimal logarithm.
    Log10 {
        /// Smallest value, above zero; smaller values are drawn at it.
        floor: f64,
    },
}

impl Axis {
    /// Linear axis with limits from the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            limits: None,
            scale: AxisScale::Linear,
            is_whole: false,
        }
    }

    /// The same axis with labels at whole numbers only.
    #[must_use]
    pub fn whole(self) -> Self {
        Self {
            is_whole: true,
            ..self
        }
    }

    /// The same axis with fixed limits, in the units of the data.
    ///
    /// ```
    /// use etendue_plot::Axis;
    /// assert_eq!(Axis::new("x, m").with_limits([0.0, 2.0]).limits, Some([0.0, 2.0]));
    /// ```
    #[must_use]
    pub fn with_limits(self, limits: [f64; 2]) -> Self {
        Self {
            limits: Some(limits),
            ..self
        }
    }

    /// The same axis with a logarithmic scale; values below `floor` are drawn at `floor`.
    #[must_use]
    pub fn logarithmic(self, floor: f64) -> Self {
        Self {
            scale: AxisScale::Log10 { floor },
            ..self
        }
    }

    /// Label as printed, with the transform of the scale.
    pub(crate) fn printed_label(&self) -> String {
        match self.scale {
            AxisScale::Linear => self.label.clone(),
            AxisScale::Log10 { .. } => format!("log10 of {}", self.label),
        }
    }
}

impl AxisScale {
    /// Value whose position is proportional to it.
    pub(crate) fn transform(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log10 { floor } => value.max(floor).log10(),
        }
    }
}
