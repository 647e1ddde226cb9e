//! From the light that came back to reported points.

use super::ambient::add_false_alarms;
use super::backscatter::Before;
use super::receiver::triangulation::triangulate;
use super::return_buffer::Received;
use super::sweep::Simulator;
use super::waveform::Finders;
use super::{EchoModel, PulsedReceiver, Receiver, Shot};
use super::{Outcome, Return, Source};
use crate::calibrated::{Lit, PooledNoiseCache};
use crate::transport;
use etendue_physics::profile::{Address, Drawn};
use etendue_physics::pulse::{
    AnalyticFinder, Echo, EchoFinder, Fmcw, FmcwEcho, PulseReturn, ReturnMode,
};
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Stream};
use etendue_scene::{MaterialId, ObjectId};
use nalgebra::{Isometry3, Point3, Vector3};

/// Time before and after, from which velocities are found, s.
const STEP: f64 = 1e-4;

/// The light of one shot.
#[derive(Default)]
pub(super) struct Light {
    /// What came back, from surfaces and from what of the air differs from shot to shot.
    pub returns: Vec<PulseReturn>,
    /// The single drops and flakes among it.
    pub drops: Vec<PulseReturn>,
    /// How many of the air's cells shine before the first surface on the beam's axis.
    pub air_cells: usize,
    /// What came back from surfaces, with where from.
    pub sources: Vec<(transport::LightReturn<f64>, f64)>,
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
        self.drops.clear();
        self.air_cells = 0;
        self.axis = axis;
        self.ambient = 0.0;
    }

    pub fn add(&mut self, back: &transport::LightReturn<f64>, power: f64) {
        self.returns.push(PulseReturn {
            range: back.optical_range,
            power,
        });
        self.sources.push((*back, power));
    }

    /// The surface that most of the light about a range came from, within `reach` (m); none where it is
    /// a drop, or the air that shines there with that power.
    fn source(&self, range: f64, reach: f64, glow: f64) -> Option<&transport::LightReturn<f64>> {
        let near = self
            .sources
            .iter()
            .map(|(back, power)| (back, power * closeness(back.optical_range - range, reach)))
            .filter(|(back, _)| (back.optical_range - range).abs() <= reach);
        let (back, power) = near.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let drops = self.drops.iter();
        let drops = drops.map(|one| one.power * closeness(one.range - range, reach));
        let of_air = drops.fold(glow, f64::max);
        (power >= of_air).then_some(back)
    }
}

/// How much of light that far from an echo (m) counts as the echo's: all at it, half at 0.15 of the
/// `reach`, none from there on. So the echo of a faint drop before a bright wall is the drop's.
#[inline]
pub(super) fn closeness(apart: f64, reach: f64) -> f64 {
    let far = apart / reach;
    let mut close = (1.0 - far * far).max(0.0);
    for _ in 0..5 {
        close *= close;
    }
    close
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
    pub receiver: PulsedReceiver,
    pub fast: AnalyticFinder,
    /// Where echoes are found in waveforms.
    finder: Option<EchoFinder>,
}

impl PreparedPulsed {
    /// The same in ambient light.
    fn in_light(&self, power: f64) -> Self {
        let receiver = self.receiver.in_light(power);
        Self {
            fast: self.fast.in_light(power),
            finder: self.finder.map(|finder| EchoFinder {
                hysteresis: receiver.hysteresis(),
                ..finder
            }),
            receiver,
        }
    }
}

/// A shot in its place.
#[derive(Clone, Copy)]
pub(super) struct Fired<'a> {
    pub shot: Shot,
    /// Its number in the sweep.
    pub number: u32,
    /// The sensor's pose when it was fired.
    pub pose: &'a Isometry3<f64>,
}

/// Memory that shots use again.
#[derive(Default)]
pub(super) struct Workspace {
    echoes: Vec<Echo>,
    pub found: Vec<Found>,
    /// What is found of a shot's light without trees.
    pub returns: Vec<PulseReturn>,
    /// Calibrated noise that neighbours share.
    pub noise_cache: PooledNoiseCache,
}

/// Where light came from.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub object: ObjectId,
    pub material: MaterialId,
    pub cos_incidence: f64,
    /// Half the optical path, m.
    pub range: f64,
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

impl Found {
    /// An echo as it is.
    #[inline]
    pub fn echo(echo: &Echo) -> Self {
        Self {
            range: echo.range,
            power: echo.power,
            width: echo.width,
            velocity: None,
            intensity: None,
        }
    }

    /// A measurement from calibrated noise, of light of a power.
    pub fn drawn(drawn: &Drawn, power: f64) -> Self {
        Self {
            range: drawn.range,
            power,
            width: 0.0,
            velocity: None,
            intensity: drawn.intensity,
        }
    }
}

