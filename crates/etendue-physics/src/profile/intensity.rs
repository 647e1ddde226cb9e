//! Kinds of reported intensity.

/// Kind of the intensity of returned beams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum IntensityKind {
    /// The device reports none.
    #[default]
    None,
    /// The same value for every beam that returned.
    Constant(f64),
    /// One of two values: the profile's intensity is the probability of the higher.
    TwoValued {
        /// The lower value.
        low: f64,
        /// The higher value.
        high: f64,
    },
    /// Continuous values: mean and standard deviation over incidence.
    Continuous,
}
