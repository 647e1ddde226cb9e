//! Placement of a declared width on the plane of a panel.

use super::plane::PanelPlane;
use super::segment::{GRAZING, SPOT};
use super::select::BEARING_ACCURACY;
use crate::noise::recording::azimuth;
use etendue_physics::angle::wrap_to_pi;
use std::f64::consts::PI;

/// Angles of the ends of a panel of a declared width from its normal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// Angles of the two ends, rad.
    pub edges: [f64; 2],
    /// Warning about declared values that disagree with the detected edges or do not place the panel.
    pub warning: Option<String>,
}

impl Placement {
    /// The ends of a panel of a declared `width` (m) and `bearing` (rad), with the edges `detected` (rad).
    ///
    /// If the width agrees with the detected edges, within the extent of the spot at each, these are the
    /// ends. Otherwise the interval is centred on the declared bearing, or on the foot of the normal without one, and
    /// shifted so that it contains the detected edges. If the surface is wider than declared, the detected edges
    /// contain the interval.
    pub(super) fn new(
        plane: &PanelPlane,
        width: f64,
        bearing: Option<f64>,
        detected: [f64; 2],
    ) -> Self {
        // Compare the width with that between the detected edges
        let position = |angle: f64| plane.distance * angle.clamp(-GRAZING, GRAZING).tan();
        let angle = |position: f64| (position / plane.distance).atan().clamp(-GRAZING, GRAZING);
        let [right, left] = detected.map(position);
        let tolerance: f64 = detected
            .iter()
            .map(|edge| SPOT * plane.distance / edge.cos().powi(2))
            .sum();
        let seen = left - right;
        let missing = width - seen;
        let declared = bearing
            .map(|bearing| wrap_to_pi(bearing - azimuth(&plane.normal)))
            .filter(|middle| middle.abs() < 0.5 * PI);
        let is_seen = missing.abs() <= tolerance;

        // Centre the width as near to the declared bearing as the detected edges permit
        let limits = [left - 0.5 * width, right + 0.5 * width];
        let [low, high] = [limits[0].min(limits[1]), limits[0].max(limits[1])];
        let middle = position(declared.unwrap_or(0.0)).clamp(low, high);
        let edges = if is_seen {
            detected
        } else {
            [angle(middle - 0.5 * width), angle(middle + 0.5 * width)]
        };

        // Report values that disagree
        let [from, to] = edges.map(f64::to_degrees);
        let off = declared.filter(|declared| (declared - angle(middle)).abs() > BEARING_ACCURACY);
        let warning = if let Some(declared) = off {
            Some(format!(
                "the declared bearing is {:.1} degrees from the middle of the panel, whose detected edges are at {:.1} \
                 and {:.1} degrees about its normal: the panel is from {from:.1} to {to:.1} degrees",
                (declared - angle(middle)).abs().to_degrees(),
                detected[0].to_degrees(),
                detected[1].to_degrees(),
            ))
        } else if is_seen || (missing > 0.0 && declared.is_some()) {
            None
        } else if missing < 0.0 {
            Some(format!(
                "declared width {width} m, but the panel is {seen:.2} m wide between its detected edges: limited to \
                 {from:.1} to {to:.1} degrees about its normal"
            ))
        } else {
            Some(format!(
                "declared width {width} m, but only {seen:.2} m return: the panel is taken from {from:.1} to {to:.1} \
                 degrees about its normal; declare the bearing of its middle, which decides where drop-outs are counted"
            ))
        };
        Self { edges, warning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// Ends (m along the panel from the foot of the normal) of a panel of 1.2 m, 0.5 m away, whose returns are
    /// between two positions, and whether there is a warning.
    fn placed(detected: [f64; 2], bearing_deg: Option<f64>) -> ([f64; 2], bool) {
        let plane = PanelPlane {
            normal: Vector3::x(),
            distance: 0.5,
        };
        let bearing = bearing_deg.map(f64::to_radians);
        let detected = detected.map(|position| (position / 0.5).atan());
        let placement = Placement::new(&plane, 1.2, bearing, detected);
        let ends = placement.edges.map(|edge| 0.5 * edge.tan());
        (ends, placement.warning.is_some())
    }

    #[track_caller]
    fn assert_placed(detected: [f64; 2], bearing_deg: Option<f64>, ends: [f64; 2], warns: bool) {
        let (placed, has_warning) = placed(detected, bearing_deg);
        for (a, b) in placed.iter().zip(ends) {
            assert!((a - b).abs() < 1e-9, "{placed:?}, not {ends:?}");
        }
        assert_eq!(has_warning, warns);
    }

    #[test]
    fn edges_that_are_both_seen_are_the_ends() {
        assert_placed([-0.45, 0.74], None, [-0.45, 0.74], false);
        assert_placed([-0.45, 0.74], Some(16.0), [-0.45, 0.74], false);
    }

    /// The middle of the panel is at 16.7 degrees: a declared bearing of -30 degrees disagrees.
    #[test]
    fn a_bearing_that_disagrees_with_the_edges_is_reported() {
        assert_placed([-0.45, 0.74], Some(-30.0), [-0.45, 0.74], true);
    }

    /// Returns end 0.4 m from the foot of the normal on both sides: the bearing decides, within the interval
    /// that contains the returns.
    #[test]
    fn the_bearing_places_a_panel_whose_edges_drop() {
        let middle = (0.15_f64 / 0.5).atan().to_degrees();
        assert_placed([-0.4, 0.4], Some(middle), [-0.45, 0.75], false);
        assert_placed([-0.4, 0.4], None, [-0.6, 0.6], true);
        assert_placed([-0.4, 0.4], Some(60.0), [-0.4, 0.8], true);
        assert_placed([-0.3, 0.7], None, [-0.5, 0.7], true);
    }

    #[test]
    fn a_wider_surface_is_limited_to_the_declared_width() {
        assert_placed([-2.0, 2.0], Some(0.0), [-0.6, 0.6], true);
        assert_placed([-0.3, 2.0], None, [-0.3, 0.9], true);
    }
}
