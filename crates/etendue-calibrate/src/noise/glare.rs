//! Glare: differences between the two sides of the normal, near normal incidence.

use super::PanelBeams;
use super::smooth::{Curve, Link, Observation, fit_curve};
use super::statistics::{Bin, between_bin_variance, wilson};
use etendue_physics::profile::{Glare, GlareKnot, IntensityKind};

/// Width of the bins of a glare, and distance of its knots, rad: half of an RPLIDAR's samples.
pub(super) const BIN: f64 = 0.5 * DEGREE;

/// Pieces of the splines over signed incidence, rad.
const PIECE: f64 = DEGREE;

/// Incidences that are tested for a glare, rad ...
const INNER: f64 = 3.0 * DEGREE;

/// ... and incidences that give the usual deviation of the panel, rad.
const OUTER: [f64; 2] = [10.0 * DEGREE, 40.0 * DEGREE];

/// Greatest extent of a glare, degrees.
const WIDEST: u32 = 12;

/// Least ratio of the mean square deviation of the bins near the normal from the common curve to that of
/// the other bins: Snedecor's F at 0.1 % for 6 and 24 independent bins.
const LEAST_RATIO: f64 = 5.55;

/// Greatest ratio of the mean square deviation of a ring of two degrees beyond a glare to that of the
/// other bins: for 4 bins it is exceeded by chance in 1 of 60.
const ENDED: f64 = 3.0;

/// Width of the transition at the end of a glare, rad.
const FADE: f64 = DEGREE;

/// Width of those rings, rad.
const RING: f64 = 2.0 * DEGREE;

/// Ratios of spreads below this are not significant.
const NOISY: f64 = 1.25;

/// Least lateral component of beams that distinguish left and right.
const SIDEWAYS: f64 = 0.7;

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Extent of a glare from the normal, rad; `None` where one curve describes both sides. All panels that
/// were measured on both sides must show it: `panels` are their bins of a width (rad).
pub(super) fn reach(panels: &[Vec<Bin>], width: f64, piece: f64) -> Option<f64> {
    let of_panel = |bins: &Vec<Bin>| {
        let places = between_bin_variance(std::iter::once(&bins[..]), width);
        reach_of(bins, places, piece)
    };
    let both_sides = panels.iter().filter(|bins| is_seen_on_both_sides(bins));
    both_sides
        .map(of_panel)
        .reduce(|widest, other| widest.zip(other).map(|(a, b)| a.max(b)))
        .flatten()
}

fn is_seen_on_both_sides(bins: &[Bin]) -> bool {
    [true, false].into_iter().all(|left| {
        let is_inner = |bin: &&Bin| bin.left == left && bin.incidence < INNER;
        let inner = bins.iter().filter(is_inner);
        inner.filter(|bin| bin.error.is_some()).count() >= 2
    })
}

/// The same of one panel.
///
/// The curve over incidence, one for both sides, is what a panel without a glare has. Its bins differ
/// from that by their own noise and from place to place (`places`, m²), and by waves of the panel and
/// the device that are longer than that: how much is seen away from the normal, on the same panel.
fn reach_of(bins: &[Bin], places: f64, piece: f64) -> Option<f64> {
    let about = |curve: &Curve, from: f64, to: f64| mean_square(bins, curve, places, from, to);
    let all: Vec<Observation> = bias_observations(bins, places).collect();
    let both = fit_curve(&all, piece, Link::Identity)?;
    let usual = about(&both, OUTER[0], OUTER[1])?.max(1.0);
    if about(&both, 0.0, INNER)? < LEAST_RATIO * usual {
        return None;
    }
    let is_quiet = |reach: f64| {
        let beyond: Vec<Observation> = bias_observations(bins, places)
            .filter(|seen| seen.x >= reach)
            .collect();
        let curve = fit_curve(&beyond, piece, Link::Identity)?;
        let usual = about(&curve, reach.max(OUTER[0]), OUTER[1])?.max(1.0);
        let rings = (0..).map(|ring| reach + f64::from(ring) * DEGREE);
        let mut rings = rings.take_while(|from| *from < f64::from(WIDEST) * DEGREE);
        rings
            .all(|from| about(&curve, from, from + RING).is_none_or(|ring| ring < ENDED * usual))
            .then_some(reach)
    };
    let ended = (2..=WIDEST).find_map(|degrees| is_quiet(f64::from(degrees) * DEGREE))?;
    Some(ended + FADE)
}

/// Mean errors of bins, weighted by one over the sum of their own noise's variance and that from place
/// to place.
fn bias_observations(bins: &[Bin], places: f64) -> impl Iterator<Item = Observation> {
    bins.iter().filter_map(move |bin| {
        Some(Observation {
            x: bin.incidence,
            y: bin.error?.mean,
            weight: 1.0 / (bin.mean_variance()? + places),
            fold: super::curves::fold(bin),
        })
    })
}

