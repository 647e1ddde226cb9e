//! Mixed returns: echoes in which the light of several surfaces merges.

use super::beam::BeamRays;
use super::description::Lidar;
use super::light::SAME_SURFACE;
use super::receiver::Receiver;

/// Finds the shares of [`Sweep::mixing`](super::Sweep::mixing).
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixing<'a> {
    receiver: &'a Receiver,
    /// Width of the beam at the exit, m, and its growth with the range.
    exit: f64,
    growth: f64,
}

/// Light that a surface returned along one ray.
#[derive(Clone, Copy)]
pub(super) struct RayLight {
    /// Half the optical path, m.
    pub range: f64,
    pub cos_incidence: f64,
    /// Power at the receiver, 1/(m² sr).
    pub power: f64,
}

impl<'a> Mixing<'a> {
    /// The mixing of the returns of a lidar; `None` for phase receivers, which superpose all light.
    pub fn new(lidar: &'a Lidar, rays: &BeamRays<f64>) -> Option<Self> {
        if matches!(lidar.receiver, Receiver::Phase(_)) {
            return None;
        }
        let [exit, growth] = rays.half_width().map(|half| 2.0 * half);
        Some(Self {
            receiver: &lidar.receiver,
            exit,
            growth,
        })
    }

    /// Share of the light of an echo at a `range` (m) that other surfaces sent than that of its strongest ray.
    ///
    /// The light of the echo is that within the [merging distance](Receiver::merging_distance) of it. Rays are on different
    /// surfaces if their ranges differ by more than 1 cm plus $w\\tan\\theta$, with the width $w$ of the beam and the greater
    /// $\\theta$ of their incidences: the depth of a plane in the beam, which no smooth convex surface exceeds.
    pub fn share(&self, range: f64, light: impl Iterator<Item = RayLight> + Clone) -> f32 {
        let reach = self.receiver.merging_distance(range);
        let own = light.filter(|one| one.power > 0.0 && (one.range - range).abs() <= reach);
        let strongest = own.clone().max_by(|a, b| a.power.total_cmp(&b.power));
        let Some(strongest) = strongest else {
            return 0.0;
        };
        let width = self.exit + self.growth * strongest.range;
        let depth = |one: &RayLight| {
            let cos = strongest
                .cos_incidence
                .min(one.cos_incidence)
                .clamp(1e-3, 1.0);
            SAME_SURFACE + width * (1.0 - cos * cos).sqrt() / cos
        };
        let [mut others, mut all] = [0.0; 2];
        for one in own {
            all += one.power;
            if (one.range - strongest.range).abs() > depth(&one) {
                others += one.power;
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a share")]
        let share = (others / all) as f32;
        share
    }
}
