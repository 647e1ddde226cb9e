//! Bias drift of inertial sensors.

/// Model of bias drift; several add up. `u` is the unit of the measured quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BiasProcess {
    /// An unbounded random walk: $b_{k+1} = b_k + K\sqrt{dt}\\,\eta$ (rate random walk; Allan
    /// variance $K^2\tau/3$).
    RandomWalk {
        /// $K$, u √Hz, which is u/s/√Hz.
        density: f64,
    },
    /// A first-order Gauss-Markov process, which stays bounded: $b_{k+1} = \varphi b_k +
    /// \sigma\sqrt{1-\varphi^2}\\,\eta$ with $\varphi = e^{-dt/T}$; it starts in its stationary
    /// distribution.
    GaussMarkov {
        /// Standard deviation $\sigma$, u.
        sd: f64,
        /// Correlation time $T$, s.
        time: f64,
    },
    /// Flicker noise of spectral density $B^2/2\pi f$ between two time scales: the flat part of an
    /// Allan curve, of height $B\sqrt{2\ln 2/\pi} = 0.664\\,B$ (IEEE Std 952-1997, C.1.3). It is
    /// a sum of Gauss-Markov processes a factor of 4 apart in time, each of variance
    /// $B^2\ln 4/\pi$.
    Flicker {
        /// Bias instability $B$, u.
        instability: f64,
        /// Shortest time scale, s.
        shortest: f64,
        /// Longest time scale, s.
        longest: f64,
    },
}

/// Ratio of neighbouring time constants of the sum that approximates flicker noise.
const SPACING: f64 = 4.0;

impl BiasProcess {
    /// Random walk with a standard deviation of $b_0\sqrt{dt/\tau}$ per step, as parameterised by
    /// Elmquist et al. 2021 (eq. 5, doi:10.1115/1.4050080). They print the variance-like
    /// $b_0\\,dt/\tau$, which would depend on the step.
    pub fn walk(b0: f64, tau: f64) -> Self {
        Self::RandomWalk {
            density: b0 / tau.sqrt(),
        }
    }

    /// Allan variance at the averaging time `tau` (s), u².
    ///
    /// Of a Gauss-Markov process $\frac{2\sigma^2T}{\tau}\left[1-\frac{T}{2\tau}
    /// (3-4e^{-\tau/T}+e^{-2\tau/T})\right]$ (IEEE Std 952-1997, eq. C.14, with
    /// $q^2 T = 2\sigma^2$).
    pub fn allan_variance(&self, tau: f64) -> f64 {
        match *self {
            Self::RandomWalk { density } => density * density * tau / 3.0,
            Self::GaussMarkov { sd, time } => gauss_markov_variance(sd, time, tau),
            Self::Flicker { .. } => self
                .parts()
                .map(|part| gauss_markov_variance(part.sd, part.time, tau))
                .sum(),
        }
    }

    /// First-order processes whose sum is this process.
    fn parts(self) -> impl Iterator<Item = FirstOrderProcess> {
        // Standard deviation and time of the first process, ratio of successive times, number of processes.
        let (first, ratio, count) = match self {
            Self::RandomWalk { density } => (
                FirstOrderProcess {
                    sd: density,
                    time: f64::INFINITY,
                },
                1.0,
                1,
            ),
            Self::GaussMarkov { sd, time } => (FirstOrderProcess { sd, time }, 1.0, 1),
            Self::Flicker {
                instability,
                shortest,
                longest,
            } => {
                let sd = instability * (SPACING.ln() / std::f64::consts::PI).sqrt();
                let octaves = (longest / shortest).ln() / SPACING.ln();
                let time = shortest;
                (FirstOrderProcess { sd, time }, SPACING, whole(octaves) + 1)
            }
        };
        // The other processes differ in their times.
        (0..count).map(move |i| FirstOrderProcess {
            time: first.time * ratio.powi(i),
            ..first
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a handful of processes, and saturating"
)]
fn whole(number: f64) -> i32 {
    number.round().clamp(0.0, 60.0) as i32
}

/// Series where the closed form loses all its digits.
fn gauss_markov_variance(sd: f64, time: f64, tau: f64) -> f64 {
    let x = tau / time;
    let shape = if x < 1e-3 {
        x / 3.0 - x * x / 4.0
    } else {
        (1.0 - (3.0 - 4.0 * (-x).exp() + (-2.0 * x).exp()) / (2.0 * x)) / x
    };
    2.0 * sd * sd * shape
}

/// A first-order process; a random walk if its time constant is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FirstOrderProcess {
    sd: f64,
    time: f64,
}

/// A bias that drifts over time.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasRun {
    parts: Vec<(FirstOrderProcess, f64)>,
}

