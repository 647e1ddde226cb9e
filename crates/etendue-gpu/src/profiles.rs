//! Noise profiles on a device.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::double_single;
use crate::shaders::FALLS;
use etendue_physics::MovingAverage;
use etendue_physics::profile::{DistanceLaw, Glare, IntensityKind, Profile};
use etendue_scene::MaterialId;
use etendue_sensors::transport::World;
use wgpu::Buffer;

/// Numbers of a head, four each.
const HEAD: usize = 8;

/// The noise profiles of a world in the memory of a device (profiles.wgsl); `None` where no material has one, or the device
/// binds too few buffers.
pub(crate) fn profiles(device: &GpuDevice, world: &World<f64>) -> Result<Option<Buffer>, GpuError> {
    let profiles = world.profiles();
    let count = index(world.scene().materials().len());
    let of = |number: u32| profiles.profile(MaterialId(number));
    if (0..count).all(|number| of(number).is_none()) || !device.binds_all() {
        return Ok(None);
    }
    let mut records = vec![[f32::from_bits(u32::MAX); 4]; count as usize];
    for number in 0..count {
        if let Some(profile) = of(number) {
            records[number as usize][0] = f32::from_bits(index(records.len()));
            add(profile, &mut records);
        }
    }
    Ok(Some(device.storage("the noise profiles", &records)?))
}

/// Adds a profile: its head, knots, glare, steps and the power beyond the last knot.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute distributions in f32"
)]
fn add(profile: &Profile, records: &mut Vec<[f32; 4]>) {
    // Places.
    let glares = profile.glare.as_ref().map_or(&[][..], |own| &own.knots);
    let steps = profile.steps.as_slice();
    let knots = &profile.knots;
    let first_knot = records.len() + HEAD;
    let first_glare = first_knot + 2 * knots.len();
    let first_step = first_glare + 2 * glares.len();
    let first_fall = first_step + 2 * steps.len();
    let bits = |number: usize| f32::from_bits(index(number));

    // Head.
    let law = match profile.law {
        DistanceLaw::SignalToNoise { floor } => [1.0, floor, 0.0],
        DistanceLaw::Fitted { spread, bias, .. } => [2.0, spread, bias],
        _ => [0.0; 3],
    };
    let (kind, intensities) = match profile.intensity {
        IntensityKind::Constant(value) => (1.0, [value, 0.0]),
        IntensityKind::TwoValued { low, high } => (2.0, [low, high]),
        IntensityKind::Continuous => (3.0, [0.0; 2]),
        _ => (0.0, [0.0; 2]),
    };
    let correlation = &profile.correlation;
    let glare = profile.glare.as_ref();
    let last = knots.last().map_or(0.0, |knot| knot.incidence);
    let weights = |neighbour: f64| {
        let mut own = [0.0; 4];
        for (own, weight) in own.iter_mut().zip(MovingAverage::of(neighbour).weights()) {
            *own = *weight as f32;
        }
        own
    };
    let numbers = |all: [f64; 4]| all.map(|number| number as f32);
    records.extend([
        [
            bits(knots.len()),
            bits(first_knot),
            bits(glares.len()),
            bits(first_glare),
        ],
        numbers([law[0], law[1], law[2], profile.law.power_exponent()]),
        numbers([
            profile.distance,
            profile.reflectance.drop_out.slope,
            glare.map_or(0.0, |own| own.centre),
            glare.map_or(0.0, Glare::reach),
        ]),
        [
            correlation.fixed_pattern() as f32,
            correlation.fixed_pattern_drop() as f32,
            kind,
            bits(steps.len()),
        ],
        [
            intensities[0] as f32,
            intensities[1] as f32,
            bits(first_step),
            bits(first_fall),
        ],
        numbers([0.0, 0.0, last.cos(), last]),
        weights(correlation.neighbour()),
        weights(correlation.fixed_pattern_neighbour()),
    ]);

    // Knots, glare and steps.
    for knot in knots {
        records.push(numbers([
            knot.incidence,
            knot.bias,
            knot.spread,
            knot.drop_out,
        ]));
        records.push(numbers([knot.intensity, knot.intensity_spread, 0.0, 0.0]));
    }
    for knot in glares {
        records.push(numbers([
            knot.incidence,
            knot.bias,
            knot.spread_ratio,
            knot.drop_out,
        ]));
        records.push(numbers([knot.intensity, 0.0, 0.0, 0.0]));
    }
    for step in steps {
        let [from, own] = [step.from, step.step].map(double_single);
        records.push([from[0], from[1], own[0], own[1]]);
        records.push([0.0; 4]);
    }

    // Logarithm of the backscatter over that at the last knot, at equally spaced cosines up to its own.
    let backscatter = |cosine: f64| profile.reflectance.backscatter(cosine).max(1e-30).ln();
    let of_last = backscatter(last.cos());
    records.extend((0..FALLS).map(|number| {
        let cosine = last.cos() * number as f64 / (FALLS - 1) as f64;
        numbers([backscatter(cosine.max(1e-6)) - of_last, 0.0, 0.0, 0.0])
    }));
}
