//! Lights in the bands of a camera.

use super::bands::Bands;
use super::error::CameraWorldError;
use super::model::Band;
use crate::transport::shading_frame;
use etendue_physics::Spectrum;
use etendue_physics::light::{SkyDome, colour_at};
use etendue_scene::lighting::{AreaLamp, Environment, EnvironmentMap, Light, Lighting, SpotLamp};
use nalgebra::{Point3, Vector3};
use std::f64::consts::{PI, TAU};

/// A light with its power in each band.
#[derive(Clone, Debug)]
pub(super) enum Lamp<const N: usize> {
    /// A distant light.
    Sun {
        /// Unit vector towards the sun.
        to_sun: Vector3<f64>,
        /// At normal incidence.
        irradiance: Bands<N>,
        /// Half the angular diameter, rad.
        half_angle: f64,
    },
    /// A point or spot lamp.
    Point {
        /// In the world, m.
        position: Point3<f64>,
        /// Radiant intensity.
        intensity: Bands<N>,
        /// The cone of a spot lamp.
        spot: Option<SpotLamp>,
    },
    /// A rectangular lamp.
    Area {
        /// Geometry.
        lamp: AreaLamp,
        /// Emitted radiance.
        radiance: Bands<N>,
    },
}

/// The environment: light of rays that leave the scene, in each band.
#[derive(Clone, Debug)]
pub(super) enum Backdrop<const N: usize> {
    Dark,
    Uniform(Bands<N>),
    Sky {
        dome: SkyDome,
        irradiance: Bands<N>,
        ground: Bands<N>,
    },
    Map {
        map: std::sync::Arc<EnvironmentMap>,
        bands: [Band; N],
    },
}

/// Sample of the unoccluded light at a point.
pub(super) struct LightSample<const N: usize> {
    /// Unit vector from the point to the light.
    pub towards: Vector3<f64>,
    /// Distance of the light, m.
    pub distance: f64,
    /// Irradiance at normal incidence; for the environment, radiance over the density of the direction.
    pub irradiance: Bands<N>,
}

/// Values of a spectrum in each band, times the bandwidth.
fn band_values<const N: usize>(
    light: &'static str,
    spectrum: &Spectrum,
    bands: &[Band; N],
) -> Result<Bands<N>, CameraWorldError> {
    let mut values = Bands::<N>::zeros();
    for (value, band) in values.iter_mut().zip(bands) {
        let density = spectrum
            .at(band.wavelength)
            .map_err(|source| CameraWorldError::Light { light, source })?;
        *value = density * band.width;
    }
    Ok(values)
}

impl<const N: usize> Lamp<N> {
    /// The lights of a scene.
    pub fn all(lighting: &Lighting, bands: &[Band; N]) -> Result<Vec<Self>, CameraWorldError> {
        lighting
            .lights
            .iter()
            .map(|light| Self::new(light, bands))
            .collect()
    }

    fn new(light: &Light, bands: &[Band; N]) -> Result<Self, CameraWorldError> {
        Ok(match light {
            Light::Sun(sun) => Self::Sun {
                to_sun: sun.to_sun,
                irradiance: band_values("sun", &sun.irradiance, bands)?,
                half_angle: sun.half_angle,
            },
            Light::Point(lamp) => Self::Point {
                position: lamp.position,
                intensity: band_values("point lamp", &lamp.intensity, bands)?,
                spot: None,
            },
            Light::Spot(lamp) => Self::Point {
                position: lamp.position,
                intensity: band_values("spot lamp", &lamp.intensity, bands)?,
                spot: Some(lamp.clone()),
            },
            Light::Area(lamp) => Self::Area {
                lamp: lamp.clone(),
                radiance: band_values("area lamp", &lamp.radiance, bands)?,
            },
        })
    }

    /// Whether the light has an extent: its samples need random numbers.
    pub fn is_wide(&self) -> bool {
        match self {
            Self::Sun { half_angle, .. } => *half_angle > 0.0,
            Self::Point { .. } => false,
            Self::Area { .. } => true,
        }
    }

    /// Samples the unoccluded light at `point` by two uniform numbers; `None` without light.
    pub fn sample(&self, point: &Point3<f64>, uniform: [f64; 2]) -> Option<LightSample<N>> {
        match self {
            Self::Sun {
                to_sun,
                irradiance,
                half_angle,
            } => Some(LightSample {
                towards: in_cone(to_sun, *half_angle, uniform),
                distance: f64::INFINITY,
                irradiance: *irradiance,
            }),
            Self::Point {
                position,
                intensity,
                spot,
            } => {
                let to_light = position - point;
                let distance = to_light.norm();
                let towards = to_light / distance;
                let share = spot.as_ref().map_or(1.0, |spot| spot.share(&-towards));
                (share > 0.0).then(|| LightSample {
                    towards,
                    distance,
                    irradiance: intensity * (share / (distance * distance)),
                })
            }
            Self::Area { lamp, radiance } => {
                let to_light = lamp.point(uniform) - point;
                let distance = to_light.norm();
                let towards = to_light / distance;
                let cos = -towards.dot(&lamp.normal());
                (cos > 0.0).then(|| LightSample {
                    towards,
                    distance,
                    irradiance: radiance * (lamp.area() * cos / (distance * distance)),
                })
            }
        }
    }

