//! Phase receiver: closed forms, noise statistics and failure codes.

use crate::phase::{LIMITS, ideal_receiver};
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Modulation, NoDetection, PhaseReceiverNoise, PhaseSignal,
    PowerDependentBias, phase_noise,
};
use etendue_physics::{DualParts, Purpose, Scalar, Stream};
use etendue_sensors::lidar::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};

/// A receiver without noise, quantisation, bias or thresholds, with the gate of the reference device.
fn ideal() -> PhaseReceiver {
    let receiver = ideal_receiver();
    PhaseReceiver {
        gain: AutomaticGain {
            strongest: 1e6,
            weakest: 1e-6,
            ..receiver.gain
        },
        ambiguity: Ambiguity {
            gate: 0.15,
            ..receiver.ambiguity
        },
        ..receiver
    }
}

fn stream(beam: u32) -> Stream {
    Stream::new(3, 0, 0, beam, Purpose::ReceiverNoise)
}

fn light<S: Scalar>(returns: &[(S, S)]) -> PhaseSignal<S> {
    let mut received = PhaseSignal::nothing();
    for &(range, power) in returns {
        received.add(&Modulation::URG_04LX, range, power);
    }
    received
}

fn measure(receiver: &PhaseReceiver<f64>, returns: &[(f64, f64)]) -> Result<f64, NoDetection> {
    let detection = receiver.measure(&light(returns), &LIMITS, &mut stream(0))?;
    Ok(detection.range)
}

/// 3e-15 m measured.
#[test]
fn an_ideal_receiver_gives_the_range_by_either_method() {
    let sampled = PhaseReceiver {
        method: PhaseMethod::Sampled,
        ..ideal()
    };
    for i in 1..56 {
        let range = f64::from(i) * 0.1;
        for receiver in [ideal(), sampled] {
            let measured = measure(&receiver, &[(range, 0.3)]).expect("a range");
            assert!((measured - range).abs() < 1e-12, "{range}: {measured}");
        }
    }
}

#[test]
fn samples_and_closed_form_agree_on_mixed_light() {
    let sampled = PhaseReceiver {
        method: PhaseMethod::Sampled,
        ..ideal()
    };
    for i in 0..40 {
        let returns = [(1.0, 0.3), (1.0 + 0.03 * f64::from(i), 0.2), (3.0, 0.02)];
        let closed = measure(&ideal(), &returns).expect("a range");
        let sampled = measure(&sampled, &returns).expect("a range");
        assert!((closed - sampled).abs() < 1e-9);
    }
}

/// Two equal returns at 1.0 and 2.0 m differ by less than c/4f and give their mean range. At 1.0 and 2.6 m
/// the range of the first frequency is between them, that of the second in front of both: their difference
/// exceeds the gate.
#[test]
fn far_apart_returns_contradict_each_other() {
    let close = measure(&ideal(), &[(1.0, 1.0), (2.0, 1.0)]).expect("a range");
    assert!((close - 1.5).abs() < 1e-12);
    let phases = light(&[(1.0, 1.0), (2.6, 1.0)]).waves.map(|w| w.phase());
    let [first, second] = Modulation::URG_04LX.wrapped_ranges(phases);
    assert!((first - 1.8).abs() < 0.005 && (second - 0.39).abs() < 0.005);
    let fault = measure(&ideal(), &[(1.0, 1.0), (2.6, 1.0)]).expect_err("no measurement");
    assert_eq!(fault.urg_code(), Some(8));
}

#[test]
fn what_lies_beyond_22_metres_wraps() {
    let whole = Modulation::URG_04LX.combined_ambiguity();
    let wrapped = measure(&ideal(), &[(whole + 1.25, 1e-3)]).expect("a range");
    assert!((wrapped - 1.25).abs() < 1e-9);
}

#[test]
fn what_lies_beyond_the_range_is_code_0() {
    for range in [6.0, 9.0, 15.0, 21.9] {
        let fault = measure(&ideal(), &[(range, 0.01)]).expect_err("beyond the range");
        assert_eq!(fault.urg_code(), Some(0));
        let NoDetection::BeyondRange { range: found } = fault else {
            panic!("{fault:?}");
        };
        assert!((found - range).abs() < 1e-9);
    }
}

