//! Smooth curves over incidence, of all that a profile says.

use super::PanelBeams;
use super::glare::{Alike, GlareCurves};
use super::smooth::{Curve, Link, Observation, fit_curve};
use super::statistics::Bin;
use etendue_physics::profile::{DistanceLaw, Glare, IntensityKind};

/// Pieces of the splines over incidence, rad.
pub(super) const PIECE: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// What is left out together: one side of the normal, in blocks of five degrees.
pub(super) fn fold(bin: &Bin) -> usize {
    let block = (bin.incidence.to_degrees() / 5.0).floor() % 2.0;
    2 * usize::from(bin.left) + usize::from(block > 0.5)
}

/// Bins of an incidence and more, rad.
fn beyond(bins: &[Bin], incidence: f64) -> Vec<Bin> {
    { bins.iter() }
        .filter(|bin| bin.incidence >= incidence)
        .cloned()
        .collect()
}

/// Smooth curves over incidence.
pub(super) struct Curves {
    pub bias: Option<Curve>,
    pub log_spread: Option<Curve>,
    pub drop_out: Option<Curve>,
    pub intensity: Option<Curve>,
    pub intensity_spread: Option<Curve>,
    glare: Option<GlareCurves>,
}

/// Of the intensity what is fitted: of a two-valued one, the share of the higher.
fn intensity_of(bin: &Bin, kind: IntensityKind) -> f64 {
    match kind {
        IntensityKind::TwoValued { low, high } => (bin.intensity[0] - low) / (high - low),
        _ => bin.intensity[0],
    }
}

impl Curves {
    pub fn fit(bins: &[Bin], intensity: IntensityKind, usual: f64, places: f64) -> Self {
        let curve = |value: &dyn Fn(&Bin) -> Option<(f64, f64)>, link| {
            let observations: Vec<Observation> = { bins.iter() }
                .filter_map(|bin| {
                    let (y, weight) = value(bin)?;
                    let (x, fold) = (bin.incidence, fold(bin));
                    Some(Observation { x, y, weight, fold })
                })
                .collect();
            fit_curve(&observations, PIECE, link)
        };
        Self {
            bias: curve(
                &|bin| {
                    let variance = bin.mean_variance()? + places;
                    Some((bin.error?.mean, 1.0 / variance))
                },
                Link::Identity,
            ),
            log_spread: None,
            drop_out: curve(
                &|bin| Some((bin.drop_out(), bin.effective_samples(usual))),
                Link::Logit,
            ),
            intensity: curve(
                &|bin| (bin.returned >= 1.0).then(|| (intensity_of(bin, intensity), bin.returned)),
                Link::Identity,
            ),
            intensity_spread: curve(
                &|bin| (bin.returned >= 3.0).then(|| (bin.intensity[1], bin.returned)),
                Link::Identity,
            ),
            glare: None,
        }
    }

    /// The curves of what lies beyond a glare, which both sides have alike, and the glare's from `near`
    /// bins. The same curves where it cannot be fitted.
    pub fn with_glare(
        self,
        bins: &[Bin],
        near: Vec<Bin>,
        reach: f64,
        (intensity, usual, places): (IntensityKind, f64, f64),
    ) -> Self {
        let beyond = beyond(bins, reach);
        let alike = Self::fit(&beyond, intensity, usual, places);
        let value = |curve: &Option<Curve>, x: f64| curve.as_ref().map_or(0.0, |curve| curve.at(x));
        let found = GlareCurves::fit(
            near,
            reach,
            places,
            usual,
            &Alike {
                bias: &|x| value(&alike.bias, x),
                drop_out: &|x| value(&alike.drop_out, x),
                intensity: &|x| value(&alike.intensity, x),
                of_bin: &|bin| intensity_of(bin, intensity),
            },
        );
        if found.is_none() {
            return self;
        }
        Self {
            glare: found,
            ..alike
        }
    }

    /// Bins beyond the glare; all where there is none.
    pub fn beyond(&self, bins: &[Bin]) -> Vec<Bin> {
        beyond(bins, self.glare.as_ref().map_or(0.0, GlareCurves::reach))
    }

    /// The glare of the profile.
    pub fn glare(&self, intensity: IntensityKind, usual: f64) -> Option<Glare> {
        let dropped = |x: f64| self.drop_out.as_ref().map_or(0.0, |curve| curve.at(x));
        let glare = self.glare.as_ref();
        glare.map(|glare| glare.glare(intensity, usual, dropped))
    }

    /// Beams with the bias added to what is expected of them.
    pub fn about_bias(&self, beams: &PanelBeams, law: DistanceLaw, ratio: f64) -> PanelBeams {
        let mut beams = beams.clone();
        for beam in &mut beams.beams {
            let alike = self.bias.as_ref();
            let alike = alike.map_or(0.0, |curve| curve.at(beam.incidence));
            let glare = self.glare.as_ref();
            let glare = glare.map_or(0.0, |glare| glare.bias(beam.incidence * beam.side));
            let bias = alike + glare;
            beam.expected += law.bias(bias, ratio);
        }
        beams
    }

    /// The spread about the smooth bias, for one side of the normal: noise, and fixed-pattern
    /// differences between directions. What both sides show is kept. Within a glare, `near` bins tell how
    /// much more it is.
    pub fn fit_spread(&mut self, bins: &[Bin], near: &[Bin]) {
        let reach = self.glare.as_ref().map_or(0.0, GlareCurves::reach);
        let observation = |bin: &Bin| {
            let error = bin.error?;
            Some(Observation {
                x: bin.incidence,
                y: error.sd.hypot(error.mean).max(bin.hidden).max(1e-6).ln(),
                weight: 2.0 * bin.effective_ranges().max(1.0),
                fold: fold(bin),
            })
        };
        let beyond = bins.iter().filter(|bin| bin.incidence >= reach);
        let observations: Vec<Observation> = beyond.filter_map(observation).collect();
        self.log_spread = fit_curve(&observations, PIECE, Link::Identity);
        if let (Some(glare), Some(spread)) = (&mut self.glare, &self.log_spread) {
            glare.fit_spread(near, |x| spread.at(x).exp());
        }
    }

    pub fn penalties(&self) -> [f64; 3] {
        [&self.bias, &self.log_spread, &self.drop_out]
            .map(|curve| curve.as_ref().map_or(f64::NAN, |curve| curve.penalty))
    }
}
