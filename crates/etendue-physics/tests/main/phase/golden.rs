//! Every block of the reference values `golden/phase.json`.

use super::{AMBIGUITY, RANGE_LIMITS, golden, number, numbers};
use etendue_physics::phase::{
    Combination, Modulation, Phasor, SAMPLES, SamplingScheme, phase_noise,
};
use etendue_physics::{Dual, DualParts, Purpose, SPEED_OF_LIGHT, Stream};
use serde_json::Value;
use std::f64::consts::{FRAC_PI_2, TAU};

const MODULATION: Modulation = Modulation::URG_04LX;

fn close(ours: f64, reference: &Value, tolerance: f64) {
    let reference = number(reference);
    assert!(
        (ours - reference).abs() <= tolerance,
        "{ours} but the reference says {reference}"
    );
}

/// The phasors of both frequencies.
fn waves(ranges: &[f64], powers: &[f64]) -> [Phasor<f64>; 2] {
    let mut waves = [Phasor::zero(); 2];
    for (&range, &power) in ranges.iter().zip(powers) {
        for (wave, phase) in waves.iter_mut().zip(MODULATION.phases(range)) {
            wave.add(power, phase);
        }
    }
    waves
}

fn wrapped(ranges: &[f64], powers: &[f64]) -> [f64; 2] {
    MODULATION.wrapped_ranges(waves(ranges, powers).map(|wave| wave.phase()))
}

/// Compares a resolved measurement; a fragile one (two candidates nearly as good) by rule: the
/// candidates we choose agree no worse than the reference's.
fn compare_measurement(wrapped: [f64; 2], reference: &Value) {
    let found = AMBIGUITY
        .search(&MODULATION, wrapped, RANGE_LIMITS)
        .expect("there are candidates within the limits");
    close(wrapped[0], &reference["r1"], 1e-9);
    close(wrapped[1], &reference["r2"], 1e-9);
    if reference["fragile"] == true {
        assert!(found.disagreement <= number(&reference["disagreement"]) + 1e-9);
        return;
    }
    close(found.ranges[0], &reference["R1"], 1e-9);
    close(found.ranges[1], &reference["R2"], 1e-9);
    close(f64::from(found.periods[0]), &reference["n1"], 0.0);
    close(f64::from(found.periods[1]), &reference["n2"], 0.0);
    close(found.range, &reference["mean"], 1e-9);
    close(found.disagreement, &reference["disagreement"], 1e-9);
    let fused = Combination::FrequencySquared.combine(&MODULATION, found.ranges);
    close(fused, &reference["fused"], 1e-9);
}

#[test]
fn constants_follow_from_the_base_frequency() {
    let consts = &golden()["consts"];
    let [f1, f2] = MODULATION.frequencies();
    let [u1, u2] = MODULATION.ambiguities();
    close(SPEED_OF_LIGHT, &consts["c"], 0.0);
    close(f1, &consts["f1"], 0.0);
    close(f2, &consts["f2"], 0.0);
    close(u1, &consts["U1"], 1e-15);
    close(u2, &consts["U2"], 1e-15);
    close(MODULATION.base_frequency, &consts["f0"], 0.0);
    close(MODULATION.combined_ambiguity(), &consts["Uc"], 1e-13);
    close(
        MODULATION.combined_ambiguity() / 56.0,
        &consts["Gamma"],
        1e-15,
    );
    close(u1 / TAU, &consts["m_per_rad_f1"], 1e-15);
    close(u2 / TAU, &consts["m_per_rad_f2"], 1e-15);
}

