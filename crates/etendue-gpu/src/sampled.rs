//! Pulsed receivers that sample waveforms, or detect light of the air or noise, in the form of the shader.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::{double_single, pairs, rounded};
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_physics::SPEED_OF_LIGHT;
use etendue_physics::pulse::{Detector, Discriminator, PulseShape};
use etendue_sensors::lidar::{DirectDrops, DirectPulsedAir, DirectSampled, DirectSweep};
use wgpu::Buffer;

/// Range per time of flight, m/s.
const RANGE_PER_TIME: f64 = 0.5 * SPEED_OF_LIGHT;

/// Counts of an entry of the tables of ties, and number of such entries.
const TIES: usize = 16;
const TIE_ENTRIES: usize = 1024;

/// Numbers of a kind of drops in the tables, two each.
const OF_DROPS: usize = 6;

/// A receiver and the light of the air in the memory of a device.
pub(crate) struct SampledBuffers<'a> {
    pub parameters: Buffer,
    pub tables: Scratch<'a>,
}

/// Parameters of the shader (sampled.wgsl).
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    clock: [f32; 4],
    pulse: [f32; 4],
    finder: [f32; 4],
    kinds: [u32; 4],
    alarms: [f32; 4],
    photons: [f32; 4],
    cells: [f32; 4],
    air: [f32; 4],
    waveform: [f32; 4],
    places: [u32; 4],
    beam: [f32; 4],
    ties: [u32; 4],
}

impl<'a> SampledBuffers<'a> {
    pub fn new(
        device: &'a GpuDevice,
        sweep: &DirectSweep,
        own: &DirectSampled,
    ) -> Result<Self, GpuError> {
        let mut parameters = Parameters::of(own);
        parameters.alarms[2] = reached(own, !sweep.settings().without_noise);
        let mut tables = sweep.pulsed_air().map_or(vec![], |air| {
            parameters.add_air(own, &air);
            parameters.tables(&air)
        });
        let ties = ties(own);
        parameters.ties = [tables.len(), ties.len() * TIES, 0, 0].map(index);
        tables.extend(ties);
        Ok(Self {
            parameters: device.uniform(&parameters)?,
            tables: device.scratch_with("the light of the air", &tables)?,
        })
    }
}

impl Parameters {
    /// The parameters in air without light.
    fn of(own: &DirectSampled) -> Self {
        // Clock and pulse.
        let receiver = &own.receiver;
        let zero = own.finder.map_or(0.0, |finder| finder.zero);
        let [before, after] = receiver.pulse.support().map(|time| RANGE_PER_TIME * time);
        let per_width = 1.0 / (RANGE_PER_TIME * receiver.pulse.fwhm);

        // Finder.
        let (timed, fraction) = match receiver.discriminator {
            Discriminator::Threshold => (0, 0.0),
            Discriminator::LeadingEdge => (1, 0.0),
            Discriminator::ConstantFraction { fraction } => (2, fraction),
            Discriminator::Peak => (3, 0.0),
            Discriminator::Centroid => (4, 0.0),
        };
        let shape = match receiver.pulse.shape {
            PulseShape::Gaussian => 0,
            PulseShape::SquaredSine => 1,
            PulseShape::LaserDiode => 2,
        };
        let what = match own.finder {
            None => 0,
            Some(_) if own.samples_everything() => 2,
            Some(_) => 1,
        };
        let top = receiver.bits.map_or(0, |bits| (1 << bits.clamp(1, 24)) - 1);
        let photons = match receiver.detector {
            Detector::Analogue(_) => [0.0; 2],
            Detector::PhotonCounting(own) => [own.photons, own.background],
        };
        let between_alarms = own.samples_between_alarms().unwrap_or(0.0);
        Self {
            clock: pairs([RANGE_PER_TIME * receiver.interval, RANGE_PER_TIME * zero]),
            pulse: rounded([per_width, before, after, before + after]),
            finder: rounded([
                fraction,
                receiver.jitter,
                1e-9 * receiver.threshold,
                receiver.interval / own.form.width,
            ]),
            kinds: [timed, shape, what, top],
            alarms: pairs([between_alarms.min(1e30), 0.0]),
            photons: pairs(photons),
            ..Self::zeroed()
        }
    }

