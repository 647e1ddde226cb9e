//! Air pressure and barometers.

use crate::inertial::{BiasProcess, BiasRun};
use crate::{Purpose, Stream};

/// The troposphere (below 11 km) of the ICAO Standard Atmosphere (Doc 7488, 1993), with a temperature lapse
/// rate of 6.5 K/km.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardAir {
    /// Pressure at sea level, Pa.
    pub pressure: f64,
    /// Temperature at sea level, K.
    pub temperature: f64,
}

/// Temperature lapse rate, K/m.
const LAPSE: f64 = 0.0065;
/// $g_0M/R$, K/m.
const WEIGHT: f64 = 9.80665 * 0.028_964_4 / 8.314_32;
/// Earth's radius of geopotential heights, m.
const EARTH: f64 = 6_356_766.0;

impl Default for StandardAir {
    fn default() -> Self {
        Self {
            pressure: 101_325.0,
            temperature: 288.15,
        }
    }
}

impl StandardAir {
    /// Pressure at a height above the sea (m), Pa: $p_0(1-LH/T_0)^{g_0M/RL}$ with the
    /// geopotential height $H = hE/(E+h)$.
    ///
    /// ```
    /// use etendue_physics::ambient::StandardAir;
    /// let air = StandardAir::default();
    /// assert!((air.pressure_at(1000.0) - 89_876.0).abs() < 2.0);
    /// assert!((air.height_of(air.pressure_at(1234.5)) - 1234.5).abs() < 1e-6);
    /// ```
    pub fn pressure_at(&self, height: f64) -> f64 {
        let geopotential = height * EARTH / (EARTH + height);
        let ratio = 1.0 - LAPSE * geopotential / self.temperature;
        self.pressure * ratio.max(0.0).powf(WEIGHT / LAPSE)
    }

    /// Height above the sea (m) at a pressure, Pa.
    pub fn height_of(&self, pressure: f64) -> f64 {
        let ratio = (pressure / self.pressure).powf(LAPSE / WEIGHT);
        let geopotential = (1.0 - ratio) * self.temperature / LAPSE;
        geopotential * EARTH / (EARTH - geopotential)
    }
}

/// A barometer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Barometer {
    /// Standard deviation of each sample, Pa.
    pub noise: f64,
    /// Standard deviation of the offset from one unit to the next, Pa.
    pub offset: f64,
    /// Standard deviation of the drift of weather and sensor, Pa.
    pub drift: f64,
    /// Its correlation time, s.
    pub drift_time: f64,
    /// Step of the output, Pa.
    pub resolution: Option<f64>,
}

/// Simulation state of a barometer between samples.
#[derive(Clone, Debug, PartialEq)]
pub struct BarometerRun {
    barometer: Barometer,
    offset: f64,
    drift: BiasRun,
    seed: u64,
    sensor: u32,
    samples: u32,
}

impl BarometerRun {
    /// The state of sensor number `sensor` at switch-on.
    pub fn new(barometer: &Barometer, seed: u64, sensor: u32) -> Self {
        let mut stream = Stream::new(seed, sensor, u32::MAX, 0, Purpose::Barometer);
        let mut normals = stream.normals();
        let drift = BiasProcess::GaussMarkov {
            sd: barometer.drift,
            time: barometer.drift_time.max(f64::MIN_POSITIVE),
        };
        Self {
            offset: barometer.offset * normals.next().unwrap_or_default(),
            drift: BiasRun::new(&[drift], &mut normals),
            barometer: *barometer,
            seed,
            sensor,
            samples: 0,
        }
    }

    /// The next sample of a true pressure (Pa), `dt` seconds after the previous one, Pa.
    pub fn read(&mut self, pressure: f64, dt: f64) -> f64 {
        let mut stream = Stream::new(self.seed, self.sensor, self.samples, 0, Purpose::Barometer);
        self.samples += 1;
        let mut normals = stream.normals();
        self.drift.step(dt, &mut normals);
        let noise = self.barometer.noise * normals.next().unwrap_or_default();
        let output = pressure + self.offset + self.drift.value() + noise;
        match self.barometer.resolution {
            Some(step) => (output / step).round() * step,
            None => output,
        }
    }
}