impl BiasRun {
    /// Bias at switch-on.
    pub fn new(processes: &[BiasProcess], normals: &mut impl Iterator<Item = f64>) -> Self {
        let parts = processes.iter().flat_map(|process| process.parts());
        let mut start = |part: FirstOrderProcess| {
            if part.time.is_finite() {
                part.sd * normals.next().unwrap_or_default()
            } else {
                0.0
            }
        };
        Self {
            parts: parts.map(|part| (part, start(part))).collect(),
        }
    }

    /// Current bias, u.
    pub fn value(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }

    /// Advances the bias by `dt` seconds.
    pub fn step(&mut self, dt: f64, normals: &mut impl Iterator<Item = f64>) {
        for (part, value) in &mut self.parts {
            let normal = normals.next().unwrap_or_default();
            if part.time.is_finite() {
                let keep = (-dt / part.time).exp();
                *value = keep * *value + part.sd * (1.0 - keep * keep).sqrt() * normal;
            } else {
                *value += part.sd * dt.sqrt() * normal;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.6165 sigma at 1.89 T: the known maximum (IEEE Std 952-1997: 0.437 q sqrt(T) at 1.89 T).
    #[test]
    fn the_allan_deviation_of_gauss_markov_noise_peaks_as_in_the_standard() {
        let process = BiasProcess::GaussMarkov {
            sd: 1.0,
            time: 10.0,
        };
        let top = (1..2000)
            .map(|i| f64::from(i) * 0.05)
            .max_by(|a, b| {
                let [a, b] = [a, b].map(|tau| process.allan_variance(*tau));
                a.total_cmp(&b)
            })
            .expect("some");
        let height = process.allan_variance(top).sqrt();
        assert!((top / 10.0 - 1.89).abs() < 0.01, "{top}");
        assert!((height - 0.618).abs() < 0.001, "{height}");
    }

    /// Measured: 0.655 to 0.670 in the middle decade.
    #[test]
    fn flicker_noise_has_a_flat_allan_curve_of_0_664_b() {
        let flicker = BiasProcess::Flicker {
            instability: 1.0,
            shortest: 0.1,
            longest: 10_000.0,
        };
        for i in 0..20 {
            let tau = 10.0 * 1.12_f64.powi(i);
            let deviation = flicker.allan_variance(tau).sqrt();
            assert!((deviation - 0.664).abs() < 0.015, "{tau}: {deviation}");
        }
    }

    #[test]
    fn the_series_equals_the_closed_form() {
        for tau in [0.999e-3, 1.001e-3] {
            let value = gauss_markov_variance(1.0, 1.0, tau);
            assert!((value / (2.0 * tau / 3.0) - 1.0).abs() < 1e-3, "{value}");
        }
    }

    /// Half the number of steps of twice the length gives the same spread.
    #[test]
    fn a_random_walk_does_not_depend_on_its_step() {
        let walk = BiasProcess::walk(2.0, 4.0);
        assert_eq!(walk, BiasProcess::RandomWalk { density: 1.0 });
        let spread = |dt: f64, steps: u32| {
            let mut stream = crate::Stream::new(3, 0, 0, 0, crate::Purpose::Gyroscope);
            let mut normals = stream.normals();
            let ends = (0..4000).map(|_| {
                let mut run = BiasRun::new(&[walk], &mut normals);
                (0..steps).for_each(|_| run.step(dt, &mut normals));
                run.value().powi(2)
            });
            (ends.sum::<f64>() / 4000.0).sqrt()
        };
        // Both 2.0 (sd K sqrt(t)); the sample's own error is 1.1 %.
        let [fine, coarse] = [spread(0.1, 40), spread(0.2, 20)];
        assert!((fine - 2.0).abs() < 0.07, "{fine}");
        assert!((coarse - 2.0).abs() < 0.07, "{coarse}");
    }
}