    /// Adds the light of the air.
    fn add_air(&mut self, own: &DirectSampled, air: &DirectPulsedAir) {
        let extinction = 2.0 * air.coefficients.extinction;
        let full_from = air.overlap.full_from;
        let (length, cells) = match &air.backscatter {
            Some(backscatter) => (backscatter.cell_length, backscatter.cells.len()),
            None => (1.0, 0),
        };
        self.cells = pairs([air.overlap.none_until, length]);
        self.air = rounded([
            air.coefficients.backscatter,
            extinction,
            full_from,
            cells as f64,
        ]);
        let mut samples = 0;
        if let Some(backscatter) = &air.backscatter {
            samples = backscatter.samples.len();
            self.waveform = rounded([
                backscatter.first,
                samples as f64,
                backscatter.bright as f64,
                backscatter.faint * own.receiver.threshold,
            ]);
        }
        self.places = [0, samples, samples + cells, air.drops.len()].map(index);
        if let Some(drops) = air.drops.first() {
            let beam = &drops.form.beam;
            let [[a, b], [c, d]] = [beam.divergence.sd(), beam.exit.sd()];
            self.beam = rounded([a, b, c, d]);
        }
    }

    /// The tables: samples and cells of the mean backscatter, kinds of drops, volumes.
    fn tables(&self, air: &DirectPulsedAir) -> Vec<[f32; 2]> {
        let mut tables: Vec<[f32; 2]> = vec![];
        if let Some(backscatter) = &air.backscatter {
            tables.extend(backscatter.samples.iter().copied().map(double_single));
            let powers = backscatter.cells.iter().map(|cell| cell.power);
            tables.extend(powers.map(double_single));
        }
        let mut first_volume = self.places[2] as usize + OF_DROPS * air.drops.len();
        for drops in &air.drops {
            tables.extend(of_drops(drops, self.air[1], first_volume));
            first_volume += drops.form.volume.len();
        }
        for drops in &air.drops {
            tables.extend(drops.form.volume.iter().copied().map(double_single));
        }
        tables
    }
}

/// The numbers of a kind of drops whose volumes begin at a place.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn of_drops(drops: &DirectDrops, extinction: f32, first_volume: usize) -> [[f32; 2]; OF_DROPS] {
    let form = &drops.form;
    [
        double_single(form.density),
        double_single(drops.until),
        [form.smallest, 1.0 / form.slope].map(|number| number as f32),
        [form.power, drops.share].map(|number| number as f32),
        [first_volume, form.volume.len()].map(|number| f32::from_bits(index(number))),
        [form.step as f32, extinction],
    ]
}

/// Whether a sample is lower than a count by the hysteresis, if that is a whole number of counts, by the rounding of `f64`: the bits of
/// sixteen counts as a number each, of the difference, and of the count less the hysteresis.
fn ties(own: &DirectSampled) -> Vec<[f32; 2]> {
    let receiver = &own.receiver;
    let Detector::PhotonCounting(counter) = receiver.detector else {
        return vec![];
    };
    let hysteresis = receiver.hysteresis();
    let counts = hysteresis * counter.photons;
    if (counts - counts.round()).abs() > 1e-6 * counts {
        return vec![];
    }
    let decisions = |count: usize| {
        let high = counter.power(count as f64);
        let low = counter.power(count as f64 - counts.round());
        [high - low >= hysteresis, low <= high - hysteresis]
    };
    let entry = |number: usize| {
        let mut bits = [0_u16; 2];
        for place in 0..TIES {
            for (bits, is_fallen) in bits.iter_mut().zip(decisions(TIES * number + place)) {
                *bits |= u16::from(is_fallen) << place;
            }
        }
        bits.map(f32::from)
    };
    (0..TIE_ENTRIES).map(entry).collect()
}

/// Power of a sample that reaches the threshold: of counts, the middle between the least one that does and the one below.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn reached(own: &DirectSampled, is_noisy: bool) -> f32 {
    let receiver = &own.receiver;
    let threshold = receiver.threshold;
    match receiver.detector {
        Detector::PhotonCounting(counter) if is_noisy && receiver.bits.is_none() => {
            let about = (threshold * counter.photons + counter.background).round();
            let near = [-1.0, 0.0, 1.0, 2.0].map(|other| about + other);
            let least = near
                .into_iter()
                .find(|count| counter.power(*count) >= threshold);
            counter.power(least.unwrap_or(about) - 0.5) as f32
        }
        _ => threshold as f32,
    }
}
