//! The largest flat run of directions of a planar recording.

use super::plane::{PanelPlane, PlaneFit, RangedDirection};
use super::sight::{Sight, View};
use crate::noise::modes::RangeMode;
use etendue_physics::statistics::median;

/// A run of neighbouring directions on one plane. Directions in which nearer objects hide the plane do not
/// interrupt it.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Directions on the plane, by index of the sight, from right to left.
    pub members: Vec<Member>,
    /// Sum of the fractions of the beams of the directions that are on the plane.
    pub weight: f64,
}

/// A direction on a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Index of the sight.
    pub sight: usize,
    /// Its surface on the plane.
    pub mode: RangeMode,
}

/// Widest gap of directions without returns within a surface, rad.
pub(super) const WIDEST_GAP: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Widest object that hides a part of a surface, rad.
const WIDEST_OBJECT: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Widest run of directions that see behind a surface within it, rad: the extent of the spot.
pub(super) const SPOT: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// Greatest incidence on a surface, rad.
pub(super) const GRAZING: f64 = 85.0 * std::f64::consts::PI / 180.0;

/// Numbers of directions between the two that define a candidate.
const STRIDES: [usize; 5] = [8, 16, 32, 64, 128];

/// Number of first directions of candidates.
const STARTS: usize = 240;

/// Least fraction of the directions of a run that are on its plane.
const LEAST_DENSITY: f64 = 0.5;

/// Greatest deviation from a plane that is attributed to noise, relative to its distance.
const LARGEST_NOISE: f64 = 0.05;

/// Number of refinements of the best candidate.
const REFINEMENTS: usize = 3;

/// Search for flat runs among the directions of a planar recording, ordered by azimuth.
pub(super) struct SegmentSearch<'a> {
    sights: &'a [Sight],
    /// Whether a direction can be on the surface.
    free: Vec<bool>,
}

impl<'a> SegmentSearch<'a> {
    /// Search among the directions that `free` selects.
    pub fn new(sights: &'a [Sight], free: Vec<bool>) -> Self {
        Self { sights, free }
    }

    /// The plane with the largest run, refined, with its run; `None` without candidates.
    ///
    /// Candidates are the lines through two surfaces that are 8 to 128 directions apart, at most 240 first
    /// directions: their number is bounded, and the result has no random part.
    pub fn largest(&self) -> Option<(PlaneFit, Segment)> {
        // Compare all candidates
        let count = self.sights.len();
        let step = count.div_ceil(STARTS).max(1);
        let starts = (0..count).step_by(step);
        let pairs =
            starts.flat_map(|first| STRIDES.map(|stride| (first, (first + stride) % count)));
        let best = pairs
            .filter(|(first, second)| self.free[*first] && self.free[*second])
            .flat_map(|pair| self.candidates(pair))
            .filter_map(|(plane, first)| Some((self.run(&plane, first)?, plane, first)))
            .max_by(|a, b| a.0.weight.total_cmp(&b.0.weight));
        let (mut segment, plane, first) = best?;

        // Refine the plane and its run
        let mut fit = plane.refined(&self.points(&segment), true);
        for _ in 0..REFINEMENTS {
            let Some(next) = self.run(&fit.plane, first) else {
                break;
            };
            segment = next;
            fit = fit.plane.refined(&self.points(&segment), true);
        }
        Some((fit, segment))
    }

    /// Lines through the surfaces of two directions, with the first direction.
    fn candidates(&self, (first, second): (usize, usize)) -> Vec<(PanelPlane, usize)> {
        let points = |sight: &Sight| {
            let modes = sight.modes.iter().filter(|mode| sight.fraction(mode) > 0.2);
            let points = modes.map(|mode| sight.direction * mode.median);
            points.collect::<Vec<_>>()
        };
        let ends = points(&self.sights[second]);
        let starts = points(&self.sights[first]);
        let pairs = starts.iter().flat_map(|a| ends.iter().map(|b| [*a, *b]));
        pairs
            .filter_map(|pair| Some((PanelPlane::through(&pair, true)?, first)))
            .collect()
    }

