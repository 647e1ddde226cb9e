//! Returns of light at a pulsed receiver.

use crate::Scalar;

/// One return of light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PulseReturn<S = f64> {
    /// Half the optical path, m.
    pub range: S,
    /// Power at the peak of the pulse, in the unit of the whole receiver.
    pub power: S,
}

/// Element with a range and a power that can be grouped with others by range.
pub trait RangedPower: Copy {
    /// Scalar type of range and power.
    type Scalar: Scalar;
    /// Range, m.
    fn range(&self) -> Self::Scalar;
    /// Power.
    fn power(&self) -> Self::Scalar;
}

impl<S: Scalar> RangedPower for PulseReturn<S> {
    type Scalar = S;

    #[inline]
    fn range(&self) -> S {
        self.range
    }

    #[inline]
    fn power(&self) -> S {
        self.power
    }
}
