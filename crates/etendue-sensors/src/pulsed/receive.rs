//! From the light that came back to reported points.

use super::ambient::add_false_alarms;
use super::simulate::Simulator;
use super::triangulate::triangulate;
use super::waveform::echoes_in_waveforms;
use super::{LidarPoint, Outcome, Source};
use crate::calibrated::{Lit, Profiled};
use crate::scanner::{Pipeline, PulsedReceiver, Receiver, Shot};
use crate::transport;
use etendue_physics::profile::{Address, Recent};
use etendue_physics::pulse::{Echo, EchoFinder, FastFinder, Fmcw, FmcwEcho, Return, ReturnMode};
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Stream};
use nalgebra::{Isometry3, Point3};

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
    /// Power of the ambient light, 1/(m² sr).
    pub ambient: f64,
}

impl Light {
    /// Nothing yet.
    pub fn begin(&mut self, axis: f64) {
        self.returns.clear();
        self.sources.clear();
        self.axis = axis;
        self.ambient = 0.0;
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
#[derive(Clone)]
pub(super) enum PreparedReceiver {
    Pulsed(PreparedPulsed),
    Other(Receiver),
}

/// A pulsed receiver with what finds its echoes.
#[derive(Clone, Copy)]
pub(super) struct PreparedPulsed {
    receiver: PulsedReceiver,
    fast: FastFinder,
    finder: EchoFinder,
}

impl PreparedPulsed {
    /// The same in ambient light.
    fn in_light(&self, power: f64) -> Self {
        let receiver = self.receiver.in_light(power);
        Self {
            fast: self.fast.in_light(power),
            finder: EchoFinder {
                hysteresis: receiver.hysteresis(),
                ..self.finder
            },
            receiver,
        }
    }
}

/// A shot in its place.
#[derive(Clone, Copy)]
pub(super) struct Fired<'a> {
    pub shot: &'a Shot,
    /// Its number in the sweep.
    pub number: u32,
    /// The sensor's pose when it was fired.
    pub pose: &'a Isometry3<f64>,
}

/// Memory that shots use again.
#[derive(Default)]
pub(super) struct Workspace {
    echoes: Vec<Echo>,
    found: Vec<Found>,
    /// Calibrated noise that neighbours share.
    pub recent: Recent,
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
            Receiver::Pulsed(receiver) => Self::Pulsed(PreparedPulsed {
                receiver,
                fast: receiver.fast().finder(),
                finder: receiver.finder(),
            }),
            other => Self::Other(other),
        }
    }

    /// Whether shots that nothing comes back from may be found to have echoes all the same.
    fn has_false_alarms(&self) -> bool {
        matches!(self, Self::Pulsed(pulsed) if pulsed.receiver.false_alarms)
    }

    /// Full width of the pulse, s; that of a metre for receivers without one.
    pub fn pulse_fwhm(&self) -> f64 {
        match self {
            Self::Pulsed(pulsed) => pulsed.receiver.pulse.fwhm,
            Self::Other(_) => 2.0 / SPEED_OF_LIGHT,
        }
    }
}

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, P> {
    /// Appends the points of one shot and says what became of it.
    pub fn report(
        &self,
        fired: Fired,
        light: &mut Light,
        workspace: &mut Workspace,
        points: &mut Vec<LidarPoint>,
    ) -> Outcome {
        if light.returns.is_empty() && !self.receiver.has_false_alarms() {
            return Outcome::NoReturn;
        }
        workspace.found.clear();
        self.find(fired, light, workspace);
        let offset = self.scanner.channels[usize::from(fired.shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        let before = points.len();
        let mut too_near = false;
        for found in &workspace.found {
            let range = limits.stepped(found.range + offset);
            too_near |= range < limits.near;
            if (limits.near..=limits.far).contains(&range) {
                points.push(self.point(fired, light, found, [range, offset]));
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

    fn point(
        &self,
        Fired {
            shot, number, pose, ..
        }: Fired,
        light: &Light,
        found: &Found,
        [range, offset]: [f64; 2],
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
            ambient: light.ambient,
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
            cos_incidence: back.cos_incidence.min(1.0),
            range: back.optical_range + offset,
        }
    }

    /// Appends the echoes that the device reports, in its order.
    fn find(&self, fired: Fired, light: &mut Light, workspace: &mut Workspace) {
        let with_noise = !self.run.without_noise;
        if with_noise && self.world.scene().has_profiles() {
            let mut lit = Lit::default();
            for (back, power) in &light.sources {
                lit.see(back, *power);
            }
            if let Some(surface) = lit.profiled(self.world) {
                let drawn = self.draw(&surface, light, fired.number, &mut workspace.recent);
                workspace.found.extend(drawn);
                return;
            }
        }
        let mut noise = with_noise.then(|| self.stream(fired.number, Purpose::ReceiverNoise));
        match &self.receiver {
            PreparedReceiver::Pulsed(pulsed) if light.ambient > 0.0 => {
                let pulsed = pulsed.in_light(light.ambient);
                self.find_echoes(&pulsed, fired.number, light, noise.as_mut(), workspace);
            }
            PreparedReceiver::Pulsed(pulsed) => {
                self.find_echoes(pulsed, fired.number, light, noise.as_mut(), workspace);
            }
            PreparedReceiver::Other(Receiver::Triangulation(camera)) => {
                workspace
                    .found
                    .extend(triangulate(self, camera, fired, light, noise.as_mut()));
            }
            PreparedReceiver::Other(Receiver::Fmcw(fmcw)) => {
                workspace
                    .found
                    .extend(self.doppler(fmcw, fired.shot, light, noise.as_mut()));
            }
            PreparedReceiver::Other(Receiver::Pulsed(_)) => {}
        }
    }

    /// The echoes of a pulsed receiver.
    fn find_echoes(
        &self,
        PreparedPulsed {
            receiver,
            fast,
            finder,
        }: &PreparedPulsed,
        number: u32,
        light: &mut Light,
        mut noise: Option<&mut Stream>,
        Workspace { echoes, found, .. }: &mut Workspace,
    ) {
        echoes.clear();
        let returns = &mut light.returns;
        // Light from all along the beam has no closed form.
        let is_fast = receiver.pipeline == Pipeline::Fast && !self.air.glows();
        if is_fast {
            fast.find(returns, noise.as_deref_mut(), echoes);
        } else {
            echoes_in_waveforms(receiver, finder, returns, noise.as_deref_mut(), echoes);
        }
        if receiver.false_alarms && noise.is_some() {
            let mut stream = self.stream(number, Purpose::FalseAlarm);
            add_false_alarms(receiver, &self.scanner.limits, &mut stream, echoes);
        }
        // The closed form has the jitter in its spread.
        let jitter = noise.filter(|_| !is_fast);
        choose(
            echoes,
            receiver.returns,
            jitter.map(|stream| (receiver.jitter, stream)),
            found,
        );
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
        let scene = self.world.scene();
        let mesh = scene.objects()[back.hit.object.0 as usize].mesh;
        if scene.motion(back.hit.object).is_none() && scene.deformation(mesh).is_none() {
            return 0.0;
        }
        let [before, after] = [-STEP, STEP].map(|step| self.place(back, time + step));
        (after - before).dot(&back.arrival) / (2.0 * STEP)
    }

    /// Where the point that scattered the light is at a time.
    fn place(&self, back: &transport::Return<f64>, time: f64) -> Point3<f64> {
        let scene = self.world.scene();
        let hit = &back.hit;
        let id = scene.objects()[hit.object.0 as usize].mesh;
        let mesh = scene.mesh(id);
        let [a, b, c] = match scene.deformation(id) {
            Some(deformation) => mesh.triangles[hit.triangle as usize]
                .map(|vertex| deformation.vertex_at(vertex as usize, time)),
            None => mesh.corners(hit.triangle),
        };
        let [to_b, to_c] = hit.barycentric;
        scene.world_from_object(hit.object, time) * (a + (b - a) * to_b + (c - a) * to_c)
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

/// Appends the echoes that a return mode reports, with the jitter of the clock (standard deviation
/// of the range, m) where they do not have it yet.
fn choose(
    echoes: &[Echo],
    mode: ReturnMode,
    mut jitter: Option<(f64, &mut Stream)>,
    found: &mut Vec<Found>,
) {
    let mut report = |echo: &Echo| Found {
        range: echo.range
            + jitter
                .as_mut()
                .map_or(0.0, |(spread, stream)| *spread * stream.normal()),
        power: echo.power,
        width: echo.width,
        velocity: None,
        intensity: None,
    };
    match echoes {
        [] => {}
        [only] => found.push(report(only)),
        several => found.extend(
            mode.choose(several)
                .into_iter()
                .map(|i| report(&several[i])),
        ),
    }
}

fn count_of(points: usize) -> u8 {
    u8::try_from(points).unwrap_or(u8::MAX)
}
