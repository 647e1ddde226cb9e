//! Conversion of scene radiance to photons per pixel.

use crate::SPEED_OF_LIGHT;
use std::f64::consts::PI;

/// Planck's constant, J s (exact, SI 2019).
const PLANCK: f64 = 6.626_070_15e-34;

/// Photon energy at a wavelength (m), J: $hc/\lambda$.
pub fn photon_energy(wavelength: f64) -> f64 {
    PLANCK * SPEED_OF_LIGHT / wavelength
}

/// Lens aperture, lens transmission and pixel size, which determine the light per pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aperture {
    /// Focal length over the diameter of the entrance pupil.
    pub f_number: f64,
    /// Transmission of the lens, in [0, 1].
    pub transmission: f64,
    /// Width and height of a pixel, m.
    pub pixel_pitch: [f64; 2],
}

impl Aperture {
    /// Irradiance on the detector over the radiance of the scene on the axis, sr: $E/L =
    /// \tau\frac{\pi}{4N^2}$ with the transmission $\tau$ and the f-number $N$ (camera equation for distant
    /// objects and small apertures).
    pub fn etendue_factor(&self) -> f64 {
        self.transmission * PI / (4.0 * self.f_number * self.f_number)
    }

    /// Number of photons on one pixel on the axis in `exposure` seconds from a scene of `radiance`
    /// (W m⁻² sr⁻¹ within the band) at `wavelength` (m): $n = L\\,\tau\frac{\pi}{4N^2}
    /// A\\,t\frac{\lambda}{hc}$ with the radiance $L$, the pixel's area $A$, the exposure time $t$ and the
    /// wavelength $\lambda$ (EMVA 1288 release 4.0, eq. 1, for the conversion to photons).
    ///
    /// ```
    /// use etendue_physics::camera::Aperture;
    /// let lens = Aperture { f_number: 2.0, transmission: 1.0, pixel_pitch: [5e-6, 5e-6] };
    /// // 1 W/(m² sr) of green light for 10 ms: about 134,000 photons.
    /// let photons = lens.photons(1.0, 0.01, 540e-9);
    /// assert!((photons / 133_440.0 - 1.0).abs() < 1e-3);
    /// ```
    pub fn photons(&self, radiance: f64, exposure: f64, wavelength: f64) -> f64 {
        let area = self.pixel_pitch[0] * self.pixel_pitch[1];
        radiance * self.etendue_factor() * area * exposure / photon_energy(wavelength)
    }
}