/// Mean square of the bins' distance from a curve in units of their own noise.
fn mean_square(bins: &[Bin], curve: &Curve, places: f64, from: f64, to: f64) -> Option<f64> {
    let squares: Vec<f64> = bias_observations(bins, places)
        .filter(|seen| (from..to).contains(&seen.x))
        .map(|seen| seen.weight * (seen.y - curve.at(seen.x)).powi(2))
        .collect();
    (!squares.is_empty()).then(|| squares.iter().sum::<f64>() / squares.len() as f64)
}

/// Curves over signed incidence that are added to the curves over incidence.
pub(super) struct GlareCurves {
    reach: f64,
    places: f64,
    bins: Vec<Bin>,
    bias: Curve,
    log_ratio: Option<Curve>,
    drop_out: Option<Curve>,
    intensity: Option<Curve>,
}

/// Common curves of both sides of the normal, over incidence.
pub(super) struct Alike<'a> {
    pub bias: &'a dyn Fn(f64) -> f64,
    pub drop_out: &'a dyn Fn(f64) -> f64,
    /// Of the intensity, and of a bin what it is compared with.
    pub intensity: &'a dyn Fn(f64) -> f64,
    pub of_bin: &'a dyn Fn(&Bin) -> f64,
}

impl GlareCurves {
    /// The curves of narrow bins about the normal, apart from what both sides have alike.
    pub fn fit(bins: Vec<Bin>, reach: f64, places: f64, usual: f64, alike: &Alike) -> Option<Self> {
        let bins: Vec<Bin> = bins
            .into_iter()
            .filter(|bin| bin.incidence < reach)
            .collect();
        let curve = |value: &dyn Fn(&Bin) -> Option<(f64, f64)>, link| {
            fit_curve(&observed(&bins, value), PIECE, link)
        };
        let bias = curve(
            &|bin| {
                let variance = bin.mean_variance()? + places;
                Some((
                    bin.error?.mean - (alike.bias)(bin.incidence),
                    1.0 / variance,
                ))
            },
            Link::Identity,
        )?;
        // Of those that would return otherwise: what is lost, if anything dropped at all.
        let drops = bins.iter().any(|bin| bin.drop_out() > 0.0);
        let lost = |bin: &Bin| {
            let kept = (1.0 - (alike.drop_out)(bin.incidence)).max(1e-6);
            (1.0 - (1.0 - bin.drop_out()) / kept).clamp(0.0, 1.0)
        };
        let drop_out = drops
            .then(|| {
                curve(
                    &|bin| Some((lost(bin), bin.effective_samples(usual))),
                    Link::Logit,
                )
            })
            .flatten();
        let intensity = curve(
            &|bin| {
                let excess = (alike.of_bin)(bin) - (alike.intensity)(bin.incidence);
                (bin.returned >= 1.0).then_some((excess, bin.returned))
            },
            Link::Identity,
        );
        Some(Self {
            reach,
            places,
            bias,
            log_ratio: None,
            drop_out,
            intensity,
            bins,
        })
    }

    /// How far from the normal it reaches, rad.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Contribution to the bias at a signed incidence, m.
    pub fn bias(&self, signed: f64) -> f64 {
        self.shaped(signed, |s| self.bias.at(s))
    }

    /// Nothing at the ends of the glare and beyond; fading over the last degree.
    fn shaped(&self, signed: f64, value: impl Fn(f64) -> f64) -> f64 {
        let left = (self.reach - signed.abs()) / FADE;
        if left > 0.0 {
            left.min(1.0) * value(signed)
        } else {
            0.0
        }
    }

    /// The spread about the smooth bias, over that of both sides.
    pub fn fit_spread(&mut self, about: &[Bin], spread: impl Fn(f64) -> f64) {
        let inside: Vec<Bin> = { about.iter() }
            .filter(|bin| bin.incidence < self.reach)
            .cloned()
            .collect();
        let observations = observed(&inside, &|bin| {
            let error = bin.error?;
            let samples = bin.effective_ranges().max(1.0);
            let own = error.sd.hypot(error.mean) * (0.5 * short_of(samples)).exp();
            let own = own.max(bin.hidden).max(1e-6);
            let ratio = own / spread(bin.incidence).max(1e-6);
            Some((ratio.ln(), 2.0 * samples))
        });
        self.log_ratio = fit_curve(&observations, PIECE, Link::Identity);
    }

