//! Incidences that a profile covers.

use super::Check;
use etendue_physics::profile::Profile;

/// Widest incidence below which a profile is doubtful, and refused, degrees.
const WIDEST_DEG: [f64; 2] = [12.0, 4.0];

/// Least incidence above which a profile is doubtful, and refused, degrees.
const SQUAREST_DEG: [f64; 2] = [10.0, 45.0];

/// Checks of the least and the greatest incidence of the recorded knots.
pub(super) fn span_checks(profile: &Profile) -> [Check; 2] {
    let recorded = profile.knots.iter().filter(|knot| !knot.extrapolated);
    let incidences = recorded.map(|knot| knot.incidence.to_degrees());
    let widest = incidences.clone().fold(0.0, f64::max);
    let squarest = incidences.fold(f64::INFINITY, f64::min);
    [
        Check {
            name: "least incidence, degrees",
            value: squarest,
            limits: SQUAREST_DEG,
            finding: format!(
                "no beam is within {squarest:.0} degrees of the normal: the distance of the plane is extrapolated"
            ),
        },
        Check {
            name: "incidences that are not covered, degrees",
            value: 90.0 - widest,
            limits: WIDEST_DEG.map(|widest| 90.0 - widest),
            finding: format!("the recording covers incidences to {widest:.0} degrees only"),
        },
    ]
}
