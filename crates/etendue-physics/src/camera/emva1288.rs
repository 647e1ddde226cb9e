//! A detector by the numbers of its data sheet.

use crate::Stream;
use crate::pulse::poisson;

/// The linear camera model of EMVA 1288 (release 4.0, European Machine Vision Association 2021,
/// section 2): of $\mu_p$ photons, $\mu_e = \eta\mu_p$ electrons are set free, to which dark
/// current adds $\mu_I t$; a pixel reads
/// $$\mu_y = K(\eta\mu_p + \mu_I t) + b,\qquad
///   \sigma_y^2 = K^2(\sigma_d^2 + \mu_I t) + \sigma_q^2 + K(\mu_y - \mu_{y.dark})$$
/// with $\sigma_q^2 = 1/12$: photon noise makes the variance a line in the signal, of slope $K$.
///
/// Left out: the non-linearity near saturation, blooming, lag between frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emva1288 {
    /// System gain $K$, digital numbers per electron.
    pub gain: f64,
    /// Standard deviation $\sigma_d$ of the dark noise without exposure, electrons.
    pub dark_noise: f64,
    /// Dark current $\mu_I$, electrons per second.
    pub dark_current: f64,
    /// Most electrons that a pixel holds.
    pub full_well: f64,
    /// Reading in the dark $b$, digital numbers.
    pub black_level: f64,
    /// Bits of the converter.
    pub bits: u32,
    /// Photo-response non-uniformity: relative standard deviation of the sensitivity over pixels.
    pub prnu: f64,
    /// Dark-signal non-uniformity: standard deviation of the dark signal over pixels, electrons.
    pub dsnu: f64,
}

/// How one pixel differs from the mean, the same in every frame: draws of the standard normal
/// distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FixedPattern {
    /// Of the sensitivity.
    pub response: f64,
    /// Of the dark signal.
    pub dark: f64,
}

impl Emva1288 {
    /// The highest number that the converter gives.
    pub fn white_level(&self) -> f64 {
        2_f64.powi(i32::try_from(self.bits).unwrap_or(i32::MAX)) - 1.0
    }

    /// Mean reading $\mu_y$ of `electrons` set free by light in `exposure` seconds, without
    /// saturation.
    pub fn mean(&self, electrons: f64, exposure: f64) -> f64 {
        self.gain * (electrons + self.dark_current * exposure) + self.black_level
    }

    /// Variance $\sigma_y^2$ of a pixel over frames, without saturation.
    pub fn variance(&self, electrons: f64, exposure: f64) -> f64 {
        let dark = self.dark_noise * self.dark_noise + self.dark_current * exposure;
        self.gain * self.gain * (dark + electrons) + 1.0 / 12.0
    }

    /// The digital number that one pixel reads.
    pub fn read(
        &self,
        electrons: f64,
        exposure: f64,
        pixel: &FixedPattern,
        stream: &mut Stream,
    ) -> f64 {
        let sensitive = electrons * (1.0 + self.prnu * pixel.response).max(0.0);
        let collected = poisson(sensitive + self.dark_current * exposure, stream);
        let held = collected.min(self.full_well) + self.dsnu * pixel.dark;
        let read = held + self.dark_noise * stream.normal();
        (self.gain * read + self.black_level)
            .round()
            .clamp(0.0, self.white_level())
    }

    /// Electrons from light at which the converter or the well is full.
    pub fn saturation(&self) -> f64 {
        let converter = (self.white_level() - self.black_level) / self.gain;
        converter.min(self.full_well)
    }
}
