//! What a device's intensity is.

/// What the intensity of returned beams is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum IntensityKind {
    /// The device gives none.
    #[default]
    None,
    /// The same for every beam that returned: no signal of reflectance at all.
    Constant(f64),
    /// One of two values: the profile's intensity is the probability of the higher.
    TwoValued {
        /// The lower value.
        low: f64,
        /// The higher value.
        high: f64,
    },
    /// Many values: mean and standard deviation over incidence.
    Continuous,
}
