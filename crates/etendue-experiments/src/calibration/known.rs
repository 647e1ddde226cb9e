//! The known noise profile of the simulated panels.

use etendue_physics::profile::{
    Correlation, DistanceLaw, IntensityKind, Knot, Profile, ReflectanceModel, Steps,
};

/// The noise profile of the panels: bias, spread and drop-out that depend on the incidence, with correlated
/// neighbours and a fixed pattern.
pub(super) fn known_profile() -> Profile {
    let knot = |degrees: i32| {
        let incidence = f64::from(degrees).to_radians();
        Knot {
            incidence,
            bias: 4e-3 - 8e-3 * incidence.powi(2),
            spread: 3e-3 * (1.0 + 2.0 * incidence.powi(2)),
            drop_out: 1.0 / (1.0 + (7.0 - 7.0 * incidence).exp()),
            ..Knot::default()
        }
    };
    Profile {
        sensor: "known".into(),
        material: "panel".into(),
        wavelength: None,
        distance: 1.0,
        law: DistanceLaw::SignalToNoise { floor: 3e-3 },
        steps: Steps::even(1e-3),
        correlation: Correlation::new(0.3, 0.2, 0.2),
        intensity: IntensityKind::None,
        reflectance: ReflectanceModel::default(),
        knots: (0..=80).step_by(2).map(knot).collect(),
        glare: None,
        extrapolated: false,
    }
}