impl PreparedReceiver {
    /// In air that glows or not: light from all along the beam has no closed form.
    pub fn new(receiver: &Receiver, glows: bool) -> Self {
        match *receiver {
            Receiver::Pulsed(receiver) => Self::Pulsed(PreparedPulsed {
                receiver,
                fast: receiver.analytic().finder(),
                finder: (glows || receiver.echoes != EchoModel::Analytic)
                    .then(|| receiver.finder()),
            }),
            other => Self::Other(other),
        }
    }

    /// Whether shots that nothing comes back from may be found to have echoes all the same.
    pub fn has_false_alarms(&self) -> bool {
        matches!(self, Self::Pulsed(pulsed) if pulsed.receiver.false_alarms)
    }
}

/// Full width of the pulse, s; that of a metre for receivers without one.
pub(super) fn pulse_fwhm(receiver: &Receiver) -> f64 {
    match receiver {
        Receiver::Pulsed(pulsed) => pulsed.pulse.fwhm,
        _ => 2.0 / SPEED_OF_LIGHT,
    }
}

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, P> {
    /// Adds the points of one shot and says what became of it.
    pub fn report(
        &self,
        fired: Fired,
        light: &mut Light,
        workspace: &mut Workspace,
        received: &mut Received,
    ) -> Outcome {
        let is_dark = light.returns.is_empty() && light.air_cells == 0;
        if is_dark && !self.receiver.has_false_alarms() {
            return Outcome::NoReturn;
        }
        workspace.found.clear();
        self.find(fired, light, workspace);
        let air = self.before(light.air_cells);
        let source = |range: f64, reach: f64| {
            let glow = air.map_or(0.0, |air| air.power_from(range));
            let back = light.source(range, reach, glow)?;
            Some(Origin {
                object: back.hit.object,
                material: back.material,
                cos_incidence: back.cos_incidence,
                range: back.optical_range,
            })
        };
        self.keep(fired, light.ambient, &workspace.found, source, received)
    }

    /// Adds points of what was found within the range limits, and says what became of the shot.
    /// `source` tells where most of the light within a reach (m) of a range came from.
    #[inline]
    pub fn keep(
        &self,
        fired: Fired,
        ambient: f64,
        found: &[Found],
        source: impl Fn(f64, f64) -> Option<Origin>,
        received: &mut Received,
    ) -> Outcome {
        let offset = self.scanner.channels[usize::from(fired.shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        let reach = 0.5 * SPEED_OF_LIGHT * pulse_fwhm(&self.scanner.receiver);
        let before = received.count();
        let mut too_near = false;
        for found in found {
            let range = limits.stepped(found.range + offset);
            too_near |= range < limits.near;
            if (limits.near..=limits.far).contains(&range) {
                let place = received.place();
                self.fill(place, fired, found, [range, offset]);
                place.ambient = ambient;
                place.source =
                    source(found.range, reach).map(|origin| self.source(&origin, offset));
            }
        }
        received.truncate(before + usize::from(u8::MAX));
        let count = count_of(received.count() - before);
        for (i, point) in (1..).zip(received.points_from(before)) {
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

    /// Fills in what a point is without the other light of its shot. Number by number: a point
    /// that is copied as a whole waits for all of them.
    #[inline]
    pub fn fill(
        &self,
        place: &mut Return,
        Fired {
            shot, number, pose, ..
        }: Fired,
        found: &Found,
        [range, offset]: [f64; 2],
    ) {
        let intensity = &self.scanner.intensity;
        let from_start = &self.world_from_start;
        place.position = { self.run.frame }.place(shot.point(range - offset), pose, from_start);
        place.range = range;
        place.intensity = found.intensity.unwrap_or_else(|| {
            { intensity.response }.report(found.power, range - offset, intensity.top)
        });
        place.power = found.power;
        place.width = found.width;
        place.velocity = found.velocity;
        place.shot = number;
    }

    #[inline]
    pub fn source(&self, origin: &Origin, offset: f64) -> Source {
        Source {
            instance: origin.object,
            mesh: self.world.scene().objects()[origin.object.0 as usize].mesh,
            material: origin.material,
            cos_incidence: origin.cos_incidence.min(1.0),
            range: origin.range + offset,
        }
    }

    /// Appends the echoes that the device reports, in its order.
    fn find(&self, fired: Fired, light: &mut Light, workspace: &mut Workspace) {
        let with_noise = !self.run.without_noise;
        if with_noise && !self.world.profiles().is_empty() {
            let mut lit = Lit::default();
            for (back, power) in &light.sources {
                lit.see(back, *power);
            }
            if let Some(surface) = lit.profiled(self.world.profiles()) {
                let power = light.sources.iter().map(|(_, power)| power).sum();
                let up = || fired.pose * Vector3::z();
                let address = self.address(fired.number);
                let drawn = surface.draw(&lit, up, &address, workspace.noise_cache.get());
                let drawn = drawn.map(|drawn| Found::drawn(&drawn, power));
                workspace.found.extend(drawn);
                return;
            }
        }
        let mut noise = with_noise.then(|| self.stream(fired.number, Purpose::ReceiverNoise));
        match &self.receiver {
            PreparedReceiver::Pulsed(pulsed) if light.ambient > 0.0 => {
                let pulsed = pulsed.in_light(light.ambient);
                let lit = (&mut light.returns[..], light.air_cells);
                self.find_echoes(&pulsed, fired.number, lit, noise.as_mut(), workspace);
            }
            PreparedReceiver::Pulsed(pulsed) => {
                let lit = (&mut light.returns[..], light.air_cells);
                self.find_echoes(pulsed, fired.number, lit, noise.as_mut(), workspace);
            }
            PreparedReceiver::Other(Receiver::Triangulation(camera)) => {
                workspace
                    .found
                    .extend(triangulate(self, camera, fired, light, noise.as_mut()));
            }
            PreparedReceiver::Other(Receiver::Fmcw(fmcw)) => {
                workspace
                    .found
                    .extend(self.doppler(fmcw, &fired.shot, light, noise.as_mut()));
            }
            PreparedReceiver::Other(Receiver::Pulsed(_) | Receiver::Phase(_)) => {}
        }
    }

    /// The echoes that a pulsed receiver finds in some returns and the light of so many cells of air.
    pub fn find_echoes(
        &self,
        PreparedPulsed {
            receiver,
            fast,
            finder,
        }: &PreparedPulsed,
        number: u32,
        (returns, cells): (&mut [PulseReturn], usize),
        mut noise: Option<&mut Stream>,
        Workspace { echoes, found, .. }: &mut Workspace,
    ) {
        echoes.clear();
        match finder {
            None => fast.find(returns, noise.as_deref_mut(), echoes),
            Some(finder) => {
                let air = self.before(cells);
                let finders = Finders {
                    receiver,
                    finder,
                    fast: (receiver.echoes == EchoModel::Analytic).then_some(fast),
                };
                finders.find((returns, air.as_ref()), noise.as_deref_mut(), echoes);
            }
        }
        if receiver.false_alarms && noise.is_some() {
            let mut stream = self.stream(number, Purpose::FalseAlarm);
            add_false_alarms(receiver, &self.scanner.limits, &mut stream, echoes);
        }
        let sampled = receiver.echoes == EchoModel::Waveform;
        let jitter = noise.filter(|_| sampled);
        choose(
            echoes,
            receiver.returns,
            jitter.map(|stream| (receiver.jitter, stream)),
            found,
        );
    }

    /// What of the air's light stands in the way of a shot: so many cells.
    fn before(&self, cells: usize) -> Option<Before<'_>> {
        self.air.glow().map(|glow| Before { glow, cells })
    }

    /// What names the calibrated noise of a shot.
    pub fn address(&self, number: u32) -> Address {
        Address {
            seed: self.run.seed,
            sensor: self.run.sensor,
            sweep: self.run.sweep,
            beam: number,
            stride: u32::try_from(self.scanner.channels.len()).unwrap_or(1),
        }
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
        let target = |(back, power): &(transport::LightReturn<f64>, f64)| FmcwEcho {
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
    fn recession(&self, back: &transport::LightReturn<f64>, time: f64) -> f64 {
        let scene = self.world.scene();
        let mesh = scene.objects()[back.hit.object.0 as usize].mesh;
        if scene.motion(back.hit.object).is_none() && scene.deformation(mesh).is_none() {
            return 0.0;
        }
        let [before, after] = [-STEP, STEP].map(|step| self.place(back, time + step));
        (after - before).dot(&back.arrival) / (2.0 * STEP)
    }

    /// Where the point that scattered the light is at a time.
    fn place(&self, back: &transport::LightReturn<f64>, time: f64) -> Point3<f64> {
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
    let mut report = |echo: &Echo| {
        let jitter = { jitter.as_mut() }.map_or(0.0, |(spread, stream)| *spread * stream.normal());
        Found::echo(&Echo {
            range: echo.range + jitter,
            ..*echo
        })
    };
    match echoes {
        [] => {}
        [only] => found.push(report(only)),
        several => {
            let chosen = mode.choose(several).into_iter();
            found.extend(chosen.map(|i| report(&several[i])));
        }
    }
}

fn count_of(points: usize) -> u8 {
    u8::try_from(points).unwrap_or(u8::MAX)
}
