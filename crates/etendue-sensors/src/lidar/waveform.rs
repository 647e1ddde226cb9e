//! Echoes in sampled waveforms.

use super::SweepSettings;
use super::backscatter::{Before, FAINT};
use super::sections::{Stretch, stretches};
use super::sweep::Simulator;
use super::{Lidar, PulsedReceiver, Receiver};
use crate::transport::World;
use etendue_physics::pulse::{
    AnalyticFinder, Digitiser, Echo, EchoFinder, PulseReturn, Waveform, Window,
};
use etendue_physics::{Purpose, Stream};
use nalgebra::Isometry3;

/// What finds the echoes of a receiver that samples, or in air that shines.
pub(super) struct Finders<'a> {
    pub receiver: &'a PulsedReceiver,
    pub finder: &'a EchoFinder,
    /// What finds those of light beyond the air's own in closed form, where the receiver has one.
    pub fast: Option<&'a AnalyticFinder>,
}

impl Finders<'_> {
    /// Appends the echoes of some returns (which it sorts) and of the air, found in waveforms about
    /// them.
    ///
    /// Only stretches with light are sampled: where the returns of a stretch cannot reach the
    /// threshold with six standard deviations of noise, or there are none, nothing is found. False
    /// alarms of noise alone are thus left out.
    pub fn find(
        &self,
        (returns, air): (&mut [PulseReturn], Option<&Before>),
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo>,
    ) {
        let receiver = self.receiver;
        returns.sort_unstable_by(|a, b| a.range.total_cmp(&b.range));
        let glow = air.map_or(0.0, |_| FAINT * receiver.threshold);
        stretches(returns, air, &receiver.pulse, |stretch| {
            if let (false, Some(fast)) = (stretch.bright, self.fast) {
                return fast.find(&mut stretch.returns.to_vec(), noise.as_deref_mut(), echoes);
            }
            let most = stretch.returns.iter().map(|one| one.power).sum::<f64>() + glow;
            if stretch.bright || most + 6.0 * receiver.detector.noise(most) >= receiver.threshold {
                self.find_in(&stretch, air, noise.as_deref_mut(), echoes);
            }
        });
    }

    /// The echoes in the waveform of one stretch: with the jitter of the clock where others, of the
    /// closed form, stand beside them, which have it in their spread.
    fn find_in(
        &self,
        stretch: &Stretch<f64>,
        air: Option<&Before>,
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo>,
    ) {
        let receiver = self.receiver;
        let (near, far) = (stretch.near, stretch.far);
        let window = Window::around(&receiver.pulse, receiver.interval, near, far);
        let lit = (stretch.returns, air);
        let waveform = read(receiver, lit, window, noise.as_deref_mut());
        let before = echoes.len();
        self.finder.find_into(&waveform, echoes);
        if let (Some(noise), Some(_)) = (noise, self.fast) {
            for echo in &mut echoes[before..] {
                echo.range += receiver.jitter * noise.normal();
            }
        }
    }
}

/// The waveform of some returns and the air as the converter gives it.
fn read(
    receiver: &PulsedReceiver,
    (returns, air): (&[PulseReturn], Option<&Before>),
    window: Window,
    noise: Option<&mut Stream>,
) -> Waveform {
    let mut waveform = Waveform::received(&receiver.pulse, returns, window);
    if let Some(air) = air {
        air.add_to(&mut waveform);
    }
    match noise {
        Some(stream) => receiver.detector.read(&mut waveform, stream),
        None => waveform.saturate(receiver.detector.saturation()),
    }
    let digitiser = Digitiser {
        interval: receiver.interval,
        bits: receiver.bits,
        full_scale: receiver.detector.saturation(),
    };
    digitiser.quantise(&mut waveform);
    waveform
}

/// The whole waveform of one shot (its number in the sweep), from the exit to the farthest range,
/// as the converter gives it; none where the scanner is not pulsed or has no such shot.
pub fn waveform(
    world: &World<f64>,
    scanner: &Lidar,
    run: &SweepSettings,
    shot: usize,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64>,
) -> Option<Waveform> {
    let Receiver::Pulsed(receiver) = scanner.receiver else {
        return None;
    };
    let number = shot;
    let shot = *scanner.shots(run.sweep).get(shot)?;
    let pose = world_from_sensor(shot.time);
    let scene = world.scene().at(shot.time);
    let world = &world.about(&scene);
    let simulator = Simulator::new(world, scanner, run, &world_from_sensor, pose);
    let (mut rays, mut hits, mut lights) = (Vec::new(), Vec::new(), Vec::new());
    simulator.aim(&shot, &pose, &mut rays);
    world.scene().closest_hits(&rays, &mut hits);
    simulator.gather(&rays, &hits, (number, &[0]), &mut lights);
    simulator.add_air(number, &mut lights);
    let window = Window::around(&receiver.pulse, receiver.interval, 0.0, scanner.limits.far);
    let mut noise = simulator.stream(u32::try_from(number).ok()?, Purpose::ReceiverNoise);
    let noise = (!run.without_noise).then_some(&mut noise);
    let light = lights.first()?;
    let cells = light.air_cells;
    let air = simulator.air.glow().map(|glow| Before { glow, cells });
    Some(read(
        &receiver,
        (&light.returns, air.as_ref()),
        window,
        noise,
    ))
}
