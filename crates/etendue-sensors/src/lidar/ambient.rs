//! Light that is there without the lidar, and what its noise is taken for.

use crate::lidar::{PulsedReceiver, RangeLimits, Receiver};
use crate::transport::{Background, Cone, LightRay, TreeSettings, World};
use etendue_physics::phase::Window;
use etendue_physics::pulse::Echo;
use etendue_physics::{SPEED_OF_LIGHT, Stream, normal};
use etendue_scene::Hit;

/// Ambient light as a receiver sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    background: &'a Background<'a>,
    window: Window,
    cone: Cone,
}

impl<'a> View<'a> {
    /// None where there is no ambient light, or the receiver's window is not known.
    pub fn new(world: &'a World<'a, f64>, receiver: &Receiver) -> Option<Self> {
        let Receiver::Pulsed(receiver) = receiver else {
            return None;
        };
        let window = receiver.window?;
        Some(Self {
            background: world.background()?,
            window,
            cone: Cone {
                half_angle: window.field_of_view / 2.0,
                solid_angle: window.solid_angle(),
            },
        })
    }

    /// The power that it adds where a ray of light meets the scene at `hit`, 1/(m² sr).
    pub fn power(&self, ray: &LightRay<f64>, hit: Option<Hit>, tree: &TreeSettings) -> f64 {
        let radiance = self.background.radiance(ray, hit, tree, self.cone);
        self.window.background(radiance)
    }
}

/// Appends the echoes that noise alone makes between the range limits, and sorts all by range.
///
/// Each sample of the noise without an echo, of standard deviation $\sigma$, is over the threshold
/// $T$ with the probability $p = 1 - \Phi(T/\sigma)$ (of counted photons too, whose skewness is left
/// out); the gaps between such samples are exponential with the mean $1/p$. They exceed the
/// threshold by an exponential excess of the mean $\sigma^2/T$, the tail of the normal
/// distribution.
pub(super) fn add_false_alarms(
    receiver: &PulsedReceiver,
    limits: &RangeLimits,
    stream: &mut Stream,
    echoes: &mut Vec<Echo>,
) {
    let sigma = receiver.detector.noise(0.0);
    let chance = normal::probability(-receiver.threshold / sigma);
    if chance <= 0.0 {
        return;
    }
    let step = 0.5 * SPEED_OF_LIGHT * receiver.interval;
    let mut exponential = |mean: f64| -mean * (1.0 - stream.uniform()).ln();
    let before = echoes.len();
    let mut range = limits.near;
    loop {
        range += step * exponential(1.0 / chance).max(1.0);
        if range > limits.far {
            break;
        }
        echoes.push(Echo {
            range,
            power: receiver.threshold + exponential(sigma * sigma / receiver.threshold),
            width: receiver.interval,
        });
    }
    if echoes.len() > before {
        echoes.sort_by(|a, b| a.range.total_cmp(&b.range));
    }
}
