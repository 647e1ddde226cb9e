//! Phasors: amplitude and phase of a wave.

use crate::Scalar;
use crate::series::atan2;

/// Amplitude and phase of a sine wave $A\sin(\omega t-\varphi)$ as the complex number $Ae^{i\varphi}$.
///
/// ```
/// use etendue_physics::phase::Phasor;
/// let mut wave = Phasor::zero();
/// wave.add(1.0, 0.2);
/// wave.add(1.0, 0.6);
/// assert!((wave.phase() - 0.4_f64).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phasor<S> {
    /// $A\cos\varphi$.
    pub re: S,
    /// $A\sin\varphi$.
    pub im: S,
}

impl<S: Scalar> Phasor<S> {
    /// No wave.
    pub fn zero() -> Self {
        Self {
            re: S::zero(),
            im: S::zero(),
        }
    }

    /// Adds the wave $L\sin(\omega t-\varphi)$.
    pub fn add(&mut self, power: S, phase: S) {
        let (sin, cos) = phase.sin_cos();
        self.re += power * cos;
        self.im += power * sin;
    }

    /// Adds a wave that is `power` times `unit`.
    pub(super) fn add_scaled(&mut self, power: S, unit: &Self) {
        self.re += power * unit.re;
        self.im += power * unit.im;
    }

    /// The amplitude $A$.
    ///
    /// Its derivative does not exist where the amplitude is zero.
    #[inline]
    pub fn amplitude(&self) -> S {
        (self.re * self.re + self.im * self.im).sqrt()
    }

    /// The phase $\varphi$ in [-pi, pi], rad, with $\mathrm{d}\varphi = (A\cos\varphi\,\mathrm{d}(A\sin\varphi) -
    /// A\sin\varphi\,\mathrm{d}(A\cos\varphi))/A^2$. Undefined (zero) where the amplitude is zero.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn phase(&self) -> S {
        let Phasor { re, im } = self.value();
        S::with_derivatives_of(atan2(im, re), || {
            (self.im * re - self.re * im) / (re * re + im * im)
        })
    }

    /// The wave delayed by a phase `angle`, rad.
    #[must_use]
    pub fn delayed(&self, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self {
            re: self.re * cos - self.im * sin,
            im: self.re * sin + self.im * cos,
        }
    }

    /// The value without derivatives.
    #[inline]
    pub fn value(&self) -> Phasor<f64> {
        Phasor {
            re: self.re.value(),
            im: self.im.value(),
        }
    }

    /// This wave with its value replaced by `measured`: the disturbance is constant under
    /// differentiation.
    #[must_use]
    #[inline]
    pub fn moved_to(&self, measured: &Phasor<f64>) -> Self {
        Self {
            re: self.re + (measured.re - self.re.value()),
            im: self.im + (measured.im - self.im.value()),
        }
    }
}

impl Phasor<f64> {
    /// The complex power, by repeated squaring; `exponent` 1 or more.
    #[inline]
    pub(super) fn power(self, exponent: u32) -> Self {
        let mut power = self;
        for bit in (0..exponent.ilog2()).rev() {
            power = power.times(&power);
            if exponent & (1 << bit) != 0 {
                power = power.times(&self);
            }
        }
        power
    }

    #[inline]
    fn times(&self, other: &Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_multiply_the_phase() {
        for exponent in 1..40 {
            let (im, re) = 0.3_f64.sin_cos();
            let power = Phasor { re, im }.power(exponent);
            let (sin, cos) = (0.3 * f64::from(exponent)).sin_cos();
            // Measured 5e-15 at most.
            assert!((power.re - cos).hypot(power.im - sin) < 2e-14, "{exponent}");
        }
    }
}
