//! Whether a scanner's beam and receiver can exist.

use super::check::{LidarError, LidarPart, Wrong, is_positive, is_zero_or_more, value};
use super::{Beam, Intensity, Lidar, PulsedReceiver, Receiver, Triangulation};
use etendue_physics::beam::{BeamWidth, SubRayPattern};
use etendue_physics::phase::Window;
use etendue_physics::pulse::{Detector, Discriminator, Fmcw, IntensityResponse, ReflectivityScale};

/// The most rings of sub-rays: 12,481 rays a shot.
const MOST_RINGS: u32 = 64;

/// Checks all numbers of the light, the beam, the receiver and the intensity.
pub(super) fn check_light(scanner: &Lidar) -> Result<(), LidarError> {
    let wavelength = positive(&[("the wavelength, m,", scanner.wavelength)]);
    let beam = check_beam(&scanner.beam).and_then(|()| check_jitter(scanner.azimuth_jitter));
    let receiver = match &scanner.receiver {
        Receiver::Pulsed(receiver) => check_pulsed(receiver),
        Receiver::Phase(receiver) => {
            receiver.check()?;
            zero_or_more(&[("the range of full overlap, m,", receiver.full_overlap)])
        }
        Receiver::Triangulation(triangulation) => check_triangulation(triangulation),
        Receiver::Fmcw(fmcw) => check_fmcw(fmcw),
    };
    let parts = [
        (LidarPart::Wavelength, wavelength),
        (LidarPart::Beam, beam),
        (LidarPart::Receiver, receiver),
        (LidarPart::Intensity, check_intensity(&scanner.intensity)),
    ];
    { parts.into_iter() }.try_for_each(|(part, checked)| checked.map_err(|wrong| wrong.of(part)))
}

fn check_rings(rings: u32) -> Result<(), Wrong> {
    value(
        "the number of rings of sub-rays",
        f64::from(rings),
        rings <= MOST_RINGS,
        "at most 64",
    )
}

fn check_beam(beam: &Beam) -> Result<(), Wrong> {
    match beam {
        Beam::Elliptical { width, rings } => check_width(width).and_then(|()| check_rings(*rings)),
        Beam::Cone {
            half_tangent,
            pattern,
        } => {
            value(
                "the tangent of half the divergence",
                *half_tangent,
                (0.0..=1.0).contains(half_tangent),
                "from 0 to 1",
            )?;
            match *pattern {
                SubRayPattern::Rings { rings } | SubRayPattern::Gaussian { rings } => {
                    check_rings(rings)
                }
                _ => Ok(()),
            }
        }
    }
}

fn check_jitter(jitter: f64) -> Result<(), Wrong> {
    value(
        "the azimuth jitter, rad,",
        jitter,
        (0.0..=1.0).contains(&jitter),
        "from 0 to 1",
    )
}

fn check_width(beam: &BeamWidth) -> Result<(), Wrong> {
    zero_or_more(&[
        (
            "the horizontal divergence, rad,",
            beam.divergence.horizontal,
        ),
        ("the vertical divergence, rad,", beam.divergence.vertical),
        ("the width of the exit, m,", beam.exit.horizontal),
        ("the height of the exit, m,", beam.exit.vertical),
    ])
}

fn check_pulsed(receiver: &PulsedReceiver) -> Result<(), Wrong> {
    let pulse = receiver.pulse.fwhm;
    positive(&[
        ("the full width of the pulse, s,", pulse),
        (
            "the power that is just found, 1/(m2 sr),",
            receiver.threshold,
        ),
    ])?;
    let interval = receiver.interval;
    value(
        "the time between samples, s,",
        interval,
        is_positive(interval) && interval >= 1e-3 * pulse,
        "positive, and at least a thousandth of the pulse's width",
    )?;
    zero_or_more(&[
        ("the jitter, m,", receiver.jitter),
        ("the range of full overlap, m,", receiver.full_overlap),
    ])?;
    if let Discriminator::ConstantFraction { fraction } = receiver.discriminator {
        let ok = fraction > 0.0 && fraction < 1.0;
        value("the constant fraction", fraction, ok, "between 0 and 1")?;
    }
    if let Some(bits) = receiver.bits {
        let ok = (1..=32).contains(&bits);
        value("the converter's bits", f64::from(bits), ok, "1 to 32")?;
    }
    check_detector(&receiver.detector)?;
    receiver.window.as_ref().map_or(Ok(()), check_window)
}

