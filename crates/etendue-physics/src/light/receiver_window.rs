//! Field of view and filter through which a receiver admits ambient light.

use crate::surface::background_power;
use std::f64::consts::TAU;

/// Field of view and optical filter of a receiver, with the emitted power to which ambient light is
/// compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverWindow {
    /// Mean optical power that the sensor emits, W.
    pub emitted_power: f64,
    /// Full angle of the conical field of view of the detector, rad.
    pub field_of_view: f64,
    /// Width of the optical filter's pass band, m of wavelength.
    pub bandwidth: f64,
}

impl ReceiverWindow {
    /// Solid angle of the field of view, sr: $2\pi(1-\cos(\phi/2))$.
    pub fn solid_angle(&self) -> f64 {
        // 1 - cos x = 2 sin² (x/2) keeps its digits where x is small.
        2.0 * TAU * (self.field_of_view / 4.0).sin().powi(2)
    }

    /// Ambient light of a mean spectral radiance $L$ (W m⁻² sr⁻¹ m⁻¹) in units of received power,
    /// 1/(m² sr): $L\\,\Omega\\,\Delta\lambda / P_t$. Aperture and efficiency are factors of both signal
    /// and background, and cancel.
    ///
    /// ```
    /// use etendue_physics::light::ReceiverWindow;
    /// let window = ReceiverWindow { emitted_power: 1e-3, field_of_view: 0.02, bandwidth: 50e-9 };
    /// // A white wall in full sun: 0.25 W/m²/sr/nm; its return at 1 m has a received power of 0.27.
    /// let background = window.background(0.25e9);
    /// assert!((background - 3.93).abs() < 0.01);
    /// ```
    pub fn background(&self, radiance: f64) -> f64 {
        background_power(radiance, 1.0, self.solid_angle(), self.bandwidth, 1.0)
            / self.emitted_power
    }
}