#[test]
fn too_little_and_too_much_light_have_their_codes() {
    let receiver = PhaseReceiver {
        window: None,
        detectable: 0.01,
        sufficient: 0.02,
        gain: AutomaticGain {
            target: 0.5,
            strongest: 10.0,
            weakest: 0.01,
        },
        ..ideal()
    };
    let code = |power| {
        measure(&receiver, &[(1.0, power)])
            .err()
            .map(NoDetection::urg_code)
    };
    assert_eq!(code(0.0), Some(Some(0)));
    assert_eq!(code(0.005), Some(Some(0)));
    assert_eq!(code(0.015), Some(Some(1)));
    assert_eq!(code(0.5), None);
    assert_eq!(code(10.1), Some(Some(18)));
}

fn spread(receiver: &PhaseReceiver<f64>, power: f64, draws: u32) -> f64 {
    let square: f64 = (0..draws)
        .map(|beam| {
            let detection: PhaseDetection<f64> = receiver
                .measure(&light(&[(2.0, power)]), &LIMITS, &mut stream(beam))
                .expect("a range");
            (detection.range - 2.0).powi(2)
        })
        .sum();
    (square / f64::from(draws)).sqrt()
}

/// The standard deviation of the range is (m per rad) sqrt(2/N) sigma/|L| for each kind of noise, in closed
/// form (20,000 draws) and from samples (4,000 draws), within 4.5 standard errors.
#[test]
fn both_methods_have_the_noise_of_theory() {
    let power = 0.2;
    let gain = ideal().gain.at(power);
    let shot = PhaseReceiverNoise {
        shot: 1e-4,
        background: 0.3,
        ..PhaseReceiverNoise::default()
    };
    let noises = [
        (
            PhaseReceiverNoise {
                amplifier: 0.01,
                ..PhaseReceiverNoise::default()
            },
            0.01,
        ),
        (
            PhaseReceiverNoise {
                converter: 0.02,
                ..PhaseReceiverNoise::default()
            },
            0.02 / gain,
        ),
        (shot, (1e-4_f64 * 0.5).sqrt()),
    ];
    for (noise, sample_noise) in noises {
        for (method, draws) in [
            (PhaseMethod::ClosedForm, 20_000),
            (PhaseMethod::Sampled, 4_000),
        ] {
            let receiver = PhaseReceiver {
                noise,
                method,
                ..ideal()
            };
            let per_phase = receiver
                .ambiguity
                .combination
                .range_per_phase(&receiver.modulation);
            let theory = per_phase * phase_noise(sample_noise, power);
            let ratio = spread(&receiver, power, draws) / theory;
            let error = 4.5 / f64::from(2 * draws).sqrt();
            assert!((ratio - 1.0).abs() < error, "{noise:?} {method:?}: {ratio}");
        }
    }
}

/// Quantisation to ten bits at half the converter's range: error at most 0.3 mm (measured), and on average
/// no more than that of a converter of half the resolution.
#[test]
fn quantisation_errors_shrink_with_bits() {
    let error = |bits| {
        let receiver = PhaseReceiver {
            converter_bits: Some(bits),
            method: PhaseMethod::Sampled,
            ..ideal()
        };
        let errors = (1..500).map(|i| {
            let range = f64::from(i) * 0.011;
            measure(&receiver, &[(range, 0.2)]).expect("a range") - range
        });
        let squares: Vec<f64> = errors.map(|e| e * e).collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    };
    let [coarse, fine] = [6, 10].map(error);
    assert!(fine > 0.0 && fine < 3e-4, "{fine}");
    assert!((coarse / fine / 16.0 - 1.0).abs() < 0.3, "{coarse} {fine}");
}