fn check_detector(detector: &Detector) -> Result<(), Wrong> {
    match detector {
        Detector::Analogue(diode) => {
            zero_or_more(&[
                (
                    "the detector's thermal noise, 1/(m2 sr),",
                    diode.thermal_noise,
                ),
                ("the detector's shot noise", diode.shot_noise),
                ("the constant background, 1/(m2 sr),", diode.background),
            ])?;
            // Without end: never.
            let saturation = diode.saturation;
            let ok = saturation > 0.0;
            value(
                "the power that saturates, 1/(m2 sr),",
                saturation,
                ok,
                "positive",
            )
        }
        Detector::PhotonCounting(counter) => positive(&[
            ("the photons of unit power in a bin", counter.photons),
            ("the background counts in a bin", counter.background),
            ("the most counts in a bin", counter.capacity),
        ]),
    }
}

fn check_window(window: &Window) -> Result<(), Wrong> {
    positive(&[
        ("the peak of the emitted power, W,", window.emitted_power),
        ("the field of view, rad,", window.field_of_view),
        ("the pass band, m,", window.bandwidth),
    ])
}

fn check_triangulation(triangulation: &Triangulation) -> Result<(), Wrong> {
    positive(&[
        ("the baseline, m,", triangulation.baseline),
        (
            "the power that is just found, 1/(m2 sr),",
            triangulation.threshold,
        ),
    ])?;
    zero_or_more(&[
        (
            "the spread of the spot's direction, rad,",
            triangulation.angle_noise,
        ),
        (
            "the step of the spot's direction, rad,",
            triangulation.angle_step,
        ),
    ])
}

fn check_fmcw(fmcw: &Fmcw) -> Result<(), Wrong> {
    positive(&[
        ("the frequency swept by a chirp, Hz,", fmcw.bandwidth),
        ("the duration of a chirp, s,", fmcw.chirp),
        ("the noise, 1/(m2 sr),", fmcw.noise),
        ("the threshold over the noise", fmcw.threshold),
    ])
}

fn check_intensity(intensity: &Intensity) -> Result<(), Wrong> {
    match intensity.response {
        IntensityResponse::Power { counts } => {
            zero_or_more(&[("the intensity's counts per power", counts)])?;
        }
        IntensityResponse::Log { zero, per_decade } => positive(&[
            ("the power of intensity zero, 1/(m2 sr),", zero),
            ("the intensity's counts per decade", per_decade),
        ])?,
        IntensityResponse::Reflectivity { scale } => check_scale(scale)?,
    }
    let top = intensity.top.map(|top| ("the highest intensity", top));
    positive(top.as_slice())
}

fn check_scale(scale: ReflectivityScale) -> Result<(), Wrong> {
    let ReflectivityScale::DiffuseThenRetro { full_scale } = scale else {
        return Ok(());
    };
    let what = "the reflectivity that reads 255, percent,";
    let ok = full_scale > 100.0 && full_scale.is_finite();
    value(what, full_scale, ok, "above 100")
}

fn positive(numbers: &[(&'static str, f64)]) -> Result<(), Wrong> {
    { numbers.iter() }.try_for_each(|(what, n)| value(what, *n, is_positive(*n), "positive"))
}

fn zero_or_more(numbers: &[(&'static str, f64)]) -> Result<(), Wrong> {
    { numbers.iter() }.try_for_each(|(what, n)| value(what, *n, is_zero_or_more(*n), "0 or more"))
}
