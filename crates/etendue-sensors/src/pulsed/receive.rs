//! From the light that came back to reported points.

use super::simulate::Simulator;
use super::triangulate::triangulate;
use super::waveform::echoes_in_waveforms;
use super::{LidarPoint, Outcome, Source};
use crate::calibrated::{Lit, Profiled};
use crate::scanner::{Pipeline, PulsedReceiver, Receiver, Shot};
use crate::transport;
use etendue_physics::profile::{Address, Recent};
use etendue_physics::pulse::{Echo, EchoFinder, FastReceiver, Fmcw, FmcwEcho, Return, ReturnMode};
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Stream};
use nalgebra::Isometry3;

/// Time before and after, from which velocities are found, s.
const STEP: f64 = 1e-4;

/// The light of one shot.
#[derive(Default)]
pub(super) struct Light {
    /// What came back, from surfaces and from the air.
    pub returns: Vec<Return>,
    /// What came back from surfaces, with where from.
    pub sources: Vec<(transport::Return<f64>, f64)>,
    /// Distance of the first surface on the beam's axis, m.
    pub axis: f64,
}

impl Light {
    /// Nothing yet.
    pub fn begin(&mut self, axis: f64) {
        self.returns.clear();
        self.sources.clear();
        self.axis = axis;
    }

    pub fn add(&mut self, back: &transport::Return<f64>, power: f64) {
        self.returns.push(Return {
            range: back.optical_range,
            power,
        });
        self.sources.push((*back, power));
    }

    /// The strongest source within `reach` (m) of a range.
    fn source(&self, range: f64, reach: f64) -> Option<&transport::Return<f64>> {
        let near = self
            .sources
            .iter()
            .filter(|(back, _)| (back.optical_range - range).abs() <= reach);
        near.max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(back, _)| back)
    }
}

/// A receiver made ready for a sweep.
pub(super) enum PreparedReceiver {
    Pulsed {
        receiver: PulsedReceiver,
        fast: FastReceiver,
        finder: EchoFinder,
    },
    Other(Receiver),
}

/// What a receiver makes of one shot, before limits and steps.
pub(super) struct Found {
    pub range: f64,
    pub power: f64,
    pub width: f64,
    pub velocity: Option<f64>,
    /// Intensity from calibrated noise, instead of that of the power.
    pub intensity: Option<f64>,
}

impl PreparedReceiver {
    pub fn new(receiver: &Receiver) -> Self {
        match *receiver {
            Receiver::Pulsed(receiver) => Self::Pulsed {
                receiver,
                fast: receiver.fast(),
                finder: receiver.finder(),
            },
            other => Self::Other(other),
        }
    }

