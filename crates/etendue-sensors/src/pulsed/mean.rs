//! What a scanner reports on average, in a scalar that may carry derivatives.

use super::triangulate::{Lens, brightest};
use crate::scanner::{PulsedReceiver, Receiver, Scanner, Shot, Triangulation};
use crate::transport::{self, LightRay, TreeSettings, World, trace_trees};
use etendue_physics::Scalar;
use etendue_physics::beam::{BeamFrame, BeamRay};
use etendue_physics::pulse::{Echo, FastReceiver, Fmcw, Return, Timing, merge_returns};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use rayon::prelude::*;

/// Shots that one task handles: their rays are cast in one batch.
const BATCH: usize = 256;

/// What a shot reports on average: its first point, in the device's own order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanShot<S = f64> {
    /// Range, m, not rounded to the device's steps.
    pub range: S,
    /// Intensity in counts, not rounded.
    pub intensity: S,
    /// Power at the echo's peak, 1/(m² sr).
    pub power: S,
}

/// A receiver without its noise, with what of it may be unknown.
#[derive(Clone, Copy, Debug)]
pub enum MeanReceiver<S = f64> {
    /// Pulsed: echoes of the closed form ([`FastReceiver`]), whatever the scanner's own pipeline is.
    /// Its range differs from that of the sampled waveform by the errors stated there.
    Pulsed {
        /// The receiver.
        receiver: PulsedReceiver,
        /// Pulse, threshold and reference, instead of its own.
        timing: Timing<S>,
    },
    /// The brightest spot that the lens sees, not rounded to steps of the pixels.
    Triangulation(Triangulation),
    /// The nearest target that is strong enough, nothing moving.
    Fmcw(Fmcw),
}

/// A scanner without its noise, with what of it may be unknown.
///
/// The air is left out. Which surfaces are met, which returns merge and which echo is reported is
/// chosen on values; what was chosen carries the derivatives.
#[derive(Clone, Debug)]
pub struct MeanScanner<'a, S> {
    /// The scanner.
    pub scanner: &'a Scanner,
    /// Its receiver.
    pub receiver: MeanReceiver<S>,
    /// Divergences, horizontal and vertical, over those of the scanner's beam; none where they are
    /// its own.
    pub widening: Option<[S; 2]>,
    /// Where ray trees end.
    pub tree: TreeSettings,
}

impl<S: Scalar> From<&Receiver> for MeanReceiver<S> {
    fn from(receiver: &Receiver) -> Self {
        match *receiver {
            Receiver::Pulsed(receiver) => {
                let own = receiver.fast().timing();
                let timing = Timing {
                    fwhm: S::from(own.fwhm),
                    threshold: S::from(own.threshold),
                    reference: S::from(own.reference),
                };
                Self::Pulsed { receiver, timing }
            }
            Receiver::Triangulation(camera) => Self::Triangulation(camera),
            Receiver::Fmcw(fmcw) => Self::Fmcw(fmcw),
        }
    }
}

