//! Edges of a panel: growth of a flat run outwards as long as its surface continues.

use super::plane::PanelPlane;
use super::segment::{GRAZING, Interruption, SPOT, Segment, scales};
use super::sight::{Sight, View, allowance};
use crate::noise::modes::RangeMode;
use crate::noise::recording::azimuth;
use etendue_physics::angle::wrap_to_pi;

/// Number of preceding directions whose distances are averaged.
const NEIGHBOURS: usize = 5;

/// Number of directions after a gap that continue a panel.
const RESUMING: usize = 4;

/// Change of the distance per angle of a gap (rad), relative to the distance: of systematic errors.
const DRIFT: f64 = 0.03;

/// Angles of the edges of a panel from its normal, rad: the run of directions on its plane, continued
/// outwards on both sides.
///
/// A direction continues the panel if its distance agrees with that of the five preceding directions within
/// four standard errors (of its median range and of the deviations of the run), 2 mm and 0.2 % of the
/// distance, and with the plane within the [`allowance`]. This tolerates a range error that
/// grows slowly with incidence; a jump ends the panel, unless it is an object before the panel.
pub(super) fn edges(sights: &[Sight], plane: &PanelPlane, segment: &Segment) -> [f64; 2] {
    let growth = Growth::new(sights, plane, segment);
    let count = sights.len();
    let bearing = azimuth(&plane.normal);
    let angle = |sight: usize| wrap_to_pi(sights[sight].azimuth - bearing);
    let (Some(right), Some(left)) = (segment.members.first(), segment.members.last()) else {
        return [0.0; 2];
    };
    let distances = |members: &mut dyn Iterator<Item = usize>| -> Vec<f64> {
        let members: Vec<usize> = members.take(NEIGHBOURS).collect();
        let distance = |number: &usize| {
            growth.distance(
                &segment.members[*number].mode,
                segment.members[*number].sight,
            )
        };
        members.iter().rev().map(distance).collect()
    };
    let members = segment.members.len();
    let at_right = distances(&mut (0..members));
    let at_left = distances(&mut (0..members).rev());
    [
        angle(growth.end(right.sight, count - 1, at_right)),
        angle(growth.end(left.sight, 1, at_left)),
    ]
}

/// Growth of a panel.
struct Growth<'a> {
    sights: &'a [Sight],
    plane: &'a PanelPlane,
    /// Robust standard deviation of the distances of the run about the plane, m.
    deviation: f64,
    /// Median spread of one range in the run, m.
    spread: f64,
}

impl<'a> Growth<'a> {
    fn new(sights: &'a [Sight], plane: &'a PanelPlane, segment: &Segment) -> Self {
        let [deviation, spread] = scales(sights, segment, plane);
        Self {
            sights,
            plane,
            deviation,
            spread,
        }
    }

    /// Distance of the plane according to a direction, m.
    fn distance(&self, mode: &RangeMode, sight: usize) -> f64 {
        mode.median * self.plane.cos_incidence(&self.sights[sight].direction)
    }

    /// Last direction of the panel from one of its directions to one side.
    fn end(&self, from: usize, step: usize, mut distances: Vec<f64>) -> usize {
        let count = self.sights.len();
        let mut last = from;
        let mut interruption = Interruption::default();
        for number in 1..count {
            // End at a gap, at grazing incidence, or at the view past the edge
            let index = (from + number * step) % count;
            let sight = &self.sights[index];
            let gap = sight.angle_to(&self.sights[last]);
            if gap > interruption.widest() || self.plane.incidence(&sight.direction) > GRAZING {
                break;
            }
            // Continue the panel, after a gap only where several directions do
            match self.view(index, &distances, gap) {
                View::Plane(mode) => {
                    if gap > SPOT && !self.resumes(index, step, &distances, gap) {
                        continue;
                    }
                    distances.push(self.distance(&mode, index));
                    last = index;
                    interruption = Interruption::default();
                }
                other => interruption.add(&other),
            }
        }
        last
    }

    /// What a direction sees relative to the panel as continued to it.
    fn view(&self, index: usize, distances: &[f64], gap: f64) -> View {
        let sight = &self.sights[index];
        let incidence = self.plane.incidence(&sight.direction);
        let recent = &distances[distances.len().saturating_sub(NEIGHBOURS)..];
        let expected = recent.iter().sum::<f64>() / recent.len().max(1) as f64;
        let plain = 0.002 + (0.002 + DRIFT * (gap - SPOT).max(0.0)) * self.plane.distance;
        let view = sight.view(self.plane, expected, |mode| {
            let of_median = 1.25 * mode.spread * incidence.cos() / (mode.count as f64).sqrt();
            let ratio = (mode.spread / self.spread.max(1e-6)).clamp(1.0, 10.0);
            4.0 * of_median.hypot(self.deviation * ratio) + plain
        });
        match view {
            View::Plane(mode)
                if (self.distance(&mode, index) - self.plane.distance).abs()
                    > allowance(incidence, self.plane.distance) =>
            {
                View::Farther
            }
            view => view,
        }
    }

    /// Whether the panel continues after a gap: most of the next directions are on it.
    fn resumes(&self, from: usize, step: usize, distances: &[f64], gap: f64) -> bool {
        let count = self.sights.len();
        let next = (0..RESUMING).map(|number| (from + number * step) % count);
        let on = next.filter(|index| matches!(self.view(*index, distances, gap), View::Plane(_)));
        on.count() + 1 >= RESUMING
    }
}