/// What a scheme makes of a wave: normal matrix, leaks, span and distinct phases.
fn compare_scheme(scheme: SamplingScheme, reference: &Value) {
    let instants: Vec<f64> = (0..SAMPLES).map(|i| scheme.instant(i)).collect();
    let sum = |f: &dyn Fn(f64) -> f64| instants.iter().map(|t| f(TAU * t)).sum::<f64>();
    let matrix = &reference["normal_matrix"];
    close(sum(&|x| x.cos() * x.cos()), &matrix[0][0], 1e-9);
    close(sum(&|x| x.cos() * x.sin()), &matrix[0][1], 1e-9);
    close(sum(&|x| x.sin() * x.sin()), &matrix[1][1], 1e-9);
    let leak = |k: f64| sum(&|x| (k * x).cos()).hypot(sum(&|x| (k * x).sin())) / 15.0;
    close(leak(1.0), &reference["dc_leak"], 1e-9);
    close(leak(2.0), &reference["third_harm_leak"], 1e-9);
    close(
        instants[SAMPLES - 1] - instants[0],
        &reference["span_periods"],
        1e-12,
    );
    let mut slots: Vec<f64> = instants.iter().map(|t| (t * 60.0).round() % 60.0).collect();
    slots.sort_by(f64::total_cmp);
    assert_eq!(slots, numbers(&reference["slots"]));
    slots.dedup();
    close(
        slots.len() as f64,
        &reference["distinct_phase_slots_of_60"],
        0.0,
    );
}

#[test]
fn sampling_schemes_have_the_reference_properties() {
    let schemes = &golden()["sampling_schemes"];
    for (name, scheme) in [
        ("pair", SamplingScheme::Pair),
        ("clock", SamplingScheme::Clock),
        ("k17", SamplingScheme::K17),
        ("uniform1", SamplingScheme::SinglePeriod),
    ] {
        compare_scheme(scheme, &schemes[name]);
        assert!(number(&schemes[name]["max_range_err_m"]) < 1e-9);
    }
    // The scheme that is refused by name is the one that the reference finds degenerate.
    assert_eq!(schemes["naive"]["cond"], "inf");
    assert!(SamplingScheme::from_name("naive").is_err());
}