impl<S: Scalar> MeanScanner<'_, S> {
    /// Fires `shots`: what each reports, none where it finds nothing within the limits.
    ///
    /// `world_from_sensor` is the sensor's pose at a time (s from the start of the run). `scattered`
    /// gives the power of a return to a shot (by its number in `shots`), in place of the return's
    /// own.
    pub fn fire(
        &self,
        world: &World<S>,
        shots: &[Shot],
        world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
        scattered: impl Fn(usize, &transport::Return<S>) -> S + Sync,
    ) -> Vec<Option<MeanShot<S>>> {
        let rays = self.scanner.beam.rays(self.scanner.sub_ray_rings);
        let mut reported = vec![None; shots.len()];
        let batches = reported.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
        batches
            .enumerate()
            .for_each_init(Batch::default, |batch, (number, (reported, shots))| {
                batch.aim(shots, &rays, self.widening, &world_from_sensor);
                world.scene().closest_hits(&batch.rays, &mut batch.hits);
                self.gather(world, batch, shots, &rays, number * BATCH, &scattered);
                for ((out, shot), returns) in reported.iter_mut().zip(shots).zip(&mut batch.returns)
                {
                    *out = self.report(shot, returns);
                }
            });
        reported
    }

    /// Collects the light that comes back to each shot of a batch.
    fn gather(
        &self,
        world: &World<S>,
        batch: &mut Batch<S>,
        shots: &[Shot],
        rays: &[BeamRay],
        first: usize,
        scattered: impl Fn(usize, &transport::Return<S>) -> S,
    ) {
        let Batch {
            returns,
            light,
            poses,
            hits,
            ..
        } = batch;
        trace_trees(
            world,
            light.iter().copied(),
            hits,
            &self.tree,
            |ray, back| {
                let shot = ray / rays.len();
                let range = match &self.receiver {
                    MeanReceiver::Pulsed { .. } | MeanReceiver::Fmcw(_) => back.optical_range,
                    MeanReceiver::Triangulation(camera) => {
                        let lens = Lens::new(&shots[shot], &poses[shot], camera);
                        if !lens.sees(world.scene(), &back) {
                            return;
                        }
                        back.range
                    }
                };
                let share = rays[ray % rays.len()].weight;
                returns[shot].push(Return {
                    range,
                    power: scattered(first + shot, &back) * share,
                });
            },
        );
    }

    /// The first point that a shot reports.
    fn report(&self, shot: &Shot, returns: &mut [Return<S>]) -> Option<MeanShot<S>> {
        let [range, power] = self.receiver.first(returns)?;
        let range = range + self.scanner.channels[usize::from(shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        if !(limits.near..=limits.far).contains(&range.value()) {
            return None;
        }
        let intensity = &self.scanner.intensity;
        let counts = intensity.response.counts(power, range);
        let top = intensity.top.unwrap_or(f64::INFINITY);
        Some(MeanShot {
            range,
            intensity: counts.max(S::zero()).min(S::from(top)),
            power,
        })
    }
}

impl<S: Scalar> MeanReceiver<S> {
    /// Range (m) and power of the first point that is made of some returns.
    fn first(&self, returns: &mut [Return<S>]) -> Option<[S; 2]> {
        match self {
            Self::Pulsed { receiver, timing } => {
                let mut echoes = Vec::new();
                let fast: FastReceiver = receiver.fast();
                fast.mean_echoes(timing, returns, |echo| echoes.push(echo));
                let echo = match &echoes[..] {
                    [only] => *only,
                    several => several[*receiver.returns.choose(&values(several)).first()?],
                };
                Some([echo.range, echo.power])
            }
            Self::Triangulation(camera) => {
                let spot = brightest(returns)?;
                (spot.power.value() >= camera.threshold).then_some([spot.range, spot.power])
            }
            Self::Fmcw(fmcw) => {
                let mut first = None;
                merge_returns(returns, fmcw.resolution(), |power, range, _| {
                    if first.is_none() && power.value() >= fmcw.threshold * fmcw.noise {
                        first = Some([range, power]);
                    }
                });
                first
            }
        }
    }
}

fn values<S: Scalar>(echoes: &[Echo<S>]) -> Vec<Echo> {
    let value = |echo: &Echo<S>| Echo {
        range: echo.range.value(),
        power: echo.power.value(),
        width: echo.width.value(),
    };
    echoes.iter().map(value).collect()
}

/// Where a ray of a beam with its divergences widened goes.
fn widened<S: Scalar>(frame: &BeamFrame, ray: &BeamRay, widening: [S; 2]) -> Vector3<S> {
    let [left, up] = [0, 1].map(|k| widening[k] * ray.slope[k]);
    let component = |k: usize| left * frame.left[k] + up * frame.up[k] + frame.axis[k];
    let direction = Vector3::new(component(0), component(1), component(2));
    direction / direction.dot(&direction).sqrt()
}

/// A pose without its derivatives.
fn plain<S: Scalar>(pose: &Isometry3<S>) -> Isometry3<f64> {
    let rotation = Quaternion::from(pose.rotation.coords.map(Scalar::value));
    Isometry3::from_parts(
        pose.translation.vector.map(Scalar::value).into(),
        UnitQuaternion::new_unchecked(rotation),
    )
}

/// Memory that batches use again.
struct Batch<S: Scalar> {
    /// Where each shot was fired from.
    poses: Vec<Isometry3<f64>>,
    light: Vec<LightRay<S>>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    returns: Vec<Vec<Return<S>>>,
}

impl<S: Scalar> Default for Batch<S> {
    fn default() -> Self {
        Self {
            poses: Vec::new(),
            light: Vec::new(),
            rays: Vec::new(),
            hits: Vec::new(),
            returns: Vec::new(),
        }
    }
}

impl<S: Scalar> Batch<S> {
    /// Fills the batch with the rays of `shots`, shot by shot.
    fn aim(
        &mut self,
        shots: &[Shot],
        rays: &[BeamRay],
        widening: Option<[S; 2]>,
        world_from_sensor: impl Fn(f64) -> Isometry3<S>,
    ) {
        self.light.clear();
        self.poses.clear();
        for shot in shots {
            let pose = world_from_sensor(shot.time);
            self.poses.push(plain(&pose));
            let frame = BeamFrame::new(shot.azimuth, shot.elevation);
            for ray in rays {
                let offset = frame.left * ray.offset[0] + frame.up * ray.offset[1];
                let origin: Point3<f64> = shot.origin + offset;
                let direction = if let Some(widening) = widening {
                    widened(&frame, ray, widening)
                } else {
                    let slope = frame.left * ray.slope[0] + frame.up * ray.slope[1];
                    (frame.axis + slope).normalize().map(S::from)
                };
                self.light.push(LightRay {
                    time: shot.time,
                    ..LightRay::new(pose * origin.map(S::from), pose.rotation * direction)
                });
            }
        }
        self.rays.clear();
        self.rays.extend(self.light.iter().map(LightRay::values));
        self.returns.resize_with(shots.len(), Vec::new);
        for returns in &mut self.returns {
            returns.clear();
        }
    }
}
