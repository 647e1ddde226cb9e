use etendue_calibrate::noise::score::hold_out;
use etendue_calibrate::noise::{Options, PanelHint, Recording};
use etendue_sensors::{Reading, Scan};
use std::sync::Arc;
#[test]
fn zz_tmp() {
    for (m, w) in [
        ("wall", 1.25),
        ("wood", 1.25),
        ("metal", 1.0),
        ("metal2", 0.8),
        ("acrylic", 1.25),
    ] {
        let text =
            std::fs::read_to_string(format!("/work/shared/data/rplidar_apollosim/{m}_data.txt"))
                .unwrap();
        let rows: Vec<[f64; 3]> = text
            .lines()
            .filter(|l| !l.trim().is_empty())
            .map(|l| {
                let v: Vec<f64> = l.split(',').map(|x| x.trim().parse().unwrap()).collect();
                [v[0], v[1], v[2]]
            })
            .collect();
        let azimuths: Arc<[f64]> = rows[..720].iter().map(|r| r[2]).collect();
        let scans: Vec<Scan> = rows
            .chunks_exact(720)
            .enumerate()
            .map(|(n, c)| Scan {
                time: n as f64,
                azimuths: Arc::clone(&azimuths),
                readings: c
                    .iter()
                    .map(|r| {
                        if r[0].is_finite() {
                            Reading::Range(r[0])
                        } else {
                            Reading::NoReturn
                        }
                    })
                    .collect(),
                intensities: c.iter().map(|r| r[1] as f32).collect(),
                odom_from_robot: None,
            })
            .collect();
        let rec = Recording::from_scans(m, &scans).unwrap();
        let hint = PanelHint {
            width: Some(w),
            bearing: Some(std::f64::consts::PI),
            ..PanelHint::default()
        };
        let h = hold_out(
            &[(&rec, hint)],
            &Options {
                wavelength: None,
                ..Options::default()
            },
        )
        .unwrap();
        let s = &h.scores[0].1;
        println!(
            "{m} NLL {:.3} CRPS {:.3}",
            s.negative_log_likelihood,
            s.ranked_probability * 1e3
        );
        for b in &h.set_up {
            println!(
                "   {:2.0} D {:.3} p {:.3}",
                b.incidence[0].to_degrees(),
                b.distance,
                b.probability
            );
        }
        if let Some(g) = &h.calibration.profile.glare {
            println!(
                "  centre {:.2} reach {:.1}",
                g.centre.to_degrees(),
                g.reach().to_degrees()
            );
            for k in &g.knots {
                println!(
                    "    {:5.1} {:.2} +- {:.2} x {:.2} drop {:.3}",
                    k.incidence.to_degrees(),
                    k.bias * 1e3,
                    k.bias_error * 1e3,
                    k.spread_ratio,
                    k.drop_out
                );
            }
        }
        println!(
            "  bias {:?}",
            h.calibration
                .profile
                .knots
                .iter()
                .take(30)
                .map(|k| (k.bias * 1e5).round() / 100.0)
                .collect::<Vec<_>>()
        );
        println!(
            "  spread {:?} corr {:?} pen {:?}",
            h.calibration
                .profile
                .knots
                .iter()
                .take(30)
                .map(|k| (k.spread * 1e5).round() / 100.0)
                .collect::<Vec<_>>(),
            h.calibration.profile.correlation,
            h.calibration.penalties
        );
    }
}