/// Sums of one to five returns: phases, amplitudes, ranges, derivatives and the measurement.
#[test]
fn phases_of_summed_returns_match() {
    let golden = golden();
    let cases = golden["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 10);
    for case in cases {
        let (powers, ranges) = (numbers(&case["L"]), numbers(&case["R"]));
        compare_measurement(wrapped(&ranges, &powers), &case["measure_rmax5.6"]);
        for (k, name) in ["f1", "f2"].into_iter().enumerate() {
            compare_wave(k, &ranges, &powers, &case[name]);
            compare_derivatives(k, &ranges, &powers, &case[name]);
        }
    }
}

/// The reference samples $\cos(\omega t-\varphi)$, a quarter period from the sine here: its sums
/// $C=\sum s\cos$, $S=\sum s\sin$ are $N/2$ times the phasor's parts. Its "eq. 4" phase is
/// $\pi/2-\varphi$.
fn compare_wave(k: usize, ranges: &[f64], powers: &[f64], reference: &Value) {
    let wave = waves(ranges, powers)[k];
    let half = SAMPLES as f64 / 2.0;
    close(wave.re * half, &reference["C"], 1e-9);
    close(wave.im * half, &reference["S"], 1e-9);
    close(wave.amplitude(), &reference["amp"], 1e-9);
    let turned = |angle: f64| angle.rem_euclid(TAU);
    close(turned(wave.phase()), &reference["dphi"], 1e-9);
    close(
        turned(wave.phase()),
        &reference["dphi_with_offset_both"],
        1e-9,
    );
    let equation_4 = FRAC_PI_2 - wave.phase();
    let difference = equation_4 - number(&reference["phi_eq4_rx"]);
    assert!((difference - (difference / TAU).round() * TAU).abs() < 1e-9);
    close(FRAC_PI_2, &reference["phi_eq4_tx"], 1e-9);
    close(
        wrapped(ranges, powers)[k],
        &reference["wrapped_range"],
        1e-9,
    );
}

fn compare_derivatives(k: usize, ranges: &[f64], powers: &[f64], reference: &Value) {
    type D = Dual<10>;
    let mut wave = Phasor::<D>::zero();
    for (j, (&range, &power)) in ranges.iter().zip(powers).enumerate() {
        let phase = MODULATION.phases(D::variable(range, j))[k];
        wave.add(D::variable(power, j + 5), phase);
    }
    let range = MODULATION.wrapped_ranges([wave.phase(); 2])[k];
    let gradient = range.gradient();
    for (j, (by_range, by_power)) in numbers(&reference["dRange_dR"])
        .into_iter()
        .zip(numbers(&reference["dRange_dL"]))
        .enumerate()
    {
        assert!((gradient[j] - by_range).abs() < 1e-9);
        assert!((gradient[j + 5] - by_power).abs() < 1e-9);
    }
}

/// Samples of the sum of sines, not of the summed phasor: 1e-12 as the reference says
/// (`max_|DFT-phasor|`, 1.0e-13 there, 2e-13 here).
#[test]
fn the_fourier_sum_equals_the_closed_form() {
    let golden = golden();
    let mut compared = 0;
    for case in golden["cases"].as_array().expect("a list") {
        let (powers, ranges) = (numbers(&case["L"]), numbers(&case["R"]));
        for (k, closed) in waves(&ranges, &powers).into_iter().enumerate() {
            for (name, scheme) in SamplingScheme::ALL {
                let sampled = scheme.phasor(|carrier| {
                    let returns = ranges.iter().zip(&powers);
                    returns
                        .map(|(&r, p)| p * (carrier.phase - MODULATION.phases(r)[k]).sin())
                        .sum()
                });
                let error = (sampled.re - closed.re).hypot(sampled.im - closed.im);
                assert!(error < 1e-12, "{name}: {error}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 80);
}

#[test]
fn the_phase_grows_with_range() {
    let golden = golden();
    let footnote = &golden["footnote1"];
    let phase = MODULATION.phases(number(&footnote["R"]))[0];
    close(phase, &footnote["correct_phase_4pi_f_R_over_c"], 1e-9);
    assert!((phase - number(&footnote["misprint_4pi_f_over_cR"])).abs() > 1.0);
}

/// Noise-free ranges come back, with the reference's whole periods in each interval.
#[test]
fn the_search_is_exact_without_noise() {
    let golden = golden();
    let intervals = &golden["ambiguity_noisefree"]["cases_n1n2"];
    for (periods, interval) in intervals.as_object().expect("intervals") {
        let ends = numbers(interval);
        for i in 0..=50 {
            let range = ends[0] + (ends[1] - ends[0]) * f64::from(i) / 50.0;
            let phases = MODULATION.phases(range);
            let wrapped = MODULATION.wrapped_ranges(phases);
            let found = AMBIGUITY
                .search(&MODULATION, wrapped, RANGE_LIMITS)
                .expect("within the limits");
            assert!((found.range - range).abs() < 1e-9, "{range}");
            let found = format!("{},{}", found.periods[0], found.periods[1]);
            assert_eq!(&found, periods, "{range}");
        }
    }
}

#[test]
fn the_chinese_remainder_theorem_resolves_22_metres() {
    let golden = golden();
    let crt = &golden["ambiguity_crt_full"];
    close(MODULATION.combined_ambiguity(), &crt["span"], 1e-12);
    for i in 0..2254 {
        let range = f64::from(i) * 0.01 + 1e-6;
        let wrapped = MODULATION.wrapped_ranges(MODULATION.phases(range));
        let found = AMBIGUITY.whole(&MODULATION, wrapped);
        assert!((found.range - range).abs() < 1e-9, "{range}: {found:?}");
    }
}

/// 40,000 draws a level: error rates within five standard errors of the reference's (which has its
/// own), spread within 2 %.
#[test]
fn gross_errors_and_spread_follow_the_phase_noise() {
    let golden = golden();
    let levels = golden["phase_noise"].as_array().expect("a list");
    assert_eq!(levels.len(), 5);
    for (level, reference) in levels.iter().enumerate() {
        let sd = number(&reference["sigma_phi"]);
        close(
            sd * MODULATION.ambiguities()[0] / TAU,
            &reference["sigma_r1"],
            1e-12,
        );
        let theory = Combination::FrequencySquared.range_per_phase(&MODULATION) * sd;
        close(theory, &reference["theory_fused_std"], 1e-12);
        let observed = with_phase_noise(u32::try_from(level).expect("few levels"), sd);
        let rate_is_near = |ours: f64, key: &str| {
            let theirs = number(&reference[key]);
            let error = (theirs.max(1e-5) / 40_000.0).sqrt();
            assert!(
                (ours - theirs).abs() < 6.0 * error,
                "{key}: {ours} {theirs}"
            );
        };
        rate_is_near(observed.search_errors, "gross_err_rate_search");
        rate_is_near(observed.whole_errors, "gross_err_rate_crt");
        let spread = observed.fused_sd / theory;
        assert!((spread - 1.0).abs() < 0.02, "{spread}");
    }
}

struct Observed {
    search_errors: f64,
    whole_errors: f64,
    fused_sd: f64,
}

fn with_phase_noise(level: u32, sd: f64) -> Observed {
    const DRAWS: u32 = 40_000;
    let ambiguity = AMBIGUITY;
    let (mut search_errors, mut whole_errors, mut inliers, mut square) = (0, 0, 0, 0.0);
    for draw in 0..DRAWS {
        let mut stream = Stream::new(1, 0, level, draw, Purpose::ReceiverNoise);
        let range = 0.3 + 5.0 * stream.uniform();
        let noise = stream.normal_pair();
        let phases = MODULATION.phases(range);
        let wrapped =
            MODULATION.wrapped_ranges([phases[0] + sd * noise[0], phases[1] + sd * noise[1]]);
        let found = ambiguity
            .search(&MODULATION, wrapped, RANGE_LIMITS)
            .expect("candidates");
        if (found.range - range).abs() > 0.2 {
            search_errors += 1;
        } else {
            let fused = Combination::FrequencySquared.combine(&MODULATION, found.ranges);
            square += (fused - range).powi(2);
            inliers += 1;
        }
        let whole = ambiguity.whole(&MODULATION, wrapped);
        whole_errors += u32::from((whole.range - range).abs() > 0.2);
    }
    Observed {
        search_errors: f64::from(search_errors) / f64::from(DRAWS),
        whole_errors: f64::from(whole_errors) / f64::from(DRAWS),
        fused_sd: (square / f64::from(inliers)).sqrt(),
    }
}

/// Additive noise on the samples, 20,000 waves: within 2 % of theory and of the reference's own
/// experiment (standard error 0.5 %).
#[test]
fn phase_noise_is_root_two_over_n() {
    let golden = golden();
    let reference = &golden["additive_noise"];
    let sd = number(&reference["sigma_n"]);
    let theory = phase_noise(sd, 1.0);
    close(theory, &reference["theory_sqrt_2_over_N"], 1e-15);
    let mut square = 0.0;
    for wave in 0..20_000 {
        let mut stream = Stream::new(5, 0, 0, wave, Purpose::ReceiverNoise);
        let sampled = SamplingScheme::Pair.phasor(|carrier| carrier.sin + sd * stream.normal());
        square += sampled.phase().powi(2);
    }
    let measured = (square / 20_000.0).sqrt();
    assert!((measured / theory - 1.0).abs() < 0.02, "{measured}");
    assert!((measured / number(&reference["sigma_phi_mc"]) - 1.0).abs() < 0.02);
}

#[test]
fn mixed_pixels_match() {
    let golden = golden();
    let near = 1.0;
    let equal_weights = &golden["mixed_two_returns_at_1_and_1+D"];
    let physical = &golden["mixed_physical_weights"];
    let (mut compared, mut fragile) = (0, 0);
    for case in equal_weights.as_array().expect("a list") {
        let far = near + number(&case["D"]);
        compare_measurement(wrapped(&[near, far], &numbers(&case["L"])), case);
        compared += 1;
        fragile += i32::from(case["fragile"] == true);
    }
    for case in physical.as_array().expect("a list") {
        let front = number(&case["front_fraction"]);
        let far = near + number(&case["D"]);
        let powers = [front / (near * near), (1.0 - front) / (far * far)];
        compare_measurement(wrapped(&[near, far], &powers), case);
        compared += 1;
    }
    assert_eq!((compared, fragile), (41, 5));
}