    /// The run of directions on a plane around one of them.
    fn run(&self, plane: &PanelPlane, first: usize) -> Option<Segment> {
        let (mut right, steps_right) = self.walk(plane, first, self.sights.len() - 1);
        let (left, steps_left) = self.walk(plane, first, 1);
        right.reverse();
        right.pop_if(|member| member.sight == first);
        right.extend(left);
        let fraction = |member: &Member| self.sights[member.sight].fraction(&member.mode);
        let weight: f64 = right.iter().map(fraction).sum();
        let steps = (steps_right + steps_left + 1).min(self.sights.len());
        (weight > LEAST_DENSITY * steps as f64).then_some(Segment {
            members: right,
            weight,
        })
    }

    /// Directions on a plane from one of them to one side, and the number of steps to the last.
    fn walk(&self, plane: &PanelPlane, first: usize, step: usize) -> (Vec<Member>, usize) {
        let count = self.sights.len();
        let mut members: Vec<Member> = Vec::new();
        let mut last = (first, 0);
        let mut interruption = Interruption::default();
        for number in 0..count {
            // End at a gap, or at the view past the end of the surface
            let index = (first + number * step) % count;
            let sight = &self.sights[index];
            let gap = sight.angle_to(&self.sights[last.0]);
            if gap > interruption.widest() || plane.incidence(&sight.direction) > GRAZING {
                break;
            }
            // Add the direction
            let view = if self.free[index] {
                sight.view(plane, plane.distance, |mode| tolerance(plane, mode, sight))
            } else {
                View::Nothing
            };
            match view {
                View::Plane(mode) => {
                    members.push(Member { sight: index, mode });
                    last = (index, number);
                    interruption = Interruption::default();
                }
                other => interruption.add(&other),
            }
        }
        (members, last.1)
    }

    /// Directions of a run with their ranges.
    pub fn points(&self, segment: &Segment) -> Vec<RangedDirection> {
        let members = segment.members.iter();
        members
            .map(|member| RangedDirection {
                direction: self.sights[member.sight].direction,
                range: member.mode.median,
            })
            .collect()
    }
}

/// What the directions since the last one on a surface see.
#[derive(Clone, Copy, Default)]
pub(super) struct Interruption {
    /// One sees behind the surface.
    behind: bool,
    /// One has no returns.
    open: bool,
}

impl Interruption {
    /// Widest gap over which the surface continues, rad.
    pub fn widest(self) -> f64 {
        match (self.behind, self.open) {
            (true, _) => SPOT,
            (false, true) => WIDEST_GAP,
            (false, false) => WIDEST_OBJECT,
        }
    }

    /// Adds the view of a direction that is not on the surface.
    pub fn add(&mut self, view: &View) {
        self.behind |= matches!(view, View::Farther);
        self.open |= matches!(view, View::Nothing);
    }
}

/// Tolerance of the distance of a direction on a candidate, m.
fn tolerance(plane: &PanelPlane, mode: &RangeMode, sight: &Sight) -> f64 {
    let cos = plane.cos_incidence(&sight.direction);
    let noise = (3.0 * mode.spread * cos).min(LARGEST_NOISE * plane.distance);
    noise + 0.004 * plane.distance + 0.002
}

/// Robust standard deviation of the distances of a run about its plane, and the median spread of one
/// range, m.
pub(super) fn scales(sights: &[Sight], segment: &Segment, plane: &PanelPlane) -> [f64; 2] {
    let deviation = |member: &Member| {
        let cos = plane.cos_incidence(&sights[member.sight].direction);
        (member.mode.median * cos - plane.distance).abs()
    };
    let mut deviations: Vec<f64> = segment.members.iter().map(deviation).collect();
    let mut spreads: Vec<f64> = segment.members.iter().map(|m| m.mode.spread).collect();
    [
        1.4826 * median(&mut deviations).unwrap_or(0.0),
        median(&mut spreads).unwrap_or(0.0),
    ]
}