    /// The glare of a profile; `dropped` is the share that drops on both sides alike.
    pub fn glare(
        &self,
        intensity: IntensityKind,
        usual: f64,
        dropped: impl Fn(f64) -> f64,
    ) -> Glare {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "ten degrees have few knots"
        )]
        let count = (self.reach / BIN).round() as i32;
        let mut knots: Vec<GlareKnot> = (-count..=count)
            .map(|number| {
                self.knot(
                    f64::from(number) * self.reach / f64::from(count),
                    intensity,
                    usual,
                )
            })
            .collect();
        for knot in &mut knots {
            let kept = 1.0 - dropped(knot.incidence.abs());
            let lost = |all: f64| (1.0 - (1.0 - all) / kept.max(1e-6)).clamp(0.0, 1.0);
            knot.drop_out_interval = knot.drop_out_interval.map(lost);
        }
        Glare {
            centre: centre(&knots),
            knots,
        }
    }

    fn knot(&self, signed: f64, intensity: IntensityKind, usual: f64) -> GlareKnot {
        let near = |width: f64| {
            let is_near = move |bin: &&Bin| (signed_incidence(bin) - signed).abs() <= width;
            self.bins.iter().filter(is_near)
        };
        let value = |curve: &Option<Curve>| {
            let at = |curve: &Curve| self.shaped(signed, |s| curve.at(s));
            curve.as_ref().map_or(0.0, at)
        };
        let weight: f64 = near(1.5 * BIN)
            .filter_map(|bin| Some(1.0 / (bin.mean_variance()? + self.places)))
            .sum();
        let effective_ranges: f64 = near(1.5 * BIN).map(Bin::effective_ranges).sum();
        let samples: f64 = near(1.5 * BIN)
            .map(|bin| bin.effective_samples(usual))
            .sum();
        let dropped: f64 = near(1.5 * BIN)
            .map(|bin| bin.effective_samples(usual) * bin.drop_out())
            .sum();
        let spread_ratio = value(&self.log_ratio).exp();
        let has_intensity = !matches!(intensity, IntensityKind::None | IntensityKind::Constant(_));
        GlareKnot {
            incidence: signed,
            count: near(BIN).map(|bin| bin.beams).sum(),
            bias: value(&Some(self.bias.clone())),
            bias_error: 1.0 / weight.max(1e-300).sqrt(),
            spread_ratio,
            spread_ratio_error: spread_ratio / (2.0 * effective_ranges.max(1.0)).sqrt(),
            drop_out: value(&self.drop_out).clamp(0.0, 1.0),
            drop_out_interval: wilson(dropped, samples),
            intensity: if has_intensity {
                value(&self.intensity)
            } else {
                0.0
            },
        }
    }
}

/// Bias of the mean logarithm of a variance of `k` samples,
/// $\\ln(k/2)-\\psi(k/2)$ (Bartlett and Kendall 1946, doi:10.2307/2983618), to 5 %: half degrees are few
/// directions.
fn short_of(samples: f64) -> f64 {
    1.0 / samples + 1.0 / (3.0 * samples * samples)
}

/// The middle of a glare: where light is too much, beams are lost and ranges spread. Where they do not
/// (by half of the spread at one knot in all), where ranges are off.
fn centre(knots: &[GlareKnot]) -> f64 {
    let middle = |weight: &dyn Fn(&GlareKnot) -> f64| {
        let all: f64 = knots.iter().map(weight).sum();
        let moment: f64 = knots.iter().map(|k| weight(k) * k.incidence).sum();
        [all, moment / all.max(1e-12)]
    };
    let [all, dazzled] = middle(&|knot| knot.drop_out + (knot.spread_ratio - NOISY).max(0.0));
    if all > 0.5 {
        dazzled
    } else {
        middle(&|knot| knot.bias.abs())[1]
    }
}

/// Incidence of a bin, positive left of the normal.
fn signed_incidence(bin: &Bin) -> f64 {
    if bin.left {
        bin.incidence
    } else {
        -bin.incidence
    }
}

/// Values of bins over signed incidence; every fifth half degree is left out together.
fn observed(bins: &[Bin], value: &dyn Fn(&Bin) -> Option<(f64, f64)>) -> Vec<Observation> {
    let observation = |bin: &Bin| {
        let (y, weight) = value(bin)?;
        let x = signed_incidence(bin);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a remainder of four"
        )]
        let fold = (x / BIN).floor().rem_euclid(5.0) as usize;
        Some(Observation { x, y, weight, fold })
    };
    bins.iter().filter_map(observation).collect()
}

/// The beams with a significant lateral component.
pub(super) fn sideways(beams: &PanelBeams) -> PanelBeams {
    PanelBeams {
        beams: { beams.beams.iter() }
            .filter(|beam| beam.side.abs() >= SIDEWAYS)
            .copied()
            .collect(),
        ..*beams
    }
}
