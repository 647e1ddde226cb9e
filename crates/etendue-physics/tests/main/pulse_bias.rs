//! `golden/pulse_bias.json`: the bias of pulsed ranging on inclined planes, by independent
//! numerical quadrature.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use etendue_physics::pulse::{
    Discriminator, EchoFinder, InclinedPlane, Pulse, SamplingWindow, Waveform, centroid_bias,
    constant_fraction_bias, threshold_walk,
};
use serde_json::Value;

/// The tolerance that the file states, m.
const TOLERANCE: f64 = 2e-5;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/pulse_bias.json")).unwrap()
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap()
}

/// The beam that the file names: 0.35 degrees and 5 mm FWHM.
fn beam() -> BeamWidth {
    let round = |width| Divergence {
        horizontal: width,
        vertical: width,
        at: DivergenceAt::HalfMaximum,
    };
    BeamWidth {
        shape: BeamShape::Gaussian,
        divergence: round(0.35_f64.to_radians()),
        exit: round(5e-3),
    }
}

fn plane(distance: f64, incidence_deg: f64) -> InclinedPlane<f64> {
    InclinedPlane {
        distance,
        incidence: incidence_deg.to_radians(),
        angular_sd: beam().angular_sd(distance)[0],
    }
}

/// Range that a discriminator reads from a finely sampled waveform, less the true one, m.
fn bias(plane: &InclinedPlane<f64>, pulse: &Pulse, finder: &EchoFinder, reflectance: f64) -> f64 {
    let returns = plane.returns(reflectance);
    let near = returns
        .iter()
        .fold(f64::INFINITY, |near, r| near.min(r.range));
    let far = returns.iter().fold(0.0, |far: f64, r| far.max(r.range));
    let window = SamplingWindow::around(pulse, 2e-3 * pulse.fwhm, near, far);
    let echoes = finder.find(&Waveform::received(pulse, &returns, window));
    assert_eq!(echoes.len(), 1);
    echoes[0].range - plane.distance
}

fn pulse(name: &str) -> Pulse {
    Pulse::gaussian(match name {
        "FWHM1ns" => 1e-9,
        "FWHM5ns" => 5e-9,
        other => panic!("unknown pulse {other}"),
    })
}

fn finder(pulse: &Pulse, discriminator: Discriminator) -> EchoFinder {
    EchoFinder::calibrated(pulse, discriminator, 1e-9, 1e-9, 1e-2)
}

const HALF: Discriminator = Discriminator::ConstantFraction { fraction: 0.5 };
const FIFTH: Discriminator = Discriminator::ConstantFraction { fraction: 0.2 };

#[test]
fn the_bias_of_every_discriminator_is_that_of_the_quadrature() {
    let golden = golden();
    let cases = golden["bias"].as_array().unwrap();
    assert_eq!(cases.len(), 32);
    for case in cases {
        let pulse = pulse(case["pulse"].as_str().unwrap());
        let plane = plane(number(case, "d"), number(case, "gamma_deg"));
        assert!((pulse.range_sd() - number(case, "sigma_p")).abs() < 1e-12);
        assert!((plane.angular_sd - number(case, "sigma_a")).abs() < 1e-12);
        for (key, discriminator) in [
            ("centroid", Discriminator::Centroid),
            ("peak", Discriminator::Peak),
            ("cfd50", HALF),
            ("cfd20", FIFTH),
        ] {
            let measured = bias(&plane, &pulse, &finder(&pulse, discriminator), 0.8);
            let error = measured - number(case, key);
            assert!(
                error.abs() < TOLERANCE,
                "{key} {case}: {measured}, off by {error:e}"
            );
            if key == "cfd50" {
                let to_plane = measured * plane.incidence.cos();
                let expected = number(case, "cfd50_point_to_plane");
                assert!((to_plane - expected).abs() < TOLERANCE);
            }
        }
    }
}

#[test]
fn the_closed_forms_match_the_reference_file() {
    let golden = golden();
    for case in golden["bias"].as_array().unwrap() {
        let plane = plane(number(case, "d"), number(case, "gamma_deg"));
        let InclinedPlane {
            distance,
            incidence,
            angular_sd,
        } = plane;
        let centroid = centroid_bias(distance, angular_sd, incidence);
        assert!((centroid - number(case, "closed_centroid")).abs() < 1e-12);
        let sigma_p = number(case, "sigma_p");
        let cfd = constant_fraction_bias(distance, angular_sd, incidence, sigma_p, 0.5);
        // The file rounds sqrt(2 ln 2) to 1.1774: 3.5e-6 of the bias.
        assert!(
            (cfd - number(case, "closed_cfd50")).abs() < 1e-6,
            "{case}: {cfd}"
        );
    }
}