    /// Emitted radiance along a ray, nearer than `far`.
    pub fn radiance_along(
        &self,
        origin: &Point3<f64>,
        direction: &Vector3<f64>,
        far: f64,
    ) -> Bands<N> {
        match self {
            Self::Area { lamp, radiance } => match lamp.meet(origin, direction) {
                Some(distance) if distance < far => *radiance,
                _ => Bands::zeros(),
            },
            _ => Bands::zeros(),
        }
    }

    /// Relative power for the white balance, which depends on its colour only.
    fn white(&self) -> Bands<N> {
        match self {
            Self::Sun { irradiance, .. } => *irradiance,
            Self::Point { intensity, .. } => *intensity,
            Self::Area { lamp, radiance } => radiance * lamp.area(),
        }
    }
}

impl<const N: usize> Backdrop<N> {
    pub fn new(environment: &Environment, bands: &[Band; N]) -> Result<Self, CameraWorldError> {
        Ok(match environment {
            Environment::Dark => Self::Dark,
            Environment::Uniform(radiance) => {
                Self::Uniform(band_values("environment", radiance, bands)?)
            }
            Environment::Sky(sky) => Self::Sky {
                dome: sky.dome,
                irradiance: band_values("sky", &sky.irradiance, bands)?,
                ground: band_values("ground below the sky", &sky.ground, bands)?,
            },
            Environment::Map(map) => Self::Map {
                map: map.clone(),
                bands: *bands,
            },
        })
    }

    pub fn is_dark(&self) -> bool {
        matches!(self, Self::Dark)
    }

    /// Whether [`Backdrop::sample`] draws directions.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Self::Map { .. })
    }

    /// Radiance from a unit direction.
    pub fn radiance(&self, direction: &Vector3<f64>) -> Bands<N> {
        match self {
            Self::Dark => Bands::zeros(),
            Self::Uniform(radiance) => *radiance,
            Self::Sky {
                irradiance,
                ground,
                dome,
            } => {
                if direction.z > 0.0 {
                    irradiance * dome.radiance(direction)
                } else {
                    *ground
                }
            }
            Self::Map { map, bands } => {
                let colour = map.radiance(direction);
                Bands::from_fn(|i, _| colour_at(colour, bands[i].wavelength) * bands[i].width)
            }
        }
    }

    /// Samples a direction by its radiance, with the density; `None` where directions are drawn from the
    /// BSDF only.
    pub fn sample(&self, uniform: [f64; 2]) -> Option<(LightSample<N>, f64)> {
        let Self::Map { map, .. } = self else {
            return None;
        };
        let towards = map.sample(uniform);
        let pdf = map.pdf(&towards);
        let irradiance = self.radiance(&towards) / pdf;
        Some((
            LightSample {
                towards,
                distance: f64::INFINITY,
                irradiance,
            },
            pdf,
        ))
    }

    /// Density of a direction under [`Backdrop::sample`]; 0 without sampling.
    pub fn pdf(&self, direction: &Vector3<f64>) -> f64 {
        match self {
            Self::Map { map, .. } => map.pdf(direction),
            _ => 0.0,
        }
    }

    fn white(&self) -> Bands<N> {
        match self {
            Self::Dark => Bands::zeros(),
            Self::Uniform(radiance) => radiance * PI,
            Self::Sky { irradiance, .. } => *irradiance,
            Self::Map { .. } => {
                let up = [0.2, 0.5, 0.8].map(|z: f64| Vector3::new((1.0 - z * z).sqrt(), 0.0, z));
                up.iter().map(|d| self.radiance(d)).sum::<Bands<N>>()
            }
        }
    }
}

/// Approximate irradiance of a surface that faces every light, for its colour.
pub(super) fn white<const N: usize>(lamps: &[Lamp<N>], backdrop: &Backdrop<N>) -> Bands<N> {
    lamps.iter().map(Lamp::white).sum::<Bands<N>>() + backdrop.white()
}

/// Uniform sample of a direction within `half_angle` of an axis.
fn in_cone(axis: &Vector3<f64>, half_angle: f64, [u, v]: [f64; 2]) -> Vector3<f64> {
    if half_angle <= 0.0 {
        return *axis;
    }
    let cos = 1.0 - u * (1.0 - half_angle.cos());
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    let azimuth = TAU * v;
    let local = Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
    (shading_frame(axis) * local).normalize()
}
