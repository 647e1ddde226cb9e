use etendue_estimate::experiments::*;
use nalgebra::{Isometry2, Vector2};

#[test]
fn explore_tracks() {
    let base = TrackSettings::default();
    let starts: Vec<Isometry2<f64>> = (0..8)
        .map(|i: u32| {
            let s = |k: u32| if i >> k & 1 == 0 { 0.1 } else { -0.1 };
            let at = base.truth.translation.vector + Vector2::new(s(0), s(1));
            Isometry2::new(at, base.truth.rotation.angle() - s(2) * 1.745)
        })
        .collect();
    for (name, widths, coarse) in [
        ("alone 4 1", vec![4.0, 1.0], 0),
        ("alone 8 4 1", vec![8.0, 4.0, 1.0], 0),
        ("alone 8 1", vec![8.0, 1.0], 0),
        ("coarse 4 1", vec![4.0, 1.0], 2400),
    ] {
        let settings = TrackSettings {
            widths,
            coarse,
            ..base.clone()
        };
        let n = if coarse > 0 { 4 } else { 8 };
        let rows = track_mirror_many(&urg_04lx(), &settings, &starts[..n]).expect("tracked");
        for row in &rows {
            eprintln!(
                "{name}: {} iterations, error {:.5}",
                row.iterations, row.error.total
            );
        }
    }
}

#[test]
fn explore_complex() {
    let settings = LocaliseSettings::complex();
    let row = localise(
        &urg_04lx(),
        &settings,
        Isometry2::new(Vector2::new(0.1, 0.1), 10_f64.to_radians()),
    )
    .expect("x");
    eprintln!("complex: {:?}", row.errors);
    for widest in [4.0, 16.0] {
        let mut settings = LocaliseSettings::complex();
        settings.solver.continuation = Some(etendue_estimate::solve::Continuation {
            widest,
            factor: 4.0,
        });
        let starts: Vec<_> = (0..20)
            .map(|i| {
                let f = |k: f64| ((f64::from(i) * k).fract() - 0.5) * 0.3;
                Isometry2::new(Vector2::new(f(0.618), f(0.414)), f(0.732) * 1.74)
            })
            .collect();
        let rows = localise_many(&urg_04lx(), &settings, &starts).expect("x");
        let good = rows.iter().filter(|r| r.error < 1e-3).count();
        let its: Vec<_> = rows.iter().map(|r| r.errors.len()).collect();
        eprintln!("complex widest {widest}: {good}/20 {its:?}");
        settings.furniture.clear();
        let row = localise(
            &urg_04lx(),
            &settings,
            Isometry2::rotation(60_f64.to_radians()),
        )
        .expect("x");
        eprintln!(
            "empty with robust widest {widest} from 60: {} its, {:.1e}",
            row.errors.len(),
            row.error
        );
    }
}
