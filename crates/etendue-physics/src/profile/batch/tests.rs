//! Tests of the batched form against the plain one.

use super::curve::CurveRows;
use super::{IncidentBatch, ProfileSampler};
use crate::profile::reflectance::logistic;
use crate::profile::{
    Aspect, BeamAddress, Correlation, DistanceLaw, DrawnReturn, DropOutModel, Facets, Glare,
    GlareKnot, IntensityKind, Knot, NoiseCache, Profile, ReflectanceModel, Step, Steps,
};

use std::sync::Arc;

const LAWS: [DistanceLaw; 3] = [
    DistanceLaw::Triangulation,
    DistanceLaw::SignalToNoise { floor: 4e-4 },
    DistanceLaw::Fitted {
        spread: 1.3,
        bias: 0.4,
        power: 1.7,
    },
];

/// A profile that uses every feature: unequally spaced knots of which the first two have no drop-out, a
/// glare, steps, and correlations.
fn rich(law: DistanceLaw, intensity: IntensityKind) -> Arc<Profile> {
    // Knots with intensities over incidence, and of the glare.
    let knot = |degrees: f64, bias: f64, spread: f64, drop_out: f64| Knot {
        incidence: degrees.to_radians(),
        bias,
        spread,
        drop_out,
        intensity: 0.3 + 0.005 * degrees,
        intensity_spread: 0.02 + 0.001 * degrees,
        ..Knot::default()
    };
    let glare = |degrees: f64, bias: f64, spread_ratio: f64, drop_out: f64| GlareKnot {
        incidence: degrees.to_radians(),
        bias,
        spread_ratio,
        drop_out,
        intensity: 0.1 * spread_ratio - 0.1,
        ..GlareKnot::default()
    };
    // The profile.
    Arc::new(Profile {
        distance: 0.4,
        law,
        steps: Steps::new(vec![
            Step {
                from: 0.0,
                step: 1e-3,
            },
            Step {
                from: 0.512,
                step: 2e-3,
            },
        ]),
        correlation: Correlation::new(0.26, 0.15, 0.12).with_fixed_pattern_neighbour(0.6),
        intensity,
        reflectance: ReflectanceModel {
            slope_sd: 0.3,
            facets: Some(Facets {
                roughness: 0.3,
                share: 0.9,
            }),
            drop_out: DropOutModel {
                logit: -8.0,
                slope: 2.4,
            },
        },
        knots: vec![
            knot(0.0, 6e-4, 2e-4, 0.0),
            knot(4.001, 5e-4, 0.0, 0.0),
            knot(5.0, 5e-4, 3e-4, 0.002),
            knot(31.3, -8e-4, 9e-4, 0.3),
            knot(50.0, -4e-3, 3e-3, 0.1),
        ],
        glare: Some(Glare {
            centre: (-1.46_f64).to_radians(),
            knots: vec![
                glare(-8.0, 0.0, 1.0, 0.0),
                glare(-1.4, -2e-3, 8.0, 0.3),
                glare(0.5, 1e-3, 0.9, 0.0),
                glare(7.5, 0.0, 1.0, 0.0),
            ],
        }),
        ..Profile::default()
    })
}

/// Every tenth of a degree to a millidegree from grazing, with varying sides.
fn aspects() -> impl Iterator<Item = Aspect> {
    let degrees = (0..900).map(|i| 0.1 * f64::from(i)).chain([89.99, 89.999]);
    let sides = (0..).map(|i| f64::from(i % 21 - 10) / 10.0);
    degrees.zip(sides).map(|(degrees, side)| Aspect {
        incidence: f64::to_radians(degrees),
        side,
    })
}