    /// Full width of the pulse, s; that of a metre for receivers without one.
    pub fn pulse_fwhm(&self) -> f64 {
        match self {
            Self::Pulsed { receiver, .. } => receiver.pulse.fwhm,
            Self::Other(_) => 2.0 / SPEED_OF_LIGHT,
        }
    }
}

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, P> {
    /// Appends the points of one shot and says what became of it.
    pub fn report(
        &self,
        shot: &Shot,
        number: u32,
        pose: &Isometry3<f64>,
        light: &mut Light,
        recent: &mut Recent,
        points: &mut Vec<LidarPoint>,
    ) -> Outcome {
        if light.returns.is_empty() {
            return Outcome::NoReturn;
        }
        let mut noise =
            (!self.run.without_noise).then(|| self.stream(number, Purpose::ReceiverNoise));
        let found = self.find(shot, pose, light, number, noise.as_mut(), recent);
        let offset = self.scanner.channels[usize::from(shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        let before = points.len();
        let mut too_near = false;
        for found in found {
            let range = limits.stepped(found.range + offset);
            too_near |= range < limits.near;
            if (limits.near..=limits.far).contains(&range) {
                points.push(self.point(shot, number, pose, light, &found, range, offset));
            }
        }
        points.truncate(before + usize::from(u8::MAX));
        let count = count_of(points.len() - before);
        for (i, point) in (1..).zip(&mut points[before..]) {
            (point.return_number, point.returns) = (i, count);
        }
        match count {
            0 if too_near => Outcome::TooNear,
            0 => Outcome::NoReturn,
            count => Outcome::Points {
                first: u32::try_from(before).unwrap_or(u32::MAX),
                count,
            },
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one shot and one echo, in one place"
    )]
    fn point(
        &self,
        shot: &Shot,
        number: u32,
        pose: &Isometry3<f64>,
        light: &Light,
        found: &Found,
        range: f64,
        offset: f64,
    ) -> LidarPoint {
        let reach = 0.5 * SPEED_OF_LIGHT * self.receiver.pulse_fwhm();
        let intensity = &self.scanner.intensity;
        LidarPoint {
            position: self
                .run
                .frame
                .point(shot, range - offset, pose, &self.world_from_start),
            range,
            intensity: found
                .intensity
                .unwrap_or_else(|| intensity.response.report(found.power, range, intensity.top)),
            power: found.power,
            width: found.width,
            velocity: found.velocity,
            shot: number,
            return_number: 0,
            returns: 0,
            source: light
                .source(found.range, reach)
                .map(|back| self.source(back, offset)),
        }
    }

    fn source(&self, back: &transport::Return<f64>, offset: f64) -> Source {
        Source {
            instance: back.hit.object,
            mesh: self.world.scene().objects()[back.hit.object.0 as usize].mesh,
            material: back.material,
            incidence: back.cos_incidence.min(1.0).acos(),
            range: back.optical_range + offset,
        }
    }

    /// The echoes that the device reports, in its order.
    fn find(
        &self,
        shot: &Shot,
        pose: &Isometry3<f64>,
        light: &mut Light,
        number: u32,
        mut noise: Option<&mut Stream>,
        recent: &mut Recent,
    ) -> Vec<Found> {
        if noise.is_some() && self.world.scene().has_profiles() {
            let mut lit = Lit::default();
            for (back, power) in &light.sources {
                lit.see(back, *power);
            }
            if let Some(surface) = lit.profiled(self.world) {
                let drawn = self.draw(&surface, light, number, recent);
                return drawn.into_iter().collect();
            }
        }
        match &self.receiver {
            PreparedReceiver::Pulsed {
                receiver,
                fast,
                finder,
            } => {
                // Light from all along the beam has no closed form.
                let echoes = match receiver.pipeline {
                    Pipeline::Fast if !self.air.glows() => {
                        fast.echoes(&mut light.returns, noise.as_deref_mut())
                    }
                    Pipeline::Fast | Pipeline::Waveform => {
                        let returns = &mut light.returns;
                        echoes_in_waveforms(receiver, finder, returns, noise.as_deref_mut())
                    }
                };
                chosen(&echoes, receiver.returns, receiver.jitter, noise)
            }
            PreparedReceiver::Other(Receiver::Triangulation(camera)) => {
                triangulate(self, camera, shot, pose, light, noise)
                    .into_iter()
                    .collect()
            }
            PreparedReceiver::Other(Receiver::Fmcw(fmcw)) => self.doppler(fmcw, shot, light, noise),
            PreparedReceiver::Other(Receiver::Pulsed(_)) => Vec::new(),
        }
    }

    /// A measurement from calibrated noise: drop-out, bias, spread and steps at once.
    fn draw(
        &self,
        surface: &Profiled,
        light: &Light,
        number: u32,
        recent: &mut Recent,
    ) -> Option<Found> {
        let address = Address {
            seed: self.run.seed,
            sensor: self.run.sensor,
            sweep: self.run.sweep,
            beam: number,
            stride: u32::try_from(self.scanner.channels.len()).unwrap_or(1),
        };
        let drawn =
            surface
                .profile
                .draw_after(surface.range, surface.incidence, &address, recent)?;
        Some(Found {
            range: drawn.range,
            power: light.sources.iter().map(|(_, power)| power).sum(),
            width: 0.0,
            velocity: None,
            intensity: drawn.intensity,
        })
    }

    /// Targets with their radial velocities, as a frequency-modulated receiver sees them.
    fn doppler(
        &self,
        fmcw: &Fmcw,
        shot: &Shot,
        light: &Light,
        noise: Option<&mut Stream>,
    ) -> Vec<Found> {
        let own = self.radial_velocity(shot);
        let target = |(back, power): &(transport::Return<f64>, f64)| FmcwEcho {
            range: back.optical_range,
            power: *power,
            velocity: own + self.recession(back, shot.time),
        };
        let mut targets: Vec<FmcwEcho> = light.sources.iter().map(target).collect();
        let echoes = fmcw.echoes(&mut targets, noise);
        let found = echoes.iter().map(|echo| Found {
            range: echo.range,
            power: echo.power,
            width: 0.0,
            velocity: Some(echo.velocity),
            intensity: None,
        });
        found.collect()
    }

    /// How fast the point that scattered the light moves on in the direction in which the light
    /// arrived, m/s. To first order a path by mirrors at rest lengthens by the motion of its ends
    /// alone (Fermat); moving mirrors are left out.
    fn recession(&self, back: &transport::Return<f64>, time: f64) -> f64 {
        let Some(motion) = self.world.scene().motion(back.hit.object) else {
            return 0.0;
        };
        let in_object = motion.at(time).inverse_transform_point(&back.point);
        let [before, after] = [-STEP, STEP].map(|step| motion.at(time + step) * in_object);
        (after - before).dot(&back.arrival) / (2.0 * STEP)
    }

    /// How fast a point at rest recedes along a shot, m/s: less the sensor's own velocity,
    /// from its poses a tenth of a millisecond before and after.
    fn radial_velocity(&self, shot: &Shot) -> f64 {
        let [before, after] =
            [-STEP, STEP].map(|step| (self.world_from_sensor)(shot.time + step) * shot.origin);
        let direction = (self.world_from_sensor)(shot.time).rotation * shot.direction();
        -(after - before).dot(&direction) / (2.0 * STEP)
    }
}

/// The echoes that a return mode reports, with the jitter of the clock.
fn chosen(
    echoes: &[Echo],
    mode: ReturnMode,
    jitter: f64,
    mut noise: Option<&mut Stream>,
) -> Vec<Found> {
    let mut report = |echo: &Echo| Found {
        range: echo.range
            + noise
                .as_deref_mut()
                .map_or(0.0, |stream| jitter * stream.normal()),
        power: echo.power,
        width: echo.width,
        velocity: None,
        intensity: None,
    };
    match echoes {
        [] => Vec::new(),
        [only] => vec![report(only)],
        several => mode
            .choose(several)
            .into_iter()
            .map(|i| report(&several[i]))
            .collect(),
    }
}

fn count_of(points: usize) -> u8 {
    u8::try_from(points).unwrap_or(u8::MAX)
}
