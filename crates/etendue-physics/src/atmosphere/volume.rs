//! Volume backscatter of the air.

use super::Coefficients;
use crate::Scalar;
use crate::pulse::PulseReturn;

/// Overlap of the receiver's field of view with the beam: the fraction of the light from each range
/// that lands on the detector.
///
/// The receiver is focused far away: a point at the range $r$ is imaged as a disc of $Df/r$ behind
/// a lens of diameter $D$ and focal length $f$. A detector of the width $f\theta$ receives the
/// fraction $o(r) = \min(1, (r/r_1)^2)$ with $r_1 = D/\theta$ (the blur of Wang, Kostamovaara 1994,
/// doi:10.1364/AO.33.004069, in geometric optics). Below its smallest reported range the receiver
/// is blind.
///
/// Without the overlap the backscatter of the nearest air would be unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Range up to which no light is detected, m.
    pub none_until: f64,
    /// Smallest range with full overlap ($r_1$), m.
    pub full_from: f64,
}

impl Overlap {
    /// Fraction of the light from `range` (m) that is detected.
    ///
    /// ```
    /// use etendue_physics::atmosphere::Overlap;
    /// let overlap = Overlap { none_until: 0.5, full_from: 4.0 };
    /// assert_eq!([0.4, 2.0, 5.0].map(|range| overlap.share(range)), [0.0, 0.25, 1.0]);
    /// ```
    pub fn share(&self, range: f64) -> f64 {
        if range < self.none_until {
            0.0
        } else if range < self.full_from {
            (range / self.full_from).powi(2)
        } else {
            1.0
        }
    }
}

/// Returns of the air up to `far` (m), one for each `step` (m, shorter than the pulse): $L_i =
/// \beta\\, o(r_i)\\, e^{-2\alpha r_i} / r_i^2\\, \Delta r$.
///
/// ```
/// use etendue_physics::atmosphere::{Coefficients, Overlap, volume_returns};
/// let air = Coefficients::from_lidar_ratio(0.02, 20.0);
/// let overlap = Overlap { none_until: 0.5, full_from: 2.0 };
/// let returns = volume_returns(&air, &overlap, 100.0, 0.1);
/// let strongest = returns.iter().max_by(|a, b| a.power.total_cmp(&b.power)).unwrap();
/// assert!((0.5..2.0).contains(&strongest.range)); // the echo of the fog is near the sensor
/// ```
pub fn volume_returns<S: Scalar>(
    air: &Coefficients<S>,
    overlap: &Overlap,
    far: f64,
    step: f64,
) -> Vec<PulseReturn<S>> {
    if air.backscatter.value() <= 0.0 {
        return Vec::new();
    }
    let at = |i: u32| overlap.none_until + (f64::from(i) + 0.5) * step;
    let cells = ((far - overlap.none_until) / step).max(0.0).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number, not negative, and saturating"
    )]
    let cells = cells as u32;
    (0..cells)
        .map(|i| volume_return(air, overlap, S::from(at(i)), S::from(step)))
        .collect()
}

/// Return of a cell of air with the given length (m) around a range (m).
fn volume_return<S: Scalar>(
    air: &Coefficients<S>,
    overlap: &Overlap,
    range: S,
    length: S,
) -> PulseReturn<S> {
    let share = overlap.share(range.value());
    PulseReturn {
        range,
        power: air.backscatter * share * air.two_way_transmission(range) * length / (range * range),
    }
}

/// Return of the part before a surface at `far` (m) of the cell that the surface intersects.
/// `whole` cells of the length `step` (m) precede it, as in [`volume_returns`].
///
/// ```
/// use etendue_physics::atmosphere::{Coefficients, Overlap, cut_volume_return, volume_returns};
/// let air = Coefficients::from_lidar_ratio(0.02, 20.0);
/// let overlap = Overlap { none_until: 0.5, full_from: 2.0 };
/// let whole = volume_returns(&air, &overlap, 100.0, 0.1);
/// // The cell from 20.5 to 20.6 m.
/// let cut = cut_volume_return(&air, &overlap, 200, 0.1, 20.525);
/// assert!((cut.power / whole[200].power - 0.25).abs() < 2e-3);
/// ```
pub fn cut_volume_return<S: Scalar>(
    air: &Coefficients<S>,
    overlap: &Overlap,
    whole: usize,
    step: f64,
    far: S,
) -> PulseReturn<S> {
    let from = overlap.none_until + whole as f64 * step;
    let length = (far - from).max(S::zero()).min(S::from(step));
    volume_return(air, overlap, length * 0.5 + from, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without extinction $\int_2^{50}\beta/r^2\,dr = \beta(1/2 - 1/50)$; the midpoint rule
    /// at 0.05 m is within 1e-3.
    #[test]
    fn the_returns_add_up_to_the_integral() {
        let air = Coefficients {
            extinction: 0.0,
            backscatter: 1e-3,
        };
        let overlap = Overlap {
            none_until: 2.0,
            full_from: 2.0,
        };
        let sum: f64 = volume_returns(&air, &overlap, 50.0, 0.05)
            .iter()
            .map(|r| r.power)
            .sum();
        assert!((sum / (1e-3 * (0.5 - 0.02)) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn vacuum_returns_nothing() {
        let overlap = Overlap {
            none_until: 0.0,
            full_from: 1.0,
        };
        assert!(volume_returns(&Coefficients::<f64>::vacuum(), &overlap, 50.0, 0.1).is_empty());
    }
}
