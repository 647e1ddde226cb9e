//! Sweeps of phase receivers.

use super::fire::{PhaseShot, measure};
use super::light::LitSurface;
use crate::RangeReading;
use crate::lidar::receiver::reading;
use crate::lidar::sweep::begin;
use crate::lidar::{Lidar, Outcome, Return, Source, Sweep, SweepSettings};
use crate::transport::World;
use nalgebra::Isometry3;

/// Simulates a sweep of a phase receiver into memory that is used again.
pub(in crate::lidar) fn simulate_into(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
    sweep: &mut Sweep,
) {
    // Aim the shots of the sweep.
    let start = settings.start_of(lidar);
    let shots = begin(
        sweep,
        &lidar.firing(settings.sweep, settings.start),
        settings.sweep,
    );
    sweep.start = start;
    sweep.world_from_sensor = world_from_sensor(start);
    let list: Vec<_> = shots.iter().collect();

    // Measure the light of each.
    let measured = measure(world, lidar, &list, settings, &world_from_sensor);

    // Report them.
    sweep.points.clear();
    let truths = measured.iter().map(|shot| shot.axis);
    sweep
        .axis_truths
        .extend(truths.filter(|_| settings.with_truth));
    for (number, (shot, measured)) in (0..).zip(list.iter().zip(&measured)) {
        sweep.powers.push(measured.power);
        sweep.surfaces.push(measured.surfaces);
        let offset = lidar.channels[usize::from(shot.channel)].range_offset;
        let outcome = match reading(&measured.outcome, offset, &lidar.limits) {
            RangeReading::Range(range) => {
                let pose = world_from_sensor(shot.time);
                let first = u32::try_from(sweep.points.len()).unwrap_or(u32::MAX);
                sweep.points.push(Return {
                    position: settings.frame.place(
                        shot.point(range - offset),
                        &pose,
                        &sweep.world_from_sensor,
                    ),
                    range,
                    intensity: intensity(lidar, measured, range - offset),
                    power: measured.power,
                    width: 0.0,
                    velocity: None,
                    ambient: measured.ambient,
                    shot: number,
                    return_number: 1,
                    returns: 1,
                    source: measured.source.map(|lit| source(world, &lit, offset)),
                });
                Outcome::Points { first, count: 1 }
            }
            RangeReading::NoReturn => Outcome::NoReturn,
            RangeReading::TooNear => Outcome::TooNear,
            RangeReading::Error(code) => Outcome::Error(code),
        };
        sweep.outcomes.push(outcome);
    }
    sweep.shots = shots;
}

/// Reported intensity, in counts: that of a noise profile, else by the response to the power.
fn intensity(lidar: &Lidar, measured: &PhaseShot, distance: f64) -> f64 {
    let own = &lidar.intensity;
    measured
        .intensity
        .unwrap_or_else(|| own.response.report(measured.power, distance, own.top))
}

/// The label of a return.
fn source(world: &World<f64>, lit: &LitSurface, offset: f64) -> Source {
    Source {
        instance: lit.object,
        mesh: world.scene().objects()[lit.object.0 as usize].mesh,
        material: lit.material,
        cos_incidence: lit.cos_incidence.min(1.0),
        range: lit.range + offset,
    }
}