#[test]
fn a_range_bias_shifts_both_frequencies_alike_and_a_phase_bias_does_not() {
    let power = 0.5;
    let coefficients = [0.01, -0.02, 0.004];
    let offset = 0.01 - 0.02 * power + 0.004 * power * power;
    let by_range = PhaseReceiver {
        bias: PowerDependentBias::Range(coefficients),
        ..ideal()
    };
    let by_phase = PhaseReceiver {
        bias: PowerDependentBias::Phase(coefficients),
        ..ideal()
    };
    let received = light(&[(2.0, power)]);
    let ranged = by_range
        .measure(&received, &LIMITS, &mut stream(0))
        .expect("a range");
    let phased = by_phase
        .measure(&received, &LIMITS, &mut stream(0))
        .expect("a range");
    assert!((ranged.range - (2.0 - offset)).abs() < 1e-12);
    assert!(ranged.disagreement < 1e-12);
    assert!((phased.range - (2.0 - offset * 0.480465745)).abs() < 1e-9);
    assert!((phased.disagreement - offset * 0.064062099).abs() < 1e-9);
}

/// Derivatives of the measured range with respect to ranges and powers of two returns and the three bias
/// coefficients, for both forms of bias, equal central differences within 1e-9 (measured).
#[test]
fn derivatives_equal_differences() {
    type D = crate::Derivatives;
    let at = [1.2, 1.5, 0.6, 0.3, 0.02, -0.03, 0.01];
    for form in [
        PowerDependentBias::Range as fn([D; 3]) -> PowerDependentBias<D>,
        PowerDependentBias::Phase,
    ] {
        let range = |x: [D; 7]| {
            let receiver = ideal().map(D::from);
            let receiver = PhaseReceiver {
                bias: form([x[4], x[5], x[6]]),
                noise: PhaseReceiverNoise {
                    amplifier: 0.01,
                    ..PhaseReceiverNoise::default()
                },
                ..receiver
            };
            let received = light(&[(x[0], x[2]), (x[1], x[3])]);
            let detection = receiver
                .measure(&received, &LIMITS, &mut stream(9))
                .expect("a range");
            detection.range
        };
        let gradient = range(std::array::from_fn(|i| D::variable(at[i], i))).gradient();
        for i in 0..7 {
            let moved = |by: f64| {
                let mut x = at;
                x[i] += by;
                range(x.map(D::from)).value()
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((gradient[i] - difference).abs() < 1e-8, "{i}: {gradient:?}");
            assert!(gradient[i] != 0.0);
        }
    }
}

/// The range does not depend on the unit of power of signal, thresholds and noise.
#[test]
fn the_unit_of_power_does_not_matter() {
    let receiver = |unit: f64| PhaseReceiver {
        noise: PhaseReceiverNoise {
            amplifier: 0.01 * unit,
            shot: 1e-4 * unit,
            background: 0.1 * unit,
            converter: 0.01,
        },
        gain: AutomaticGain {
            target: 0.5,
            strongest: 10.0 * unit,
            weakest: 0.01 * unit,
        },
        sufficient: 0.05 * unit,
        ..ideal()
    };
    for unit in [1e-6, 1e3] {
        let scaled = measure(&receiver(unit), &[(2.0, 0.2 * unit)]).expect("a range");
        let plain = measure(&receiver(1.0), &[(2.0, 0.2)]).expect("a range");
        assert!((scaled - plain).abs() < 1e-12);
    }
}

#[test]
fn invalid_receivers_are_refused() {
    type Change = fn(&mut PhaseReceiver<f64>);
    let changes: [(Change, &str); 4] = [
        (
            |r| (r.gain.weakest, r.gain.strongest) = (700.0, 0.01),
            "are they exchanged?",
        ),
        (|r| r.noise.amplifier = -1.0, "amplifier noise is -1"),
        (|r| r.modulation.multiples = [6, 8], "coprime"),
        (|r| r.converter_bits = Some(0), "0 bits"),
    ];
    assert_eq!(ideal().check(), Ok(()));
    for (change, text) in changes {
        let mut receiver = ideal();
        change(&mut receiver);
        let error: InvalidPhaseReceiver = receiver.check().expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
    }
}
