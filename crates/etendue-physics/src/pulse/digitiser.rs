//! Analogue-to-digital conversion.

use super::Waveform;

/// Analogue-to-digital converter with a number of bits and a full scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digitiser {
    /// Time between samples, s.
    pub interval: f64,
    /// Number of bits, 1 to 24; `None` leaves the samples unchanged.
    pub bits: Option<u8>,
    /// Power of the highest code.
    pub full_scale: f64,
}

impl Digitiser {
    /// Rounds every sample to a code between zero and the full scale; values outside are clipped.
    ///
    /// ```
    /// use etendue_physics::pulse::{Digitiser, Waveform};
    /// let mut waveform = Waveform { start: 0.0, interval: 1e-9, samples: vec![-0.1, 0.34, 7.0] };
    /// Digitiser { interval: 1e-9, bits: Some(2), full_scale: 1.0 }.quantise(&mut waveform);
    /// assert_eq!(waveform.samples, [0.0, 1.0 / 3.0, 1.0]);
    /// ```
    pub fn quantise(&self, waveform: &mut Waveform) {
        let Some(bits) = self.bits else { return };
        let top = f64::from((1_u32 << bits.clamp(1, 24)) - 1);
        for sample in &mut waveform.samples {
            let code = (*sample / self.full_scale * top).round().clamp(0.0, top);
            *sample = code / top * self.full_scale;
        }
    }
}