/// The batched distribution equals [`Profile::at`]. Measured: relative errors of spreads 9e-6, errors of
/// logits 4.4e-5.
#[test]
fn a_sampler_has_the_expected_values_of_its_profile() {
    for law in LAWS {
        let sampler = ProfileSampler::new(rich(law, IntensityKind::Continuous));
        for (aspect, ratio) in aspects().flat_map(|a| [0.5, 1.0, 7.0].map(|r| (a, r))) {
            // Evaluate both forms.
            let cos = aspect.incidence.cos();
            let range = 0.4 * ratio / cos;
            let met = IncidentBatch {
                mask: [true],
                range: &[range],
                cos_incidence: &[cos],
            };
            let mut rows = CurveRows::ZERO;
            sampler.curve.look_up(met.cos_incidence, &mut rows);
            let found = sampler.expect(&met, &rows, |_| aspect.side);
            let expected = sampler.profile.at(aspect, range);
            // Compare them.
            let place = format!("{law:?} {:.3} x {ratio}", aspect.incidence.to_degrees());
            let near = |a: f64, b: f64, within: f64| {
                assert!(
                    (a - b).abs() <= within,
                    "{place}: {a} {b} {found:?} {expected:?}"
                );
            };
            near(found.bias[0], expected.bias, 1e-10);
            near(
                found.spread[0],
                expected.spread,
                2e-5 * expected.spread + 1e-12,
            );
            near(found.fixed_pattern[0], expected.fixed_pattern, 1e-7);
            near(found.intensity[0], expected.intensity, 1e-8);
            near(found.intensity_spread[0], expected.intensity_spread, 1e-9);
            let p = expected.drop_out;
            near(logistic(found.logit[0]), p, 1e-4 * p * (1.0 - p) + 1e-12);
        }
    }
}

/// Single beams equal batches bit for bit, and both equal [`Profile::draw`] in nearly all of 3008 beams.
#[test]
fn a_sampler_draws_the_same_values_as_its_profile() {
    let kinds = [
        IntensityKind::Continuous,
        IntensityKind::None,
        IntensityKind::TwoValued {
            low: 1.0,
            high: 9.0,
        },
    ];
    let aspects: Vec<Aspect> = aspects().collect();
    for (law, kind) in LAWS.into_iter().zip(kinds) {
        let profile = rich(law, kind);
        let sampler = ProfileSampler::new(profile.clone());
        let mut noise_cache = NoiseCache::default();
        let mut other = NoiseCache::default();
        let mut same = 0;
        let mut returned = 0;
        for block in 0..188_u32 {
            // Draw a batch of sixteen beams.
            let lanes =
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(|i| 16 * block + i);
            let aspects = lanes.map(|beam| aspects[(7 * beam as usize) % 880]);
            let range = lanes.map(|beam| 0.2 + 3e-4 * f64::from(beam));
            let address = BeamAddress {
                seed: 3,
                sensor: 1,
                sweep: 7,
                beam: lanes[0],
                stride: 5,
            };
            let met = IncidentBatch {
                mask: [true; 16],
                range: &range,
                cos_incidence: &aspects.map(|aspect| aspect.incidence.cos()),
            };
            let together =
                sampler.draw_batch(&met, |i| aspects[i].side, &address, &mut noise_cache);
            // Compare it with single draws and with the plain form.
            for (i, beam) in lanes.into_iter().enumerate() {
                let address = BeamAddress { beam, ..address };
                let (cos, side) = (met.cos_incidence[i], || aspects[i].side);
                let one = sampler.draw(range[i], cos, side, &address, &mut other);
                let lane = together.returned[i].then(|| DrawnReturn {
                    range: together.range[i],
                    intensity: together.intensity.map(|all| all[i]),
                });
                assert_eq!(one, lane);
                let plain = profile.draw(range[i], aspects[i], &address);
                let is_same = match (plain, one) {
                    (Some(a), Some(b)) => {
                        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
                        let alike = a
                            .intensity
                            .zip(b.intensity)
                            .is_none_or(|(a, b)| close(a, b));
                        close(a.range, b.range) && alike
                    }
                    (None, None) => true,
                    _ => false,
                };
                same += usize::from(is_same);
                returned += usize::from(one.is_some());
            }
        }
        assert!(same >= 3007, "{law:?}: {same} of 3008");
        assert!((600..2900).contains(&returned), "{returned}");
    }
}

/// A profile without knots is invalid and returns nothing.
#[test]
fn a_profile_without_knots_drops_every_beam() {
    let sampler = ProfileSampler::new(Arc::new(Profile {
        distance: 1.0,
        ..Profile::default()
    }));
    for cos in [0.0, 0.3, 1.0] {
        let mut noise_cache = NoiseCache::default();
        let drawn = sampler.draw(1.0, cos, || 0.0, &BeamAddress::default(), &mut noise_cache);
        assert_eq!(drawn, None);
    }
}