/// 5 ns pulse; the echo of a target of kR = 0.8 at 5 m head-on reads right.
#[test]
fn the_range_walk_of_a_fixed_threshold_matches_the_quadrature() {
    let golden = golden();
    let cases = golden["fixed_threshold_walk"].as_array().unwrap();
    assert_eq!(cases.len(), 10);
    let pulse = pulse("FWHM5ns");
    let reference_plane = plane(5.0, 0.0);
    for case in cases {
        let (threshold, reference) = (number(case, "thr"), 0.8 / 25.0);
        let finder =
            EchoFinder::calibrated(&pulse, Discriminator::Threshold, threshold, 1e-9, reference);
        let plane = plane(number(case, "d"), number(case, "gamma_deg"));
        let reading = bias(&plane, &pulse, &finder, number(case, "kR"));
        let measured = reading - bias(&reference_plane, &pulse, &finder, 0.8);
        let error = measured - number(case, "bias");
        assert!(
            error.abs() < TOLERANCE,
            "{case}: {measured}, off by {error:e}"
        );
        let closed = threshold_walk(
            &plane,
            pulse.range_sd(),
            number(case, "peak"),
            reference,
            threshold,
        );
        // The closed form takes the echo for a Gaussian.
        assert!(
            (closed - measured).abs() < 2e-3,
            "{case}: {closed} {measured}"
        );
    }
}

/// Distance, incidence and bias over the grid.
fn bias_grid(pulse: &Pulse, discriminator: Discriminator) -> Vec<[f64; 3]> {
    let finder = finder(pulse, discriminator);
    let mut samples = Vec::new();
    for distance in 2..=15 {
        for step in 0..=20 {
            let plane = plane(f64::from(distance), 4.0 * f64::from(step));
            let bias = bias(&plane, pulse, &finder, 0.8);
            samples.push([plane.distance, plane.incidence, bias]);
        }
    }
    samples
}

fn check_fit(name: &str, model: &str, samples: &[[f64; 3]], expected: &Value) {
    let limit = if model.ends_with("_le70") {
        70.0_f64
    } else {
        90.0
    }
    .to_radians();
    let scale = |d: f64| match model.trim_end_matches("_le70") {
        "eps_p" => 1.0,
        "eps_sp" => d,
        "eps_d2" => d * d,
        other => panic!("unknown model {other}"),
    };
    let rows: Vec<[f64; 3]> = samples
        .iter()
        .filter(|[_, incidence, _]| *incidence <= limit)
        .map(|&[d, g, bias]| [scale(d) * g.powi(2), scale(d) * g.powi(4), bias])
        .collect();
    let sum = |of: &dyn Fn(&[f64; 3]) -> f64| rows.iter().map(of).sum::<f64>();
    let (aa, ab, bb) = (
        sum(&|r| r[0] * r[0]),
        sum(&|r| r[0] * r[1]),
        sum(&|r| r[1] * r[1]),
    );
    let (ay, by) = (sum(&|r| r[0] * r[2]), sum(&|r| r[1] * r[2]));
    let determinant = aa * bb - ab * ab;
    let w = [
        (bb * ay - ab * by) / determinant,
        (aa * by - ab * ay) / determinant,
    ];
    let n = rows.len() as f64;
    let residual = sum(&|r| (r[2] - w[0] * r[0] - w[1] * r[1]).powi(2));
    let mean = sum(&|r| r[2]) / n;
    let r2 = 1.0 - residual / sum(&|r| (r[2] - mean).powi(2));
    let rms_mm = 1e3 * (residual / n).sqrt();
    let bias_rms_mm = 1e3 * (sum(&|r| r[2] * r[2]) / n).sqrt();
    // The fitted curve within the file's tolerance on every bias; figures of merit to match.
    let worst = rows.iter().fold(0.0, |worst: f64, r| {
        let other = expected["w"].as_array().unwrap();
        let [u, v] = [0, 1].map(|i| other[i].as_f64().unwrap() - w[i]);
        worst.max((u * r[0] + v * r[1]).abs())
    });
    assert!(worst < TOLERANCE, "{name}: curves differ by {worst:e}");
    assert!(
        (rms_mm - number(expected, "rms_mm")).abs() < 0.02,
        "{name}: rms {rms_mm}"
    );
    let bias_error = (bias_rms_mm - number(expected, "bias_rms_mm")).abs();
    assert!(bias_error < 0.02, "{name}: bias rms {bias_rms_mm}");
    assert!(
        (r2 - number(expected, "R2")).abs() < 2e-3,
        "{name}: R2 {r2}"
    );
}

mod long_tests {
    use super::*;

    /// Least squares of the bias over 14 distances from 2 to 15 m and 21 incidences from 0 to 80
    /// degrees (18 to 68 where the name ends in `le70`), onto two powers of the incidence.
    #[test]
    #[ignore = "14 s on two cores: just long"]
    fn polynomials_fitted_to_the_bias_match_the_reference_file() {
        let golden = golden();
        let fits = golden["poly_fits"].as_object().unwrap();
        assert_eq!(fits.len(), 20);
        for (pulse_name, kind, discriminator) in [
            ("FWHM1ns", "centroid", Discriminator::Centroid),
            ("FWHM1ns", "cfd", HALF),
            ("FWHM5ns", "centroid", Discriminator::Centroid),
            ("FWHM5ns", "cfd", HALF),
        ] {
            let samples = bias_grid(&pulse(pulse_name), discriminator);
            let mut checked = 0;
            for (name, expected) in fits {
                let Some(model) = name.strip_prefix(&format!("{pulse_name}_{kind}_")) else {
                    continue;
                };
                check_fit(name, model, &samples, expected);
                checked += 1;
            }
            assert_eq!(checked, 5, "{pulse_name} {kind}");
        }
    }
}
