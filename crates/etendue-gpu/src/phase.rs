//! Phase receivers in the form of the shader.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::numbers::{pairs, rounded};
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_physics::phase::PowerDependentBias;
use etendue_sensors::lidar::{DirectPhaseAir, DirectSweep, PhaseReceiver};
use std::f64::consts::TAU;
use wgpu::Buffer;

/// Parameters of the shader of phase receivers.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PhaseParameters {
    ambiguities: [f32; 4],
    turns_per_metre: [f32; 4],
    combination: [f32; 4],
    multiples: [u32; 4],
    gain: [f32; 4],
    noise: [f32; 4],
    limits: [f32; 4],
    phase_bias: [f32; 4],
    range_bias: [f32; 4],
    cells: [f32; 4],
    air: [f32; 4],
}

/// A phase receiver, and the waves of the air, in the memory of a device.
pub(crate) struct PhaseBuffers<'a> {
    pub parameters: Buffer,
    pub cells: Scratch<'a>,
}

impl<'a> PhaseBuffers<'a> {
    /// Those of a receiver with a beam of half the divergence `spread`, rad.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute waves in f32"
    )]
    pub fn new(
        device: &'a GpuDevice,
        sweep: &DirectSweep,
        receiver: &PhaseReceiver,
        spread: f64,
    ) -> Result<Self, GpuError> {
        let air = sweep.phase_air();
        let parameters = PhaseParameters::new(receiver, spread, air.as_ref());
        let before = air.map_or(&[][..], |air| air.before);
        let cells = before.iter().flat_map(|own| {
            let [one, two] = own.waves;
            let waves = [one.re, one.im, two.re, two.im];
            [waves, [own.power, 0.0, 0.0, 0.0]].map(|numbers| numbers.map(|x| x as f32))
        });
        Ok(Self {
            parameters: device.uniform(&parameters)?,
            cells: device.scratch_with("the cells of air", &cells.collect::<Vec<_>>())?,
        })
    }
}

impl PhaseParameters {
    /// The parameters of a receiver with a beam of half the divergence `spread`, rad, in air.
    fn new(receiver: &PhaseReceiver, spread: f64, air: Option<&DirectPhaseAir>) -> Self {
        // Frequencies.
        let modulation = &receiver.modulation;
        let ambiguities = modulation.ambiguities();
        let multiples = modulation.multiples;
        let spacing =
            modulation.combined_ambiguity() / (f64::from(multiples[0]) * f64::from(multiples[1]));
        let [_, weight] = receiver.ambiguity.combination.weights(modulation);

        // Noise of a sample after the gain: that of the converter and of its rounding.
        let noise = &receiver.noise;
        let step = receiver.converter_step().unwrap_or(0.0);
        let after_gain = noise.converter * noise.converter + step * step / 12.0;

        // Bias.
        let polynomial = |[c, b, a]: [f64; 3], unit: f64| rounded([c, b, a, 0.0].map(|x| x / unit));
        let (phase_bias, range_bias) = match receiver.bias {
            PowerDependentBias::Phase(own) => (polynomial(own, TAU), [0.0; 4]),
            PowerDependentBias::Range(own) => ([0.0; 4], polynomial(own, 1.0)),
            _ => ([0.0; 4], [0.0; 4]),
        };

        // Air.
        let (cells, of_air) = air.map_or(([0.0; 2], [0.0; 4]), |air| {
            let backscatter = air.coefficients.backscatter;
            let extinction = 2.0 * air.coefficients.extinction;
            let whole = (air.before.len() - 1) as f64;
            let numbers = [backscatter, extinction, air.overlap.full_from, whole];
            ([air.overlap.none_until, air.step], numbers)
        });
        let gain = &receiver.gain;
        let ambiguity = &receiver.ambiguity;
        let [detectable, sufficient] = [receiver.detectable, receiver.sufficient];
        Self {
            ambiguities: pairs(ambiguities),
            turns_per_metre: pairs(ambiguities.map(f64::recip)),
            combination: pairs([weight, spacing]),
            multiples: [multiples[0], multiples[1], inverse(multiples), 0],
            gain: rounded([gain.target, gain.weakest, gain.strongest, spread]),
            noise: rounded([
                noise.amplifier * noise.amplifier,
                noise.shot,
                noise.background,
                after_gain,
            ]),
            limits: rounded([detectable, sufficient, ambiguity.gate, ambiguity.slack]),
            phase_bias,
            range_bias,
            cells: pairs(cells),
            air: rounded(of_air),
        }
    }
}

/// The inverse of the second number modulo the first, which have no common factor.
fn inverse([modulus, number]: [u32; 2]) -> u32 {
    let is_inverse = |other: &u32| {
        let product = u64::from(number) * u64::from(*other);
        product % u64::from(modulus) == 1 % u64::from(modulus)
    };
    (0..modulus).find(is_inverse).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn inverses_of_coprime_numbers() {
        for (numbers, expected) in [([7, 8], 1), ([8, 7], 7), ([5, 3], 2), ([1, 9], 0)] {
            assert_eq!(super::inverse(numbers), expected);
        }
    }
}
